import { logEvent } from '../../schemas/log.js';
import * as s from '../../schemas/schema.js';
import { status } from '../../schemas/status.js';
import { step } from '../../schemas/step.js';
import { telemetry } from '../../schemas/telemetry.js';
import { tune } from '../../schemas/tune.js';
import type { Events } from '../events.js';
import { get, type Route } from '../route.js';
import type { RecentTelemetry } from '../telemetry-source.js';

export function eventsRoute(events: Events): Route {
  return get('/api/events', 'read', {
    id: 'events',
    summary:
      'Server-sent events: `status` at once and on change, `telemetry`, `step` after each captured step, `tune` and `log`',
    answer: s.text(),
    events: { status, telemetry, step, tune, log: logEvent },
    problems: ['too-many-streams'],
    act: ({ ctx }) => {
      events.open(ctx);
      return undefined;
    },
  });
}

export function recentTelemetryRoute(recent: RecentTelemetry): Route {
  return get('/api/telemetry', 'read', {
    id: 'telemetry',
    summary: 'Ten readings a second of the last two minutes, oldest first',
    answer: s.array(telemetry),
    act: () => recent.json,
  });
}
