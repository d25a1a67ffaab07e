import { describeError, errnoOf, isRobotError, type RobotError } from '../core/errors.js';

/**
 * Why the daemon does not start: a sentence for people, and fields for programs. `another` is the command that starts
 * a second daemon beside a running one, if that is possible.
 */
export function startFailure(error: unknown, another?: string) {
  const endIt = `end that one${another === undefined ? '' : `, or start a second one with ${another}`}`;
  if (isRobotError(error, 'cannot-listen')) {
    const { code, context } = error;
    return { sentence: noPort(error, another && endIt), fields: { code, ...context } };
  }
  if (isRobotError(error, 'state-in-use')) {
    const sentence = `another daemon keeps its gains in ${error.context.folder}: ${endIt}`;
    return { sentence, fields: { code: error.code } };
  }
  if (isRobotError(error, 'bus-in-use')) {
    const sentence = `another process drives the robot on I2C bus ${error.context.bus}: end that one; sudo trunnion doctor says whether it is the service`;
    return { sentence, fields: { code: error.code } };
  }
  return { sentence: 'cannot start', fields: describeError(error) };
}

function noPort(
  { cause, context: { host, port } }: RobotError<'cannot-listen'>,
  endIt: string | undefined,
): string {
  const errno = errnoOf(cause);
  if (errno === 'EACCES') return `only root may listen on ${port}; try --port 8080, or set http.port`;
  if (errno !== 'EADDRINUSE')
    return `cannot listen on ${host}: no address of this machine, or not yet; set http.host, or try --host 0.0.0.0`;
  if (endIt !== undefined) return `another program has port ${port}: ${endIt}`;
  return `${port} is in use; try --port ${port === 65535 ? 8080 : port + 1}, or set http.port`;
}
