import type { Context, DefaultState, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { withoutControls } from '../core/control-characters.js';
import { asRobotError, type ErrorCode } from '../core/errors.js';
import type { MemoryLog } from '../events/memory-log.js';
import { PerMinute } from '../events/per-minute.js';
import type { NewEvent } from '../schemas/log.js';
import { type Arrival, Arrivals } from './arrivals.js';
import type { Contain } from './contain.js';
import { tookEffect } from './problem-table.js';
import type { Route } from './route.js';
import { hasWaited } from './server.js';

declare module 'koa' {
  interface DefaultState {
    /** The number of the request, in base 36. */
    id: string;
    /** Leases and clocks that the request starts count from its `unreadSinceMs`. */
    arrival: Arrival;
    /** The caller: the address, or the name of the token once the authorization knows it. */
    who: string;
    /** Whether the authorization has found a right other than `read`. */
    mayAct: boolean;
    /** Whether the request changed something. */
    changed: boolean;
    /** Why the request was refused; undefined if it was not. */
    code?: ErrorCode;
  }
}

const LONGEST_PATH = 200;

/**
 * Logs one line for each request that changed something, when the act has ended and the connection has taken the answer or has closed. Other
 * acts and refusals are counted, as in the event log. Reads and repeats have level debug: a page sends ten reads a
 * second, and their lines would wear out an SD card.
 */
export function requestLog(
  log: Logger,
  clock: Clock,
  contain: Contain,
  arrivals = new Arrivals(clock),
): { readonly middleware: Middleware; close(): void } {
  let count = 0;
  const perMinute = new PerMinute<readonly [what: string, fields: object]>(clock, ([what, fields], repeats) =>
    log.info({ ...fields, repeats }, what),
  );
  const isShown = ({ who, mayAct, changed }: DefaultState, fields: object) => {
    if (mayAct && changed) return true;
    if (!mayAct || perMinute.isFull) return perMinute.isFirst('', ['unlisted', {}]);
    return perMinute.isFirst(JSON.stringify([who, fields]), ['request', fields]);
  };
  const middleware: Middleware = (ctx, next) => {
    count += 1;
    const id = count.toString(36);
    ctx.state.id = id;
    // A socket that listens on IPv6 shows an IPv4 address as ::ffff:10.0.0.1.
    ctx.state.who = (ctx.req.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
    ctx.state.mayAct = false;
    ctx.state.changed = false;
    const { method = '' } = ctx.req;
    const startMs = clock.nowMs();
    ctx.state.arrival = arrivals.read(ctx.req.socket, hasWaited(ctx.req));
    const ended = next();
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method);
    if (log.isLevelEnabled(isRead ? 'debug' : 'info')) {
      const logLine = () => {
        const { path, status, state } = ctx;
        const ms = Math.round((clock.nowMs() - startMs) * 10) / 10;
        const fields = { method, path: path.slice(0, LONGEST_PATH), status, code: state.code };
        log[!isRead && isShown(state, fields) ? 'info' : 'debug']({ id, ...fields, ms }, 'request');
      };
      // An act may go on after its caller has hung up.
      const closed = () => ended.finally(logLine);
      ctx.res.once('close', contain(closed));
    }
    return ended;
  };
  return { middleware, close: () => perMinute.close() };
}

export interface Recorder {
  readonly eventLog: MemoryLog;
  /** An act is answered when this resolves, after it was recorded. By default at once. */
  readonly kept?: (() => Promise<void>) | undefined;
}

/** Runs `act` for a route. Records the request and its outcome. */
export function recorded<Answer>(
  route: Route,
  { eventLog: log, kept }: Recorder,
  act: (ctx: Context) => Promise<Answer>,
): (ctx: Context) => Promise<Answer> {
  const { what, unit, isSecret, onlyRefused } = route.event ?? { what: route.id };
  return async ctx => {
    const { changes } = log;
    const record = (outcome: ErrorCode | 'done') => {
      const { who } = ctx.state;
      // A rejected body may contain anything, so it is not recorded.
      const isBare = isSecret || outcome === 'invalid-request';
      const event = { what, unit, who, outcome, ...(isBare ? {} : detailOf(ctx.request.body)) };
      // The number of changes also differs if another request changed something meanwhile. So the outcome must say
      // that this one took effect.
      const holds = tookEffect(outcome);
      ctx.state.changed = holds && log.changes !== changes;
      log.recordRequest(event, ctx.state);
    };
    let answer: Answer;
    try {
      answer = await act(ctx);
    } catch (error) {
      record(asRobotError(error).code);
      throw error;
    }
    if (!onlyRefused) record('done');
    await kept?.();
    return answer;
  };
}

/** The simple members of a body, such as a mode or an excitation. Gains are left out, because the journal has them. */
function detailOf(body: unknown): Pick<NewEvent, 'detail'> {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body)
    .filter(([, value]) => value === null || typeof value !== 'object')
    .map(([name, value]) => [name, typeof value === 'string' ? withoutControls(value) : value]);
  return entries.length > 0 ? { detail: Object.fromEntries(entries) } : {};
}
