import { UNIT_LIST, type Unit } from '../../core/units.js';
import type { Model } from '../model/model.js';
import { fixed } from '../model/numbers.js';
import type { Act } from '../parts/act.js';
import type { Line } from './lines.js';

/** A line with the button that ends what it says. */
export interface AnswerableLine extends Line {
  readonly answer?: Answer;
}

interface Answer {
  readonly label: string;
  /** What a screen reader reads out for the button. */
  readonly name: string;
  readonly act?: Act;
  /** The name of the request among those of the act. */
  readonly what?: string;
  readonly run: () => unknown;
  readonly disabled?: boolean;
}

/** What somebody does to a unit that it would not do of itself: a tuning, a wave, or gains that are tried. */
export function doingLines(model: Model): AnswerableLine[] {
  return UNIT_LIST.flatMap(unit => {
    // A tuning makes waves and tries gains itself: its own line speaks for them while it runs.
    return model.tuning.tunes[unit.name].value?.state === 'running'
      ? tuningLines(model, unit)
      : [...tuningLines(model, unit), ...waveLines(model, unit), ...trialLines(model, unit)];
  });
}

function tuningLines(model: Model, unit: Unit): AnswerableLine[] {
  const text = tuningText(model, unit);
  if (text === undefined) return [];
  const run = () => model.tuning.end(unit.name);
  return [doing(unit, text, 'tuning', { act: model.tuning.act, run, disabled: !model.hasRight('tune') })];
}

/** Undefined where the unit is not tuned. Between two loops of a tuning of all loops it says which is next. */
function tuningText({ tuning }: Model, unit: Unit): string | undefined {
  const tune = tuning.tunes[unit.name].value;
  const [next] = tuning.plan.value;
  if (tune?.state === 'running')
    return `${loopNamed(unit, tune.loop).title} is tuned by ${tune.by}: ${tune.words.at(-1) ?? 'begins'}`;
  return next?.unit === unit.name ? `${loopNamed(unit, next.loop).title} is tuned next.` : undefined;
}

/** One that this page does not know, as the daemon calls it. */
export function loopNamed({ loops }: Unit, name: string) {
  return loops.find(loop => loop.name === name) ?? { title: name, quantity: '' };
}

function waveLines(model: Model, unit: Unit): AnswerableLine[] {
  const wave = model.waveOf(unit.name);
  if (wave === undefined) return [];
  const { title, quantity } = loopNamed(unit, wave.loop);
  const text = `${title} ±${wave.amplitude} ${quantity} every ${wave.periodS} s`;
  const run = () => model.endExcitation(unit.name);
  const act = model.exciting[unit.name];
  return [doing(unit, text, 'excitation', { act, run, disabled: !model.may('drive') })];
}

function trialLines(model: Model, unit: Unit): AnswerableLine[] {
  const trial = model.status.value?.[unit.name].gains.trial;
  if (trial === undefined) return [];
  const { trial: held } = model.gains[unit.name];
  const leftS = trial.endsAtT - (model.telemetry.latest?.t ?? trial.endsAtT);
  const text =
    trial.id === held.id.value
      ? `runs gains that this page tries. Nothing is saved.`
      : `runs gains that ${trial.by} tries, for ${fixed(Math.max(0, leftS), 0)} s unless asked for again.`;
  const run = () => held.end();
  return [
    doing(unit, text, 'trial', { act: held.act, what: 'undo', run, disabled: !model.hasRight('tune') }),
  ];
}

function doing(
  { title }: Unit,
  text: string,
  subject: string,
  press: Omit<Answer, 'label' | 'name'>,
): AnswerableLine {
  const name = `End the ${subject} of the ${title.toLowerCase()}`;
  return { tone: 'doing', about: title, text, answer: { label: 'End', name, what: 'end', ...press } };
}
