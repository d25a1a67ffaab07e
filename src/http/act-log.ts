import type { Context, Middleware } from 'koa';
import { asRobotError, type ErrorCode } from '../core/errors.js';
import type { EventLog } from '../events/event-log.js';
import type { NewEvent } from '../schemas/log.js';
import { STOP_PROBLEMS } from './problem-table.js';
import type { Route } from './route.js';

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
      // `changed` also counts changes by other requests at the same time. They do not turn a refusal into an
      // act.
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
