import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type ErrorCode, RobotError } from '../core/errors.js';
import { duplicateMembers } from './duplicate-members.js';

const LIMIT_BYTES = 4096;

const CODES: Readonly<Record<number, ErrorCode>> = {
  413: 'body-too-large',
  415: 'bad-media-type',
};

const parse = bodyParser({
  enableTypes: ['json'],
  // `jsonBody` has checked the type.
  detectJSON: () => true,
  jsonLimit: String(LIMIT_BYTES),
  onerror: (error: Error & { status?: number; type?: string }) => {
    if (error.type === 'request.aborted') throw new RobotError('caller-gone', {}, { cause: error });
    throw new RobotError(CODES[error.status ?? 400] ?? 'bad-json', {}, { cause: error });
  },
});

/** Reads a JSON body of at most 4 KiB. It must name no member twice. */
export async function jsonBody(ctx: Context): Promise<unknown> {
  const { type, charset } = ctx.request;
  const isUtf8 = charset === '' || /^utf-?8$/i.test(charset);
  if (type.trim().toLowerCase() !== 'application/json' || !isUtf8) throw new RobotError('bad-media-type');
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) throw new RobotError('bad-media-type');
  if ((ctx.request.length ?? 0) > LIMIT_BYTES) throw new RobotError('body-too-large');
  await parse(ctx, async () => undefined);
  const { rawBody, body } = ctx.request;
  const faults = typeof rawBody === 'string' ? duplicateMembers(rawBody) : [];
  if (faults.length > 0) throw new RobotError('invalid-request', { errors: faults });
  return body;
}

/**
 * Throws if the caller has closed the connection or lost the right. Otherwise a request that waited in a paused process could
 * light the laser or move the robot. Node reports the end of a connection one turn of the event loop after its data.
 */
export async function requireCaller(ctx: Context): Promise<void> {
  await new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)));
  stillWanted(ctx)();
}

/** Returns a check for requests that wait: it throws once the caller has closed the connection or lost the right. */
export function stillWanted({ socket, state }: Context): () => void {
  return () => {
    if (socket.destroyed || socket.readableEnded) throw new RobotError('caller-gone');
    state.requireRight?.();
  };
}
