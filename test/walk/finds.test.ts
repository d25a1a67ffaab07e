import { expect } from 'chai';
import type { Step, WalkSettings } from '../../scripts/walk/history.js';
import { walk } from '../../scripts/walk/walk.js';

const SETTINGS: WalkSettings = {
  pollHz: 50,
  hostSilenceMs: 500,
  onControllerReset: 'manual',
  laserMaxOnS: 0,
  refereeSilenceMs: 3000,
  onRefereeSilence: 'stop',
  frameMs: 0.5,
  effectMs: 0,
};

const post = (path: string, body?: unknown): Step => ({
  do: 'ask',
  request: { method: 'POST', path, body },
});
const gainsOf = (kp: number) => ({
  speed: { kp, ki: 0, kd: 0 },
  angle: { kp, ki: 1, kd: 0 },
  position: { kp, ki: 2, kd: 0 },
});
const saves = post('/api/chassis/pidconfig', gainsOf(7));

const tunes = [
  post('/api/gimbal/mode/switch', { mode: 'debug' }),
  { do: 'wait', ms: 5 },
  post('/api/gimbal/autotune', { loop: 'angle_yaw', leaseS: 5 }),
  { do: 'wait', ms: 500 },
] as const;

/** The failures that walks have found, each in its shortest form. */
const finds: Readonly<Record<string, { steps: readonly Step[]; settings?: Partial<WalkSettings> }>> = {
  ...Object.fromEntries(
    [
      saves,
      post('/api/chassis/pidconfig/restore', { revision: 1 }),
      post('/api/chassis/pidconfig/trial', { gains: gainsOf(9), leaseS: 5 }),
      post('/api/chassis/profiles/load', { name: 'old' }),
    ].map(asked => [
      `a caller who hangs up while another has the turn is not obeyed: ${asked.do === 'ask' && asked.request.path}`,
      {
        steps: [
          post('/api/chassis/pidconfig', gainsOf(3)),
          { do: 'wait', ms: 60 },
          post('/api/chassis/profiles', { name: 'old' }),
          { do: 'wait', ms: 60 },
          post('/api/chassis/pidconfig', gainsOf(4)),
          { do: 'settle' },
          post('/api/chassis/mode/switch', { mode: 'auto' }),
          { ...asked, hangUpAfterMs: 1 },
          { do: 'settle' },
        ],
        settings: { effectMs: 19 },
      },
    ]),
  ),
  'a stop is not confirmed by a controller that was unplugged just now': {
    steps: [
      { do: 'fault', fault: { target: 'gimbal', fault: 'unplug' } },
      { do: 'wait', ms: 100 },
      post('/api/stop'),
      { do: 'settle' },
    ],
  },
  'a controller that comes back to a stopped robot is latched before it hears the host': {
    steps: [
      { do: 'fault', fault: { target: 'gimbal', fault: 'unplug' } },
      { do: 'wait', ms: 1886 },
      post('/api/stop'),
      { do: 'settle' },
    ],
  },
  'a controller that comes back to a resume under way gets torque in manual only': {
    settings: { effectMs: 19 },
    steps: [
      post('/api/gimbal/mode/switch', { mode: 'auto' }),
      { do: 'wait', ms: 60 },
      { do: 'fault', fault: { target: 'gimbal', fault: 'unplug' } },
      { do: 'wait', ms: 700 },
      post('/api/stop'),
      { do: 'wait', ms: 10 },
      { do: 'fault', fault: { target: 'gimbal', fault: 'plug' } },
      { do: 'wait', ms: 105 },
      post('/api/resume'),
      { do: 'settle' },
    ],
  },
  'a controller that resets during a save while stopped is latched before it gets gains': {
    steps: [
      post('/api/stop'),
      { do: 'settle' },
      saves,
      { do: 'fault', fault: { target: 'chassis', fault: 'brownout' } },
      { do: 'settle' },
    ],
  },
  'a resume that a stop beats leaves the mode': {
    steps: [
      post('/api/chassis/mode/switch', { mode: 'auto' }),
      post('/api/resume'),
      post('/api/stop'),
      { do: 'settle' },
    ],
  },
  'a stop holds after a restart at which the bus hangs, so that no controller says it': {
    steps: [
      post('/api/stop'),
      { do: 'fault', fault: { target: 'chassis', fault: 'hang', count: 1 } },
      { do: 'wait', ms: 1507 },
      { do: 'end', how: 'term', left: 'all', downMs: 0, controllersToo: false },
      { do: 'wait', ms: 500 },
      post('/api/laser', { action: 'on' }),
      { do: 'settle' },
    ],
  },
  'a stop wins that comes while a resume waits for a slow disk': {
    steps: [
      { do: 'disk', weather: { latencyMs: 200, fails: [], torn: 0 } },
      post('/api/stop'),
      { do: 'wait', ms: 100 },
      post('/api/resume'),
      { do: 'wait', ms: 5 },
      post('/api/stop'),
      { do: 'settle' },
    ],
  },
  'a resume that a lock beats leaves the mode': {
    settings: { pollHz: 10, hostSilenceMs: 2000, onRefereeSilence: 'hold', frameMs: 0.2 },
    steps: [
      post('/api/gimbal/mode/switch', { mode: 'debug' }),
      post('/api/match', { id: 'second', revision: 1, phase: 'auto' }),
      { do: 'wait', ms: 5 },
      post('/api/resume'),
      { do: 'wait', ms: 25 },
      post('/api/match/lock', { reason: 'walk' }),
      { do: 'settle' },
    ],
  },
  'of a stop and a resume at once one wins': {
    settings: { pollHz: 10 },
    steps: [
      { do: 'wait', ms: 394 },
      post('/api/stop'),
      post('/api/resume'),
      { do: 'wait', ms: 20 },
      post('/api/laser', { action: 'on' }),
      { do: 'settle' },
    ],
  },
  'a heartbeat that waits for the bus counts as one that the controller may hear': {
    steps: [
      { do: 'fault', fault: { target: 'chassis', fault: 'nack' } },
      { do: 'end', how: 'term', left: 'all', downMs: 0, controllersToo: false },
      { do: 'wait', ms: 13 },
      { do: 'fault', fault: { target: 'chassis', fault: 'hang', count: 1 } },
      { do: 'wait', ms: 500 },
      post('/api/stop'),
      { do: 'settle' },
    ],
  },
  'a wave is not confirmed by a controller that was reset meanwhile': {
    settings: { onControllerReset: 'restore' },
    steps: [
      post('/api/gimbal/mode/switch', { mode: 'debug' }),
      { do: 'wait', ms: 5 },
      { do: 'fault', fault: { target: 'gimbal', fault: 'brownout' } },
      post('/api/gimbal/excitation', { loop: 'angle_pitch', amplitude: 0.1875, periodS: 0.5 }),
      { do: 'settle' },
    ],
  },
  'a phase that forbids to drive waits for its stop, also while the laser is lit': {
    steps: [
      post('/api/laser', { action: 'on' }),
      post('/api/match', { id: 'first', revision: 1, phase: 'ended' }),
      { do: 'fault', fault: { target: 'chassis', fault: 'unplug', count: 3 } },
      { do: 'wait', ms: 20 },
    ],
    settings: { pollHz: 20, frameMs: 1 },
  },
  'a wave that was refused is not taken up by a switch to the mode that is on already': {
    settings: { pollHz: 100, hostSilenceMs: 0, frameMs: 0.2 },
    steps: [
      post('/api/gimbal/mode/switch', { mode: 'debug' }),
      { do: 'settle' },
      post('/api/gimbal/excitation', { loop: 'visual_yaw', amplitude: 0.1875, periodS: 0.5 }),
      { do: 'wait', ms: 1 },
      { do: 'lose answers', count: 4 },
      post('/api/gimbal/excitation', { loop: 'angle_pitch', amplitude: 0, periodS: 0.5 }),
      { do: 'wait', ms: 1 },
      post('/api/gimbal/mode/switch', { mode: 'debug' }),
      { do: 'settle' },
    ],
  },
  'a phase that a slow disk does not have yet is not shown as recorded': {
    steps: [
      post('/api/match', { id: 'second', revision: 1, phase: 'ended' }),
      { do: 'disk', weather: { latencyMs: 700, fails: [], torn: 0 } },
      { do: 'wait', ms: 2388 },
      { do: 'settle' },
      { do: 'end', how: 'kill', left: 'all', downMs: 0, controllersToo: false },
      { do: 'settle' },
    ],
  },
  'a tuning that a phase stops leaves no wave': {
    steps: [...tunes, post('/api/match', { id: 'first', revision: 1, phase: 'auto' }), { do: 'settle' }],
  },
  'a tuning leaves no wave where the daemon is killed': {
    steps: [
      ...tunes,
      { do: 'end', how: 'kill', left: 'all', downMs: 0, controllersToo: false },
      { do: 'settle' },
    ],
  },
  'a tuning leaves no wave where it ends while debug is asked for again': {
    settings: { pollHz: 10, frameMs: 0.2 },
    steps: [
      ...tunes,
      post('/api/gimbal/mode/switch', { mode: 'debug' }),
      { do: 'ask', request: { method: 'DELETE', path: '/api/gimbal/autotune' } },
      { do: 'settle' },
    ],
  },
  'a tuning leaves no wave where the daemon ends while the controller cannot be reached': {
    steps: [
      ...tunes,
      { do: 'fault', fault: { target: 'gimbal', fault: 'corrupt', count: 12 } },
      { do: 'end', how: 'term', left: 'all', downMs: 0, controllersToo: false },
      { do: 'settle' },
    ],
  },
  'a tuning that tries nothing yet goes on where a trial is ended': {
    settings: { refereeSilenceMs: 500 },
    steps: [
      post('/api/chassis/mode/switch', { mode: 'debug' }),
      { do: 'wait', ms: 1 },
      post('/api/chassis/autotune', { loop: 'position', leaseS: 5 }),
      { do: 'ask', request: { method: 'DELETE', path: '/api/chassis/pidconfig/trial' } },
      { do: 'wait', ms: 1520 },
      { do: 'settle' },
    ],
  },
  'a laser stays lit whose pin cannot be read once': {
    settings: { frameMs: 0.2, effectMs: 19 },
    steps: [
      post('/api/laser', { action: 'on' }),
      { do: 'fault', fault: { target: 'pin', fault: 'nack', count: 1 } },
      { do: 'wait', ms: 20 },
      { do: 'settle' },
    ],
  },
  'a lease is asked for at its very end': {
    settings: {
      pollHz: 10,
      onControllerReset: 'restore',
      refereeSilenceMs: 500,
      onRefereeSilence: 'stop',
      frameMs: 0.2,
      effectMs: 6,
    },
    steps: [
      post('/api/chassis/mode/switch', { mode: 'debug' }),
      { do: 'wait', ms: 20 },
      post('/api/chassis/mode/switch', { mode: 'debug' }),
      post('/api/resume'),
      { do: 'settle' },
      {
        do: 'flood',
        request: { method: 'POST', path: '/api/match/lease', body: { holder: 'other', ttlMs: 100 } },
        callers: 1,
        pauseMs: 200,
        forMs: 3000,
      },
      { do: 'wait', ms: 300 },
      post('/api/match/lease', { holder: 'desk', ttlMs: 100 }),
      { do: 'settle' },
    ],
  },
  'a trial is refused as busy beside a resume of a running robot, and answered after it': {
    settings: {
      pollHz: 100,
      hostSilenceMs: 2000,
      onControllerReset: 'restore',
      laserMaxOnS: 5,
      refereeSilenceMs: 500,
      onRefereeSilence: 'hold',
      frameMs: 1,
      effectMs: 6,
    },
    steps: [
      { do: 'wait', ms: 833 },
      { do: 'wait', ms: 56 },
      { do: 'wait', ms: 1247 },
      { do: 'wait', ms: 1 },
      post('/api/resume'),
      post('/api/chassis/pidconfig/trial', { gains: gainsOf(732), leaseS: 5 }),
      { do: 'wait', ms: 20 },
    ],
  },
  'a trial that begins while a phase without trials is set is none': {
    settings: { pollHz: 10, onControllerReset: 'restore', onRefereeSilence: 'hold', frameMs: 1, effectMs: 6 },
    steps: [
      post('/api/chassis/pidconfig/trial', { gains: gainsOf(8715), leaseS: 5 }),
      post('/api/match', { id: 'first', revision: 1, phase: 'teleop', remainingS: null }),
      { do: 'settle' },
    ],
  },
  'a tuning that a kill cuts short behind a stop leaves no wave': {
    settings: { pollHz: 10, laserMaxOnS: 5, refereeSilenceMs: 500, effectMs: 19 },
    steps: [
      post('/api/chassis/mode/switch', { mode: 'debug' }),
      { do: 'wait', ms: 50 },
      post('/api/chassis/autotune', { loop: 'speed', leaseS: 1 }),
      { do: 'wait', ms: 500 },
      post('/api/match/lock', { reason: 'walk' }),
      post('/api/stop'),
      { do: 'wait', ms: 10 },
      { do: 'end', how: 'kill', left: 'all', downMs: 0, controllersToo: false },
      { do: 'settle' },
    ],
  },
  'an unlock that nobody waited for may still be on its way to the medium at rest': {
    settings: {
      pollHz: 20,
      hostSilenceMs: 0,
      laserMaxOnS: 0.5,
      onRefereeSilence: 'hold',
      frameMs: 0.2,
      effectMs: 19,
    },
    steps: [
      post('/api/match/lock', { reason: 'walk' }),
      { do: 'settle' },
      { do: 'disk', weather: { latencyMs: 700, fails: [], torn: 0 } },
      {
        do: 'ask',
        request: { method: 'POST', path: '/api/match/unlock' },
        hangUpAfterMs: 1,
      },
      { do: 'settle' },
      { do: 'end', how: 'kill', left: 'all', downMs: 0, controllersToo: false },
      { do: 'wait', ms: 20 },
      post('/api/resume'),
    ],
  },
  'a torn log that the start could not read is mended with a number of its run': {
    steps: [
      { do: 'disk', weather: { latencyMs: 1, fails: [], torn: 0, hangs: true } },
      {
        do: 'flood',
        request: {
          method: 'POST',
          path: '/api/match/lease',
          body: { holder: 'other', ttlMs: 100 },
          as: 'referee',
        },
        callers: 1,
        pauseMs: 200,
        forMs: 3000,
      },
      { do: 'wait', ms: 100 },
      { do: 'end', how: 'cut', left: 0.3, downMs: 0, controllersToo: false },
      { do: 'wait', ms: 6000 },
      { do: 'settle' },
    ],
  },
  'a stop is not known after a power cut of the board until a controller that kept its latch is heard': {
    settings: { pollHz: 20, hostSilenceMs: 2000, frameMs: 0.2 },
    steps: [
      post('/api/stop'),
      { do: 'settle' },
      { do: 'end', how: 'cut', left: 0.3, downMs: 0, controllersToo: false },
      { do: 'fault', fault: { target: 'bus', fault: 'timeout' } },
      { do: 'wait', ms: 317 },
      post('/api/laser', { action: 'on' }),
      { do: 'settle' },
    ],
  },
  'a save that a slow disk refuses leaves its number out where it was written beside a newer one': {
    settings: { pollHz: 100, hostSilenceMs: 0, laserMaxOnS: 5, frameMs: 1, effectMs: 6 },
    steps: [
      saves,
      { do: 'wait', ms: 100 },
      post('/api/chassis/pidconfig', gainsOf(8)),
      { do: 'disk', weather: { latencyMs: 200, fails: [], torn: 0 } },
      { do: 'wait', ms: 326 },
      post('/api/chassis/pidconfig', gainsOf(9)),
      { do: 'wait', ms: 100 },
      { do: 'settle' },
    ],
  },
};

describe('what walks have found', () => {
  for (const [name, { steps, settings }] of Object.entries(finds)) {
    it(name, async () => {
      const broken = await walk({ settings: { ...SETTINGS, ...settings }, steps });
      expect(broken?.message).to.equal(undefined);
    });
  }
});
