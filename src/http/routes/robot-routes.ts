import type { Robot } from '../../robot/robot.js';
import * as s from '../../schemas/schema.js';
import { type Status, status } from '../../schemas/status.js';
import { stillWanted } from '../body.js';
import { CONTROLLER_PROBLEMS, MATCH_PROBLEMS, PIN_PROBLEMS, STOP_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';

const laserBody = {
  ...s.body('LaserAction', { action: s.oneOf(['on', 'off']) }),
  examples: [{ action: 'off' }],
};
const laserRight = {
  of: ({ action }: s.TypeOf<typeof laserBody>) => (action === 'on' ? 'drive' : 'stop'),
  text: '`drive` to switch it on, `stop` to switch it off',
} as const;
const laserState = s.answer('LaserState', { state: s.oneOf(['on', 'off'], 'What the pin shows.') });
const stopState = s.answer('StopState', { stopped: s.yesNo() });
const health = s.answer('Health', { status: s.oneOf(['ok']) });

/** The routes of laser, stop, resume and status. */
export function robotRoutes(robot: Robot, statusNow: () => Status): Route[] {
  return [
    post('/api/laser', laserRight, {
      id: 'laser',
      summary: 'Switch the laser; the answer is what the pin shows',
      body: laserBody,
      answer: laserState,
      problems: [...MATCH_PROBLEMS, ...PIN_PROBLEMS, 'stopped', 'tune-running', 'interlock-open', 'closing'],
      act: ({ body: { action } }) => ({ state: action === 'on' ? robot.laserOn() : robot.laser.off() }),
    }),
    post('/api/stop', 'stop', {
      id: 'stop',
      summary: 'Laser off and torque off at once, latched until resume',
      answer: stopState,
      problems: STOP_PROBLEMS,
      act: async () => {
        await robot.stop();
        return { stopped: true };
      },
    }),
    post('/api/resume', 'drive', {
      id: 'resume',
      summary: 'Release the stop; both units are in manual then',
      answer: stopState,
      problems: [...MATCH_PROBLEMS, 'stopped', ...CONTROLLER_PROBLEMS],
      act: async ({ ctx }) => {
        await robot.resume(stillWanted(ctx));
        return { stopped: false };
      },
    }),
    get('/api/status', 'read', {
      id: 'status',
      summary: 'The state of everything',
      answer: status,
      act: statusNow,
    }),
    get('/healthz', 'none', {
      id: 'health',
      summary: 'Whether the daemon serves',
      answer: health,
      act: () => ({ status: 'ok' as const }),
    }),
  ];
}
