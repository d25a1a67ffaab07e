import { randomUUID } from 'node:crypto';
import { isRobotError, messageOf } from '../core/errors.js';
import { LONGEST_TUNING_S, TUNING_PART } from '../core/tuning-terms.js';
import type { Loop } from '../core/units.js';
import type { Tune } from '../schemas/tune.js';
import { shapeOf } from '../tuning/plant.js';
import { tune } from '../tuning/tuner.js';
import { LoopFailure, robotPort, type Tuning } from './robot-port.js';

type LoopResult = Tune['results'][number];
type LoopState = Pick<Tune, 'before' | 'proposed' | 'predicted'>;

const NOTHING: LoopState = { before: null, proposed: null, predicted: null };

export type TuneRun = ReturnType<typeof tuneRun>;

/**
 * Tunes several loops of one unit, one after the other. Better gains of a loop stay active while the later loops are
 * tuned.
 */
export function tuneRun(options: Tuning, changed: (tune: Tune) => void) {
  const { robot, clock, bounds, unit, loops, style, by, saved } = options;
  let now: Tune = {
    id: randomUUID(),
    by,
    unit,
    loop: loops[0].name,
    loops: loops.map(({ name }) => name),
    style,
    state: 'running',
    words: [],
    why: null,
    ...NOTHING,
    results: [],
    proposal: null,
  };
  const show = (change: Partial<Tune>) => {
    now = { ...now, ...change };
    changed(now);
  };
  const port = robotPort(options, now.id, words => show({ words: [...now.words, words] }));
  const ended = (result: LoopResult, change: Partial<Tune> = {}) =>
    show({ ...change, results: [...now.results, result] });
  /** Tunes one loop. Throws only if the error ends the whole tuning, and not only that of this loop. */
  const tuneLoop = async (loop: Loop): Promise<LoopResult> => {
    const { name } = loop;
    port.begin(loop, clock.nowMs() + 1000 * LONGEST_TUNING_S);
    if (now.results.length > 0) show({ loop: name, words: [], ...NOTHING });
    const rateHz = robot.units[unit].report().identity?.loopRateHz ?? 1000;
    const gains = port.base()[name] ?? loop.defaults;
    const amplitude = TUNING_PART * loop.maxAmplitude;
    const shape = shapeOf(loop, rateHz, bounds);
    const task = { shape, gains, amplitude, periodS: loop.excitationPeriodS, style };
    try {
      return { loop: name, ...(await tune(task, port)) };
    } catch (error) {
      if (!(error instanceof LoopFailure)) throw error;
      return { loop: name, state: 'failed', why: error.message, ...NOTHING };
    }
  };
  /** Resolves with the result of the whole tuning. */
  const tuneLoops = async (): Promise<Pick<Tune, 'state' | 'why'>> => {
    try {
      for (const loop of loops) {
        if (!port.hasTargetFor(loop)) {
          ended({ loop: loop.name, state: 'skipped', why: NO_TARGET, ...NOTHING });
          continue;
        }
        const result = await tuneLoop(loop);
        const { state, before, proposed, predicted } = result;
        let { proposal } = now;
        if (state === 'better' && proposed !== null) {
          port.accept(proposed.gains);
          proposal = { revision: saved.revision, gains: port.base() };
        }
        ended(result, { before, proposed, predicted, proposal });
      }
    } catch (error) {
      return { state: 'aborted', why: isRobotError(error) ? options.explain(error) : messageOf(error) };
    }
    return verdictOf(now.results);
  };
  return { port, show, tuneLoops, tune: () => now };
}

export const NO_TARGET = 'there is no target in view';

/** The result of a tuning that was not aborted. */
function verdictOf(results: Tune['results']): Pick<Tune, 'state' | 'why'> {
  const [only] = results;
  const better = results.filter(({ state }) => state === 'better').length;
  const isGood = results.some(({ state }) => state === 'good');
  const state = better > 0 ? 'better' : isGood ? 'good' : 'failed';
  if (only !== undefined && results.length === 1) return { state, why: only.why };
  const left = results.filter(one => one.state === 'failed' || one.state === 'skipped');
  const parts = left.map(({ loop, why }) => `${loop}: ${why}`);
  return { state, why: [`${better} of ${results.length} loops are better`, ...parts].join('; ') };
}
