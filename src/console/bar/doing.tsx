import { type Unit, unitNamed } from '../../core/units.js';
import { loopOf } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { fixed } from '../model/numbers.js';
import type { Act } from '../parts/act.js';
import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';

interface DoingText {
  readonly text: string;
  /** Ends it, for the button's name. */
  readonly what: string;
  readonly act: Act;
  readonly end: () => unknown;
}

/** What somebody does to a unit that it would not do of itself: a tuning, else a wave, gains that are tried, or both. */
export function doingOf(model: Model, { name }: Unit): readonly DoingText[] | undefined {
  const tune = model.tuning.tunes[name].value;
  if (tune?.state === 'running') {
    const text = `${loopOf(tune).title} is tuned by ${tune.by}: ${tune.words.at(-1) ?? 'begins'}`;
    return [{ text, what: 'tuning', act: model.tuning.act, end: () => model.tuning.end(name) }];
  }
  const [wave, trial] = [model.waveOf(name), model.status.value?.[name].gains.trial];
  const lines: DoingText[] = [];
  if (wave !== undefined) {
    const { title, quantity } = loopOf({ unit: name, loop: wave.loop });
    const text = `${title} ±${wave.amplitude} ${quantity} every ${wave.periodS} s`;
    lines.push({
      text,
      what: 'excitation',
      act: model.exciting[name],
      end: () => model.endExcitation(name),
    });
  }
  if (trial !== undefined) {
    const { trial: held } = model.gains[name];
    const leftS = trial.endsAtT - (model.telemetry.latest?.t ?? trial.endsAtT);
    const text =
      trial.id === held.id.value
        ? `runs gains that this page tries. Nothing is saved.`
        : `runs gains that ${trial.by} tries, for ${fixed(Math.max(0, leftS), 0)} s unless asked for again.`;
    lines.push({ text, what: 'trial', act: held.act, end: () => held.end() });
  }
  return lines.length === 0 ? undefined : lines;
}

/** Its lines in the strip of alerts, each with its End. */
export function Doing({ unit }: { readonly unit: Unit }) {
  const { model } = useConsole();
  const { title } = unitNamed(unit.name);
  return (
    <>
      {doingOf(model, unit)?.map(({ text, what, act, end }) => (
        <li class="doing" key={what}>
          <span>
            <strong>{title}</strong> {text}
          </span>
          <Press act={act} what="end" run={end} aria-label={`End the ${what} of the ${title.toLowerCase()}`}>
            End
          </Press>
        </li>
      ))}
    </>
  );
}
