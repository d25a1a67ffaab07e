import { type ContextOf, describeError, errnoOf, isRobotError } from '../core/errors.js';

/** Why the daemon does not start: a sentence for people, and fields for programs. */
interface StartFailure {
  readonly sentence: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `another` is the command that starts another daemon beside one that runs, if that is possible. */
export function startFailure(error: unknown, another?: string): StartFailure {
  if (isRobotError(error, 'cannot-listen')) {
    const { code, context, cause } = error;
    return { sentence: noPort(context, errnoOf(cause), another), fields: { code, ...context } };
  }
  if (isRobotError(error, 'state-in-use')) {
    const { code, context } = error;
    return {
      sentence: inUse(`another daemon keeps its gains in ${context.folder}`, another),
      fields: { code },
    };
  }
  if (isRobotError(error, 'bus-in-use')) {
    const { code, context } = error;
    return {
      sentence: `another process drives the robot on I2C bus ${context.bus}: end that one; sudo trunnion doctor says whether it is the service`,
      fields: { code },
    };
  }
  return { sentence: 'cannot start', fields: describeError(error) };
}

function inUse(what: string, another: string | undefined): string {
  return `${what}: end that one${another === undefined ? '' : `, or start a second one with ${another}`}`;
}

function noPort(
  { host, port }: ContextOf<'cannot-listen'>,
  errno: string | undefined,
  another: string | undefined,
): string {
  if (errno === 'EADDRINUSE')
    return another === undefined
      ? `${port} is in use; try --port ${port === 65535 ? 8080 : port + 1}, or set http.port`
      : inUse(`another program has port ${port}`, another);
  if (errno === 'EACCES') return `only root may listen on ${port}; try --port 8080, or set http.port`;
  return `cannot listen on ${host}: no address of this machine, or not yet; set http.host, or try --host 0.0.0.0`;
}
