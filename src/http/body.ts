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
  // `jsonBody` has looked at the type.
  detectJSON: () => true,
  jsonLimit: String(LIMIT_BYTES),
  onerror: (error: Error & { status?: number; type?: string }) => {
    if (error.type === 'request.aborted') throw new RobotError('caller-gone', {}, { cause: error });
    throw new RobotError(CODES[error.status ?? 400] ?? 'bad-json', {}, { cause: error });
  },
});

/** A JSON body of at most 4 KiB, with no member given twice. */
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
 * Refuses what a caller asked who has hung up: after a pause of the process it would light a laser, move a robot or change
 * gains although nobody asks for it any more. The end of a connection is seen in the turn of the event loop after that of its data.
 */
export async function requireCaller(ctx: Context): Promise<void> {
  await new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)));
  stillConnected(ctx)();
}

/** A check for what is asked to wait: it throws `caller-gone` once the caller has hung up. */
export function stillConnected({ socket }: Context): () => void {
  return () => {
    if (socket.destroyed || socket.readableEnded) throw new RobotError('caller-gone');
  };
}
