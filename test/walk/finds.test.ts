import { expect } from 'chai';
import type { FaultBody } from '../../sim/bus/faults.js';
import { ask, SETTLE, type WalkSettings, type WalkStep, wait } from './history.js';
import { USUAL } from './random-history.js';
import { walk } from './walk.js';

const SETTINGS: WalkSettings = { ...USUAL, refereeSilenceMs: 3000 };

const post = (path: string, body?: unknown) => ask({ method: 'POST', path, body });
const remove = (path: string) => ask({ method: 'DELETE', path });
const fault = (target: FaultBody['target'], what: FaultBody['fault'], count?: number): WalkStep => ({
  do: 'fault',
  fault: { target, fault: what, ...(count !== undefined && { count }) },
});
const end = (how: 'term' | 'kill' | 'cut', left = 1): WalkStep => ({
  do: 'end',
  how,
  left,
  downMs: 0,
  controllersToo: false,
});
const disk = (latencyMs: number, hangs?: boolean): WalkStep => ({
  do: 'disk',
  weather: { latencyMs, fails: [], torn: 0, ...(hangs && { hangs }) },
});
const mode = (unit: string, to: string) => post(`/api/${unit}/mode/switch`, { mode: to });
const excite = (loop: string, amplitude: number) =>
  post('/api/gimbal/excitation', { loop, amplitude, periodS: 0.5 });
const phase = (id: string, to: string) => post('/api/match', { id, revision: 1, phase: to });
const lock = post('/api/match/lock', { reason: 'walk' });
const stop = post('/api/stop');
const resume = post('/api/resume');
const drives = (id: string) => post('/api/drive', { chassis: { speed: 0.25, turn: 0 }, holdMs: 500, id });
const light = post('/api/laser', { action: 'on' });
const gainsOf = (kp: number) => ({
  speed: { kp, ki: 0, kd: 0 },
  angle: { kp, ki: 1, kd: 0 },
  position: { kp, ki: 2, kd: 0 },
});
const save = (kp: number) => post('/api/chassis/pidconfig', gainsOf(kp));
const tries = (kp: number) => post('/api/chassis/pidconfig/trial', { gains: gainsOf(kp), leaseS: 5 });
const tunes = [
  mode('gimbal', 'debug'),
  wait(5),
  post('/api/gimbal/autotune', { loop: 'angle_yaw', leaseS: 5 }),
  wait(500),
];
/** Another desk that beats for three seconds. */
const beats = (as?: 'referee'): WalkStep => ({
  do: 'flood',
  request: {
    method: 'POST',
    path: '/api/match/lease',
    body: { holder: 'other', ttlMs: 100 },
    ...(as && { as }),
  },
  callers: 1,
  pauseMs: 200,
  forMs: 3000,
});

const takesLease: WalkStep = {
  do: 'ask',
  request: {
    method: 'POST',
    path: '/api/match/lease',
    body: { holder: 'desk', ttlMs: 500, takeover: true },
    elsewhere: true,
  },
};

type Find = readonly [name: string, steps: readonly WalkStep[], settings?: Partial<WalkSettings>];

/** Failures that walks have found, each in its shortest form. test/robot/stop.test.ts tells those of a stop beside a resume. */
const finds: readonly Find[] = [
  ...[
    save(7),
    post('/api/chassis/pidconfig/restore', { revision: 1 }),
    tries(9),
    post('/api/chassis/profiles/load', { name: 'old' }),
  ].map((asked): Find => {
    const profile = post('/api/chassis/profiles', { name: 'old' });
    const before = [save(3), wait(60), profile, wait(60), save(4), SETTLE, mode('chassis', 'auto')];
    const path = asked.do === 'ask' ? asked.request.path : '';
    const name = `a request to ${path} has no effect if its caller disconnects while another request to the same unit is under way`;
    return [name, [...before, { ...asked, hangUpAfterMs: 1 } as WalkStep, SETTLE], { effectMs: 19 }];
  }),
  [
    'if a controller reconnects while the robot is stopped, the controller gets the latch before a heartbeat',
    [fault('gimbal', 'unplug'), wait(1886), stop, SETTLE],
  ],
  [
    'if a stop follows before a resume has ended, the resume does not change the mode',
    [mode('chassis', 'auto'), resume, stop, SETTLE],
  ],
  [
    'if a lock follows before a resume has ended, the resume does not change the mode',
    [mode('gimbal', 'debug'), phase('second', 'auto'), wait(5), resume, wait(25), lock, SETTLE],
    { pollHz: 10, hostSilenceMs: 2000, onRefereeSilence: 'hold', frameMs: 0.2 },
  ],
  [
    'the daemon does not confirm an excitation if the controller lost power for a moment just before the request',
    [mode('gimbal', 'debug'), wait(5), fault('gimbal', 'brownout'), excite('angle_pitch', 0.1875), SETTLE],
    { onControllerReset: 'restore' },
  ],
  [
    'a change to the phase “ended” is answered only after the robot has stopped, even if the laser was on',
    [light, phase('first', 'ended'), fault('chassis', 'unplug', 3), wait(20)],
    { pollHz: 20, frameMs: 1 },
  ],
  [
    'a refused request to end an excitation has no effect later: the excitation goes on, even if a caller switches to debug mode again',
    [
      mode('gimbal', 'debug'),
      SETTLE,
      excite('visual_yaw', 0.1875),
      wait(1),
      { do: 'lose answers', count: 4 } as const,
      excite('angle_pitch', 0),
      wait(1),
      mode('gimbal', 'debug'),
      SETTLE,
    ],
    { pollHz: 100, hostSilenceMs: 0, frameMs: 0.2 },
  ],
  [
    'the status shows a phase as “recorded” only after a slow disk has stored the phase',
    [phase('second', 'ended'), disk(700), wait(2388), SETTLE, end('kill'), SETTLE],
  ],
  [
    'a tuning leaves no excitation running if a new phase stops the robot',
    [...tunes, phase('first', 'auto'), SETTLE],
  ],
  ['a tuning leaves no excitation running if the daemon is killed', [...tunes, end('kill'), SETTLE]],
  [
    'a tuning leaves no excitation running if a caller ends the tuning during another switch to debug mode',
    [...tunes, mode('gimbal', 'debug'), remove('/api/gimbal/autotune'), SETTLE],
    { pollHz: 10, frameMs: 0.2 },
  ],
  [
    'a tuning leaves no excitation running if the daemon exits while the controller is unreachable',
    [...tunes, fault('gimbal', 'corrupt', 12), end('term'), SETTLE],
  ],
  [
    'a request to end a trial does not end a tuning if the tuning has not yet tried any gains',
    [
      mode('chassis', 'debug'),
      wait(1),
      post('/api/chassis/autotune', { loop: 'position', leaseS: 5 }),
      remove('/api/chassis/pidconfig/trial'),
      wait(1520),
      SETTLE,
    ],
    { refereeSilenceMs: 500 },
  ],
  [
    'the laser stays on if one read of its pin fails',
    [light, fault('pin', 'nack', 1), wait(20), SETTLE],
    { frameMs: 0.2, effectMs: 19 },
  ],
  [
    'if a desk requests the lease at the moment when the lease of another desk expires, the test accepts either answer',
    [
      mode('chassis', 'debug'),
      wait(20),
      mode('chassis', 'debug'),
      resume,
      SETTLE,
      beats(),
      wait(300),
      post('/api/match/lease', { holder: 'desk', ttlMs: 100 }),
      SETTLE,
    ],
    { pollHz: 10, onControllerReset: 'restore', refereeSilenceMs: 500, frameMs: 0.2, effectMs: 6 },
  ],
  [
    'if the event loop of the daemon is delayed, the test accepts that the daemon dates a lease earlier than the request for that lease',
    [
      beats(),
      { do: 'late', ms: 220, request: { method: 'DELETE', path: '/api/gimbal/autotune' } },
      { do: 'late', ms: 203, request: { method: 'DELETE', path: '/api/gimbal/autotune' } },
      takesLease,
      wait(400),
    ],
    { refereeSilenceMs: 500 },
  ],
  [
    'if a trial is requested during a resume, the test accepts that the trial is refused as busy, even if the resume is answered first',
    [wait(833), wait(56), wait(1247), wait(1), resume, tries(732), wait(20)],
    {
      pollHz: 100,
      hostSilenceMs: 2000,
      onControllerReset: 'restore',
      laserMaxOnS: 5,
      refereeSilenceMs: 500,
      onRefereeSilence: 'hold',
      frameMs: 1,
      effectMs: 6,
    },
  ],
  [
    'no trial begins while the daemon changes to a phase that forbids trials',
    [tries(8715), phase('first', 'teleop'), SETTLE],
    { pollHz: 10, onControllerReset: 'restore', onRefereeSilence: 'hold', frameMs: 1, effectMs: 6 },
  ],
  [
    'a tuning leaves no excitation running if the daemon is killed right after a stop',
    [
      mode('chassis', 'debug'),
      wait(50),
      post('/api/chassis/autotune', { loop: 'speed', leaseS: 1 }),
      wait(500),
      lock,
      stop,
      wait(10),
      end('kill'),
      SETTLE,
    ],
    { pollHz: 10, laserMaxOnS: 5, refereeSilenceMs: 500, effectMs: 19 },
  ],
  [
    'if the caller of an unlock disconnects while the disk is slow, the test accepts a locked or an unlocked robot after a daemon restart',
    [
      lock,
      SETTLE,
      disk(700),
      { ...post('/api/match/unlock'), hangUpAfterMs: 1 } as WalkStep,
      SETTLE,
      end('kill'),
      wait(20),
      resume,
    ],
    {
      pollHz: 20,
      hostSilenceMs: 0,
      laserMaxOnS: 0.5,
      onRefereeSilence: 'hold',
      frameMs: 0.2,
      effectMs: 19,
    },
  ],
  [
    'after a power cut, the event log passes verification even if a hanging disk delays the repair of the log',
    [disk(1, true), beats('referee'), wait(100), end('cut', 0.3), wait(6000), SETTLE],
  ],
  [
    'after a power cut, the test accepts that the daemon shows no stop until a latched controller answers',
    [stop, SETTLE, end('cut', 0.3), fault('bus', 'timeout'), wait(317), light, SETTLE],
    { pollHz: 20, hostSilenceMs: 2000, frameMs: 0.2 },
  ],
  [
    'after a resume has ended the motion of a driver, the test accepts that another caller drives at once',
    [drives('keys'), resume, wait(60), drives('stick'), wait(5)],
    { pollHz: 20, hostSilenceMs: 0 },
  ],
  [
    'after the daemon has ended, the test accepts that another caller drives at once',
    [drives('keys'), wait(5), end('term'), wait(50), drives('stick'), wait(5)],
    { pollHz: 20, hostSilenceMs: 0, frameMs: 0.2, effectMs: 0 },
  ],
  [
    'after a save has timed out on a slow disk, the test accepts a gap in the revision numbers',
    [save(7), wait(100), save(8), disk(200), wait(326), save(9), wait(100), SETTLE],
    { pollHz: 100, hostSilenceMs: 0, laserMaxOnS: 5, frameMs: 1, effectMs: 6 },
  ],
];

describe('in a case that the random test “npm run walk” once found,', () => {
  for (const [name, steps, settings] of finds) {
    it(name, async () => {
      const { broken } = await walk({ settings: { ...SETTINGS, ...settings }, steps });
      expect(broken?.message).to.equal(undefined);
    });
  }
});
