import type { Context } from 'koa';
import { RobotError } from '../../core/errors.js';
import { logEvent, logHead, logPage } from '../../schemas/log.js';
import * as s from '../../schemas/schema.js';
import { robotId as robotIdSchema, type Status, status } from '../../schemas/status.js';
import { step } from '../../schemas/step.js';
import { telemetry } from '../../schemas/telemetry.js';
import { tune } from '../../schemas/tune.js';
import { refusal } from '../../storage/disk.js';
import type { AppOptions } from '../app-options.js';
import { sinceMs } from '../arrivals.js';
import type { Events } from '../events.js';
import { MATCH_PROBLEMS, MOTION_PROBLEMS, PIN_PROBLEMS, STOP_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';
import { recentTelemetry } from '../telemetry-source.js';

const laserBody = {
  ...s.body('LaserAction', { action: s.oneOf(['on', 'off']) }),
  examples: [{ action: 'off' }],
};
const laserRight = {
  of: ({ action }: s.TypeOf<typeof laserBody>) => (action === 'on' ? 'drive' : 'stop'),
  text: '`drive` to switch it on, `stop` to switch it off',
} as const;
/** A line of JSON for each event. */
const LINES = 'application/jsonl';
const stopState = s.answer('StopState', { stopped: s.yesNo() });

/** Laser, stop and resume. */
export function robotRoutes({ robot, clock }: AppOptions): Route[] {
  const since = ({ state: { arrival } }: Context) => sinceMs(arrival, clock.nowMs());
  return [
    post('/api/laser', laserRight, {
      id: 'laser',
      summary: 'Switch the laser; the answer is what the pin shows',
      body: laserBody,
      answer: s.answer('LaserState', { state: s.oneOf(['on', 'off'], 'What the pin shows.') }),
      problems: [
        ...MATCH_PROBLEMS,
        ...PIN_PROBLEMS,
        'stopped',
        'too-late',
        'tune-running',
        'interlock-open',
        'closing',
      ],
      act: ({ body: { action }, ctx }) => ({
        state: action === 'on' ? robot.laser.on(since(ctx)) : robot.laser.off(),
      }),
    }),
    post('/api/stop', 'stop', {
      id: 'stop',
      summary: 'Laser off and torque off at once, latched until resume',
      answer: stopState,
      problems: STOP_PROBLEMS,
      act: () => robot.stop().then(() => ({ stopped: true })),
    }),
    post('/api/resume', 'drive', {
      id: 'resume',
      summary: 'Release the stop; both units are in manual then',
      answer: stopState,
      problems: MOTION_PROBLEMS,
      act: ({ ctx, stillWanted }) => robot.resume(stillWanted, since(ctx)).then(() => ({ stopped: false })),
    }),
  ];
}

/** Status, event stream and log: everything that the daemon shows. */
export function viewRoutes(options: AppOptions, statusNow: () => Status, events: Events): Route[] {
  const { robot, clock, eventLog, fileLog } = options;
  return [
    get('/api/status', 'read', {
      id: 'status',
      summary: 'The state of everything',
      answer: status,
      act: statusNow,
    }),
    get('/healthz', 'none', {
      id: 'health',
      summary: 'Whether the daemon serves',
      answer: s.answer('Health', { status: s.oneOf(['ok']), id: robotIdSchema }),
      act: () => ({ status: 'ok' as const, id: options.robotId() }),
    }),
    get('/api/events', 'read', {
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
    }),
    get('/api/telemetry', 'read', {
      id: 'telemetry',
      summary: 'Ten readings a second of the last two minutes, oldest first',
      answer: s.array(telemetry),
      act: recentTelemetry(robot, clock),
    }),
    get('/api/log', 'read', {
      id: 'log',
      summary: 'What callers asked and what the robot did by itself, oldest first, after the event `after`',
      query: s.growing({
        after: s.optional({ ...s.count(), maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
      }),
      answer: logPage,
      act: ({ query: { after = 0 } }) => eventLog.after(after),
    }),
    get('/api/log/lines', 'read', {
      id: 'logLines',
      summary:
        'The synced lines of the event log, oldest first, after the line whose hash is `after`; at most 256 KiB',
      query: s.growing({ after: s.optional({ ...s.text('SHA-256 of a line.'), pattern: '^[0-9a-f]{64}$' }) }),
      answer: { ...s.text('Each line as it is on the disk.'), contentMediaType: LINES },
      problems: ['unknown-head', 'storage-failed'],
      act: ({ query: { after } }) => fileLog.linesAfter(after),
    }),
    get('/api/log/head', 'read', {
      id: 'logHead',
      summary: 'The newest line on the disk. Keep it to find out later whether the log was changed',
      answer: logHead,
      problems: ['storage-failed'],
      act: () => {
        const { head, problem } = fileLog;
        if (head !== undefined) return head;
        const unsynced = { operation: 'sync', path: 'the log of events' };
        throw refusal(problem ?? new RobotError('storage-failed', unsynced), false);
      },
    }),
  ];
}
