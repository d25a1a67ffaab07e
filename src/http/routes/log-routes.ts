import { logPage } from '../../core/log-event.js';
import type { EventLog } from '../../events/event-log.js';
import { wholeNumber, wholeNumberSchema } from '../query.js';
import { get, type Route } from '../route.js';

const AFTER = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 } as const;

export function logRoutes(log: EventLog): Route[] {
  return [
    get(
      {
        path: '/api/log',
        id: 'log',
        tag: 'Robot',
        right: 'read',
        summary:
          'What was asked of the robot and what it did by itself, oldest first, after the event `after`',
        query: { after: wholeNumberSchema(AFTER) },
        answer: logPage,
        problems: ['invalid-request'],
      },
      ctx => log.after(wholeNumber(ctx, 'after', AFTER) ?? AFTER.default),
    ),
  ];
}
