import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/settings.js';
import { RobotError } from '../../core/errors.js';
import { STYLES } from '../../core/tuning-terms.js';
import type { Unit } from '../../core/units.js';
import type { Trial } from '../../robot/wanted.js';
import { gainsBody } from '../../schemas/gains.js';
import * as s from '../../schemas/schema.js';
import { trialStatus } from '../../schemas/status.js';
import { tune } from '../../schemas/tune.js';
import type { AppOptions } from '../app-options.js';
import { sinceMs } from '../arrivals.js';
import { CONTROLLER_PROBLEMS, PIN_PROBLEMS, TRIAL_PROBLEMS } from '../problem-table.js';
import { get, post, type Route, remove } from '../route.js';
import { trialStatusOf } from '../status-body.js';

const LEASE_S = { minimum: 0.2, maximum: 5 } as const;
/** With a longer host silence, trial gains would run too long after the end of the daemon. */
const LONGEST_SILENCE_MS = 2000;

/** Throws `silence-too-long` if trial gains could outlive the daemon for too long. */
function requireTrialsBounded({ supervision: { hostSilenceMs } }: Config): void {
  if (hostSilenceMs === 0 || hostSilenceMs > LONGEST_SILENCE_MS) throw new RobotError('silence-too-long');
}

/** Trials: gains that a unit runs without a save, until their lease expires. */
export function trialRoutes({ robot, clock, config }: AppOptions, unit: Unit): Route[] {
  const { name, title } = unit;
  const path = `/api/${name}/pidconfig/trial`;
  const gains = gainsBody(unit, config.gains.bounds);
  const body = s.body(`${title}Trial`, {
    gains,
    leaseS: { ...s.number('The trial ends this long after its last renewal.'), ...LEASE_S },
    id: s.optional(s.text('Of the trial that this renews or changes; without it, another one begins.')),
  });
  return [
    post(path, 'tune', {
      id: `${name}Trial`,
      // The robot's own event records the beginning of a trial, and renewals are not recorded.
      event: { what: 'trial', unit: name, onlyRefused: true },
      summary: 'Run gains without saving them, until the lease ends; answered when the controller runs them',
      body,
      answer: trialStatus,
      problems: [...TRIAL_PROBLEMS, ...CONTROLLER_PROBLEMS],
      act: async ({ body: { gains: wanted, leaseS, id }, ctx, stillWanted }) => {
        requireTrialsBounded(config);
        const stillOurs = () => {
          stillWanted();
          if (id !== undefined && robot.units[name].trial?.id !== id) throw new RobotError('trial-ended');
        };
        const trial: Trial = {
          id: id ?? randomUUID(),
          by: ctx.state.who,
          gains: wanted,
          endsAtMs: clock.nowMs() + 1000 * leaseS,
        };
        const since = sinceMs(ctx.state.arrival, clock.nowMs());
        await robot.units[name].gains.tryGains(trial, stillOurs, since);
        return trialStatusOf(trial);
      },
    }),
    remove(path, 'tune', {
      id: `${name}EndTrial`,
      event: { what: 'end-trial', unit: name },
      summary: 'End the trial of any caller; answered when the controller runs the gains that follow it',
      answer: s.body('TrialEnded', { ended: s.yesNo('There was a trial.') }),
      problems: ['not-confirmed'],
      act: async () => {
        const unit = robot.units[name];
        const { trial, online } = unit.report();
        const ended = trial !== undefined;
        // Without a trial, an offline controller has nothing to confirm.
        if (ended || online) await unit.gains.endTrial();
        return { ended };
      },
    }),
  ];
}

/** Routes that tune loops. A tuning proposes gains and saves none. */
export function autotuneRoutes({ autotune, clock, config }: AppOptions, unit: Unit): Route[] {
  const { name, title } = unit;
  const names = unit.loops.map(loop => loop.name);
  const path = `/api/${name}/autotune`;
  const body = s.body(`${title}Autotune`, {
    loop: s.optional(s.oneOf(names, 'The loop to tune; or `loops`.')),
    loops: s.optional({ ...s.array(s.oneOf(names)), minItems: 1, uniqueItems: true }),
    leaseS: s.optional({
      ...s.number('The tuning ends this long after its last renewal. The default is the maximum.'),
      ...LEASE_S,
    }),
    style: s.optional(s.oneOf(STYLES, 'The default is `normal`.')),
    id: s.optional(s.text('Of the tuning to renew, which needs no loop. Without it, another one begins.')),
  });
  return [
    post(path, 'drive', {
      id: `${name}Autotune`,
      event: { what: 'tune', unit: name, onlyRefused: true },
      summary: 'Tune loops in debug mode, or renew the lease of a tuning; the robot moves',
      answerStatus: 202,
      body,
      answer: tune,
      problems: [
        ...TRIAL_PROBLEMS,
        ...PIN_PROBLEMS,
        ...CONTROLLER_PROBLEMS,
        'wrong-mode',
        'tune-running',
        'loop-unfit',
      ],
      act: async ({ body: { loop, loops, leaseS = LEASE_S.maximum, style = 'normal', id }, ctx }) => {
        const leaseMs = 1000 * leaseS;
        if (id !== undefined) return autotune.renew(name, id, ctx.state.who, leaseMs);
        requireTrialsBounded(config);
        const chosen = loopsOf(loop, loops);
        const since = sinceMs(ctx.state.arrival, clock.nowMs());
        return autotune.start({
          unit: name,
          loops: chosen,
          style,
          by: ctx.state.who,
          leaseMs,
          sinceMs: since,
        });
      },
    }),
    get(path, 'read', {
      id: `${name}Tune`,
      summary: 'The tuning under way, or the last one',
      answer: s.answer('LastTune', { tune: s.nullable(tune) }),
      act: () => ({ tune: autotune.of(name) ?? null }),
    }),
    remove(path, 'tune', {
      id: `${name}EndTune`,
      event: { what: 'end-tune', unit: name },
      summary: 'End the tuning; answered when the saved gains run and nothing is excited',
      answer: s.body('TuneEnded', { ended: s.yesNo('There was one.') }),
      problems: ['not-confirmed'],
      act: async () => ({ ended: await autotune.end('somebody ended it', name) }),
    }),
  ];
}

/** Throws `invalid-request` unless exactly one of the two is given. */
function loopsOf(loop: string | undefined, loops: readonly string[] | undefined): readonly string[] {
  if (loop !== undefined && loops === undefined) return [loop];
  if (loop === undefined && loops !== undefined) return loops;
  const detail = loop === undefined ? 'is missing, and so is loops' : 'goes without loops';
  throw new RobotError('invalid-request', { errors: [{ pointer: '/loop', detail }] });
}
