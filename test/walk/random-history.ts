import { UNIT_LIST, type Unit } from '../../src/core/units.js';
import type { Random } from '../support/random.js';
import { Episodes } from './episodes.js';
import { ask, type History, SETTLE, type WalkSettings, type WalkStep, wait } from './history.js';
import { RandomRequests } from './random-requests.js';
import { RandomSteps } from './random-steps.js';
import { post } from './request.js';
import { THEMES, type Theme } from './theme.js';

export const USUAL: WalkSettings = {
  pollHz: 50,
  hostSilenceMs: 500,
  onControllerReset: 'manual',
  laserMaxOnS: 0,
  refereeSilenceMs: 500,
  onRefereeSilence: 'stop',
  frameMs: 0.5,
  effectMs: 0,
};

const SETTLE_EVERY = 12;

/** Draws settings and about `length` steps. The last step is `settle`. */
export function randomHistory(random: Random, length: number): History {
  const settings = random.chance(0.2)
    ? USUAL
    : {
        pollHz: random.among([10, 10, 20, 50, 100]),
        hostSilenceMs: random.among([0, 500, 500, 2000]),
        onControllerReset: random.among(['manual', 'restore'] as const),
        laserMaxOnS: random.among([0, 0, 0.5, 5]),
        refereeSilenceMs: random.among([500, 500, 3000]),
        onRefereeSilence: random.among(['stop', 'stop', 'hold'] as const),
        frameMs: random.among([0.2, 0.5, 1]),
        effectMs: random.among([0, 0, 6, 19]),
      };
  const hot = random.among(UNIT_LIST);
  const theme = random.among(THEMES);
  const next = nextSteps(random, theme);
  const steps: WalkStep[] = [
    ...(theme.access > 0 ? [{ do: 'tokens', list: ['operator', 'referee'] } as const] : []),
    ...(random.chance(0.5) ? begun(hot, theme) : []),
  ];
  while (steps.length + 1 < length) {
    if (random.chance(1 / SETTLE_EVERY)) steps.push(SETTLE);
    else steps.push(...next(random.chance(0.7) ? hot : random.among(UNIT_LIST)));
  }
  return { settings, steps: [...steps, SETTLE] };
}

/** Switches the unit to debug mode, in which an excitation can be chosen. */
function begun({ name }: Unit, { access }: Theme): readonly WalkStep[] {
  const request = post(`/api/${name}/mode/switch`, { mode: 'debug' });
  return [ask(access > 0 ? { ...request, as: 'operator' } : request), wait(20)];
}

/** Draws the next steps, mostly about this unit. */
function nextSteps(random: Random, theme: Theme): (unit: Unit) => readonly WalkStep[] {
  const requests = new RandomRequests(random, theme);
  const steps = new RandomSteps(random);
  const episodes = new Episodes(random, requests, steps);
  return unit =>
    random.weighted<() => readonly WalkStep[]>([
      [45, () => [steps.ask(requests.any(unit))]],
      [25, () => [steps.wait()]],
      [3, () => [steps.late(requests.any(unit))]],
      [3 * theme.match, () => episodes.lateBeat(unit)],
      [theme.trial + theme.tune, () => episodes.lateRenewal(unit)],
      [16, () => [steps.fault(unit)]],
      [2, () => [steps.loseAnswers()]],
      [3, () => episodes.refusedAndDone(unit)],
      [3 * theme.disk, () => [steps.disk()]],
      [1, () => [steps.wallClock()]],
      [2, () => episodes.contact()],
      [2 * theme.drive, () => episodes.drives(unit)],
      [0.3, () => [steps.flood(unit)]],
      [3 * theme.access, () => [steps.tokens()]],
      [2 * theme.match, () => episodes.play()],
      [theme.end, () => episodes.keptThenGone(unit)],
      [theme.trial, () => episodes.trialThenEnd(unit)],
      [0.5 * theme.stop, () => episodes.stopOfTheAbsent(unit)],
      [3 * theme.stop, () => episodes.pressed(unit)],
      [2 * theme.tune, () => episodes.tuning(unit)],
      [3 * theme.end, () => [steps.end()]],
    ])();
}
