import { RobotError } from '../../core/errors.js';
import type { DurableLog } from '../../events/durable-log.js';
import type { EventLog } from '../../events/event-log.js';
import { logHead, logPage } from '../../schemas/log.js';
import * as s from '../../schemas/schema.js';
import { refusal } from '../../storage/storage-failure.js';
import { get, type Route } from '../route.js';

const AFTER = s.growing({
  after: s.optional({ ...s.count(), maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
});

export function logRoutes(log: EventLog, durable: DurableLog): Route[] {
  return [
    get('/api/log', 'read', {
      id: 'log',
      summary: 'What callers asked and what the robot did by itself, oldest first, after the event `after`',
      query: AFTER,
      answer: logPage,
      act: ({ query: { after = 0 } }) => log.after(after),
    }),
    get('/api/log/head', 'read', {
      id: 'logHead',
      summary: 'The newest line on the disk. Keep it to find out later whether the log was changed',
      answer: logHead,
      problems: ['storage-failed'],
      act: () => durable.head ?? refuse(durable),
    }),
  ];
}

/** Throws why no line has reached the disk yet. */
function refuse({ problem }: DurableLog): never {
  const failure =
    problem ?? new RobotError('storage-failed', { operation: 'sync', path: 'the log of events' });
  throw refusal(failure, false);
}
