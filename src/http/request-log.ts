import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { asRobotError, type ErrorCode } from '../core/errors.js';
import type { Bystander, EventLog } from '../events/event-log.js';
import type { NewEvent } from '../schemas/log.js';
import type { Contain } from './contain.js';
import { STOP_PROBLEMS } from './problem-table.js';
import type { Route } from './route.js';

declare module 'koa' {
  interface DefaultState {
    /** The number of the request, in base 36. */
    id: string;
    /** The time at which the daemon received the head of the request (Clock milliseconds). */
    receivedMs: number;
    /** Whether programs send this call many times a second. */
    isRoutine: true | undefined;
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
export function requestLog(log: Logger, clock: Clock, contain: Contain): Middleware {
  let count = 0;
  return (ctx, next) => {
    count += 1;
    const id = count.toString(36);
    ctx.state.id = id;
    // A socket that listens on IPv6 shows an IPv4 address as ::ffff:10.0.0.1.
    ctx.state.who = (ctx.req.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
    ctx.state.bystander = 'stranger';
    ctx.res.setHeader('X-Request-Id', id);
    const { method, path } = ctx;
    const receivedMs = clock.nowMs();
    ctx.state.receivedMs = receivedMs;
    const least = ['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'debug' : 'info';
    if (log.isLevelEnabled(least)) {
      const logLine = () => {
        const level = ctx.state.isRoutine ? 'debug' : least;
        const ms = Math.round((clock.nowMs() - receivedMs) * 10) / 10;
        log[level]({ id, method, path, status: ctx.status, code: ctx.state.code, ms }, 'request');
      };
      ctx.res.once('close', contain(logLine));
    }
    return next();
  };
}

/** The codes of acts that fail and still take effect, such as a lock that the disk refused. */
const STILL_TAKE_EFFECT: readonly ErrorCode[] = ['not-kept', ...STOP_PROBLEMS];

/** Runs `act` for a route. Records the request and its outcome. */
export function recorded(route: Route, log: EventLog, act: (ctx: Context) => Promise<void>): Middleware {
  const { what, unit, isSecret, onlyRefused } = route.event ?? { what: route.id };
  return async ctx => {
    const { changes } = log;
    const record = (outcome: ErrorCode | 'done') => {
      const { who, bystander } = ctx.state;
      // A rejected body may contain anything, so it is not recorded.
      const isBare = isSecret || outcome === 'invalid-request';
      const event = { what, unit, who, outcome, ...(isBare ? {} : detailOf(ctx.request.body)) };
      const changed = log.changes !== changes;
      // `changed` is also true if another request changed something meanwhile. So the code must say that this act
      // took effect.
      const holds = outcome !== 'done' && STILL_TAKE_EFFECT.includes(outcome);
      if (bystander === undefined) log.record(event, changed && holds);
      else log.recordOf(bystander, event, changed);
    };
    try {
      await act(ctx);
    } catch (error) {
      record(asRobotError(error).code);
      throw error;
    }
    if (!onlyRefused) record('done');
  };
}

/** The simple members of a body, such as a mode or an excitation. Gains are left out, because the journal has them. */
function detailOf(body: unknown): Pick<NewEvent, 'detail'> {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body).filter(([, value]) => value === null || typeof value !== 'object');
  return entries.length > 0 ? { detail: Object.fromEntries(entries) } : {};
}
