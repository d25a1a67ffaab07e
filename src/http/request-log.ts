import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import type { ErrorCode } from '../core/errors.js';
import type { Bystander } from '../events/event-log.js';

declare module 'koa' {
  interface DefaultState {
    /** The number of the request, in base 36. */
    id: string;
    /** The caller: the address, or the name of the token once the authorization knows it. */
    who: string;
    /** Undefined until the authorization has found a right to act. */
    bystander: Bystander | undefined;
    /** Why the request was refused; undefined if it was not. */
    code?: ErrorCode;
  }
}

/**
 * Logs one line for each request, when the connection has taken the answer or has closed. Requests that change
 * nothing have level debug: a page sends ten a second, and their lines would wear out an SD card.
 */
export function requestLog(log: Logger, clock: Clock): Middleware {
  let count = 0;
  return (ctx, next) => {
    count += 1;
    const id = count.toString(36);
    ctx.state.id = id;
    // A socket that listens on IPv6 shows an IPv4 address as ::ffff:10.0.0.1.
    ctx.state.who = (ctx.req.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
    ctx.state.bystander = 'stranger';
    ctx.res.setHeader('X-Request-Id', id);
    const level = ['GET', 'HEAD', 'OPTIONS'].includes(ctx.method) ? 'debug' : 'info';
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
