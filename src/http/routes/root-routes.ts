import { BOARD_PATH } from '../../access/board.js';
import { RobotError } from '../../core/errors.js';
import * as s from '../../schemas/schema.js';
import type { Status } from '../../schemas/status.js';
import type { AppOptions } from '../app-options.js';
import { sinceMs } from '../arrivals.js';
import { isRoot } from '../authorization.js';
import { get, post, type Route } from '../route.js';

/** Calls that only root on the board can make. The OpenAPI document leaves them out. */
export function rootRoutes({ board, clock, match: control }: AppOptions, statusNow: () => Status): Route[] {
  const routes = [
    get(BOARD_PATH, 'read', {
      id: 'board',
      summary: 'The status, and what only root may know',
      answer: s.growing({}),
      act: () => ({ ...statusNow(), board: board() }),
    }),
    post('/api/match/end', 'rule', {
      id: 'endMatch',
      event: { what: 'phase' },
      summary: "End the match, whatever the desk's latest revision is",
      answer: s.growing({}),
      act: () => control.end().then(() => control.status),
    }),
    post('/api/match/clear', 'rule', {
      id: 'clearMatch',
      event: { what: 'phase' },
      summary: 'Set the phase none after a match, whatever the latest revision is',
      answer: s.growing({}),
      act: async ({ ctx, stillConnected }) => {
        const readMs = sinceMs(ctx.state.arrival, clock.nowMs());
        await stillConnected();
        // A phase that a desk has set since then may be newer.
        if (control.match.setMs > readMs) throw new RobotError('too-late');
        await control.clear();
        return control.status;
      },
    }),
  ];
  return routes.map(route => ({
    ...route,
    handle: async (ctx, authorize) => {
      if (!isRoot(ctx)) throw new RobotError('not-found', { path: ctx.path });
      return route.handle(ctx, authorize);
    },
  }));
}
