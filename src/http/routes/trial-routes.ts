import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/settings.js';
import { RobotError } from '../../core/errors.js';
import type { Unit } from '../../core/units.js';
import type { Trial } from '../../robot/wanted-gains.js';
import { gainsBody } from '../../schemas/gains.js';
import * as s from '../../schemas/schema.js';
import { trialStatus } from '../../schemas/status.js';
import type { AppOptions } from '../app-options.js';
import { stillWanted } from '../body.js';
import { CONTROLLER_PROBLEMS, TRIAL_PROBLEMS } from '../problem-table.js';
import { post, type Route, remove } from '../route.js';
import { trialStatusOf } from '../status-body.js';

export const TRIAL_LEASE_S = { minimum: 0.2, maximum: 5 } as const;
/** Trial gains would run too long after the end of the daemon if the host silence were longer. */
const LONGEST_SILENCE_MS = 2000;

/** Throws `silence-too-long` if trial gains could outlive the daemon for too long. */
export function requireTrialsBounded({ supervision: { hostSilenceMs } }: Config): void {
  if (hostSilenceMs === 0 || hostSilenceMs > LONGEST_SILENCE_MS) throw new RobotError('silence-too-long');
}

/** Trials: gains that a unit runs without a save, until their lease expires. */
export function trialRoutes({ robot, clock, config }: AppOptions, unit: Unit): Route[] {
  const { name, title } = unit;
  const path = `/api/${name}/pidconfig/trial`;
  const gains = gainsBody(unit, config.gains.bounds);
  const body = s.body(`${title}Trial`, {
    gains,
    leaseS: { ...s.number('The trial ends this long after its last renewal.'), ...TRIAL_LEASE_S },
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
      act: async ({ body: { gains: wanted, leaseS, id }, ctx }) => {
        requireTrialsBounded(config);
        const stillOurs = () => {
          stillWanted(ctx)();
          if (id !== undefined && robot.units[name].trial?.id !== id) throw new RobotError('trial-ended');
        };
        const trial: Trial = {
          id: id ?? randomUUID(),
          by: ctx.state.who,
          gains: wanted,
          endsAtMs: clock.nowMs() + 1000 * leaseS,
        };
        await robot.units[name].gains.tryGains(trial, stillOurs);
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
        // If there is no trial, a controller that is offline has nothing to prove.
        if (ended || online) await unit.gains.endTrial('ended');
        return { ended };
      },
    }),
  ];
}
