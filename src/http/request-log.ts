import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import type { ErrorCode } from '../core/errors.js';
import type { Bystander } from '../events/event-log.js';

declare module 'koa' {
  interface DefaultState {
    /** The number of the request, in base 36. */
    id: string;
    /** Who asks: the address, until a guard has found the name of a token. */
    who: string;
    /** Undefined once a guard has found that the caller has a right to act. */
    bystander: Bystander | undefined;
    /** Why the request was refused; undefined where it was not. */
    code?: ErrorCode;
  }
}

/** Methods that change nothing. */
const LOOKING: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * One line per request, when its answer has gone or its caller has. What changes nothing is for debugging: a page that
 * asks ten times a second would wear out an SD card.
 */
export function requestLog(log: Logger, clock: Clock): Middleware {
  let count = 0;
  return (ctx, next) => {
    count += 1;
    const id = count.toString(36);
    ctx.state.id = id;
    // IPv4 as people write it, although the socket listens on IPv6.
    ctx.state.who = (ctx.req.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
    ctx.state.bystander = 'stranger';
    ctx.res.setHeader('X-Request-Id', id);
    const level = LOOKING.includes(ctx.method) ? 'debug' : 'info';
    if (log.isLevelEnabled(level)) {
      const startMs = clock.nowMs();
      ctx.res.once('close', () => {
        const ms = Math.round((clock.nowMs() - startMs) * 10) / 10;
        const { code } = ctx.state;
        log[level]({ id, method: ctx.method, path: ctx.path, status: ctx.status, code, ms }, 'request');
      });
    }
    return next();
  };
}
