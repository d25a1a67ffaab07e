import type { Robot } from '../../robot/robot.js';
import { growing, named, object, oneOf, yesNo } from '../../schemas/schema.js';
import { type Status, status } from '../../schemas/status.js';
import { stillConnected } from '../body.js';
import { get, MATCH_PROBLEMS, post, type Route } from '../route.js';
import { CONTROLLER_PROBLEMS } from './gains-routes.js';

const laserBody = named('LaserAction', {
  ...object({ action: oneOf(['on', 'off']) }),
  examples: [{ action: 'off' }],
});
const laserState = named('LaserState', growing({ state: oneOf(['on', 'off'], 'What the pin shows.') }));
const stopState = named('StopState', growing({ stopped: yesNo() }));
const health = named('Health', growing({ status: oneOf(['ok']) }));

/** The routes of laser, stop, resume and status. */
export function robotRoutes(robot: Robot, statusNow: () => Status): Route[] {
  const tag = 'Robot';
  return [
    post({
      path: '/api/laser',
      id: 'laser',
      tag,
      summary: 'Switch the laser; the answer is what the pin says',
      body: laserBody,
      right: {
        of: ({ action }) => (action === 'on' ? 'drive' : 'stop'),
        text: '`drive` to switch it on, `stop` to switch it off',
      },
      answer: laserState,
      problems: [
        ...MATCH_PROBLEMS,
        'stopped',
        'tune-running',
        'interlock-open',
        'laser-unavailable',
        'pin-failed',
        'closing',
      ],
      act: ({ body: { action } }) => ({ state: action === 'on' ? robot.laserOn() : robot.laser.off() }),
    }),
    post({
      path: '/api/stop',
      id: 'stop',
      tag,
      right: 'stop',
      summary: 'Laser off and torque off at once, latched until resume',
      answer: stopState,
      problems: ['not-confirmed', 'pin-failed', 'laser-unavailable'],
      act: async () => {
        await robot.stop();
        return { stopped: true };
      },
    }),
    post({
      path: '/api/resume',
      id: 'resume',
      tag,
      summary: 'Release the stop; both units are in manual then',
      right: 'drive',
      answer: stopState,
      problems: [...MATCH_PROBLEMS, 'stopped', ...CONTROLLER_PROBLEMS],
      act: async ({ ctx }) => {
        await robot.resume(stillConnected(ctx));
        return { stopped: false };
      },
    }),
    get({
      path: '/api/status',
      id: 'status',
      tag,
      right: 'read',
      summary: 'The state of everything',
      answer: status,
      act: statusNow,
    }),
    get({
      path: '/healthz',
      id: 'health',
      tag,
      right: 'none',
      summary: 'Whether the daemon serves',
      answer: health,
      act: () => ({ status: 'ok' as const }),
    }),
  ];
}
