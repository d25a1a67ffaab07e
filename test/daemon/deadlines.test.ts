import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import type { LogEvent } from '../../src/schemas/log.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';

type Call = readonly [ask: string, body?: object];

const BEAT: Call = ['POST /api/match/lease', { holder: 'desk', ttlMs: 60_000 }];
const LIGHT: Call = ['POST /api/laser', { action: 'on' }];
const DEBUG: Call = ['POST /api/gimbal/mode/switch', { mode: 'debug' }];
const AUTO: Call = ['POST /api/gimbal/mode/switch', { mode: 'auto' }];
/** How late the event loop is. The controllers keep torque for longer without a heartbeat. */
const LATE_MS = 250;

const gains = defaultGains(unitNamed('gimbal'));
const TRIAL: Call = ['POST /api/gimbal/pidconfig/trial', { gains, leaseS: 1 }];
const tune = (more: object): Call => ['POST /api/gimbal/autotune', { leaseS: 1, ...more }];
const play = (remainingS: number | null): Call => [
  'POST /api/match',
  { id: 'M1', revision: 1, phase: 'auto', remainingS },
];

interface Late {
  readonly before: readonly Call[];
  /** Counted from the last of those calls. */
  readonly limitMs: number;
  /** This call arrives while the limit passes. `id` is the one that was answered last. */
  readonly call: (id: string) => Call;
  /** `done`, or the code of the refusal. */
  readonly answer: string;
  /** What the daemon did by itself then, and why. */
  readonly events: readonly string[];
}

const LATE: Readonly<Record<string, Late>> = {
  'stops the robot because the referee was silent, then renews the lease of the referee as requested': {
    before: [BEAT, play(null), LIGHT, BEAT],
    limitMs: 1000,
    call: () => BEAT,
    answer: 'done',
    events: ['referee-silent', 'laser stop', 'stop the referee is silent', 'referee-heard'],
  },
  'stops the robot at the end of the phase, then refuses the requested switch to auto as "wrong-phase"': {
    before: [BEAT, play(0.5)],
    limitMs: 500,
    call: () => AUTO,
    answer: 'wrong-phase',
    events: ['phase time is up', 'stop time is up'],
  },
  'switches the laser off at its time limit, then on again as requested': {
    before: [LIGHT],
    limitMs: 2000,
    call: () => LIGHT,
    answer: 'done',
    events: ['laser time limit', 'laser'],
  },
  'logs one change of the laser, caused by its time limit and not by the requested Off': {
    before: [LIGHT],
    limitMs: 2000,
    call: () => ['POST /api/laser', { action: 'off' }],
    answer: 'done',
    events: ['laser time limit'],
  },
  'ends the expired trial, then begins the requested new trial': {
    before: [TRIAL],
    limitMs: 1000,
    call: () => TRIAL,
    answer: 'done',
    events: ['trial-ended lease', 'trial'],
  },
  'ends the expired tuning, then refuses the requested renewal of the tuning as "trial-ended"': {
    before: [DEBUG, tune({ loop: 'angle_yaw' })],
    limitMs: 1000,
    call: id => tune({ id }),
    answer: 'trial-ended',
    events: ['trial-ended lease', 'excitation', 'tune-end nobody renewed it'],
  },
};

/** The answer to the late call, and the events since the limit. */
async function answerTo({ before, limitMs, call }: Late, isTimerFirst: boolean) {
  const match = { refereeSilenceMs: 1000, onRefereeSilence: 'stop' } as const;
  const daemon = await ClockedDaemon.start({ config: { match, laser: { maxOnS: 2 } } });
  let id = '';
  for (const one of before) ({ id } = await daemon.bodyOf(...one));
  // The calls before and after this take 50 ms each.
  await daemon.wait(limitMs - LATE_MS - 100);
  const known = (await daemon.bodyOf('GET /api/log')).events.length;
  daemon.late(LATE_MS);
  if (isTimerFirst) await daemon.wait(0);
  const { code = 'done' } = await daemon.bodyOf(...call(id));
  await daemon.wait(500);
  const since: readonly LogEvent[] = (await daemon.bodyOf('GET /api/log')).events.slice(known);
  await daemon.close();
  const events = since
    .filter(({ outcome }) => outcome === undefined)
    .map(({ what, detail }) => [what, detail?.why ?? detail?.reason].join(' ').trim());
  return { answer: code, events };
}

describe('a busy daemon that is late for a deadline', () => {
  for (const [name, late] of Object.entries(LATE))
    for (const first of ['timer', 'request'] as const)
      it(`${name}, ${first === 'timer' ? 'if the daemon notices the deadline before the request' : 'even if the daemon notices the request before the deadline'}`, async () => {
        const { answer, events } = late;
        expect(await answerTo(late, first === 'timer')).to.deep.equal({ answer, events });
      });
});
