import type { Context, Middleware } from 'koa';
import { asRobotError } from '../core/errors.js';
import type { EventLog } from '../events/event-log.js';
import type { NewEvent } from '../schemas/log.js';
import type { Route } from './route.js';

/** Acts on a route, and records what was asked and what came of it. */
export function recorded(route: Route, log: EventLog, act: (ctx: Context) => Promise<void>): Middleware {
  const { what, unit, isSecret, onlyRefused } = route.event ?? { what: route.id };
  return async ctx => {
    const { changes } = log;
    const record = (outcome: string) => {
      const { who, bystander } = ctx.state;
      // A body that was refused may hold anything.
      const isBare = isSecret || outcome === 'invalid-request';
      const event = { what, unit, who, outcome, ...(isBare ? {} : detailOf(ctx.request.body)) };
      const changed = log.changes !== changes;
      if (bystander === undefined) log.record(event, changed);
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

/** The plain members of a body, such as a mode or an excitation. The journal has the gains of each revision. */
function detailOf(body: unknown): Pick<NewEvent, 'detail'> {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body).filter(([, value]) => value === null || typeof value !== 'object');
  return entries.length > 0 ? { detail: Object.fromEntries(entries) } : {};
}
