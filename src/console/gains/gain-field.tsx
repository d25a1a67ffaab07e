import { inWords } from '../model/action.js';
import { type Field, isDrastic, storedValue } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { loopNamed } from '../model/loop-choice.js';
import { parseGain, type StepSize, stepped } from '../model/numbers.js';
import { useModel } from '../parts/parts.js';

interface GainFieldProps {
  readonly gains: GainEdits;
  readonly field: Field;
  /** The step of the − and + buttons. */
  readonly size: StepSize;
}

const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowUp: 1, ArrowDown: -1 };

/** One gain, typed or changed in steps. While the field differs from the stored value, it shows that value below. */
export function GainField({ gains, field, size }: GainFieldProps) {
  const { pointer, gain } = field;
  const place = `${gains.unit.name}-${field.loop}-${gain}`;
  const stored = gains.stored.value?.gains;
  const { changes, faults } = gains.edits.value;
  const change = changes.find(one => one.field.pointer === pointer);
  const refused = gains.refused.value[pointer];
  const fault = faults[pointer] ?? (refused && inWords(refused));
  const text =
    gains.kept.value.texts[pointer] ?? (stored === undefined ? '' : String(storedValue(stored, field)));
  const name = `${loopNamed(gains.unit, field.loop).title} ${gain}`;
  const state = fault !== undefined ? 'fault' : change !== undefined ? 'edited' : 'stored';

  if (!useModel().access.hasRight('tune')) return <output aria-label={name}>{text}</output>;
  const step = (direction: 1 | -1, { shiftKey, altKey }: KeyboardEvent | MouseEvent, usual: StepSize) => {
    const by = shiftKey ? 'coarse' : altKey ? 'fine' : usual;
    const parsed = parseGain(text);
    if ('value' in parsed) gains.edit(pointer, String(stepped(parsed.value, direction, by)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = ARROWS[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    step(direction, event, 'usual');
  };
  const button = (direction: 1 | -1, sign: string, verb: string) => (
    <button
      type="button"
      tabIndex={-1}
      aria-label={`${verb} ${name}`}
      disabled={stored === undefined}
      onClick={event => step(direction, event, size)}
    >
      {sign}
    </button>
  );
  return (
    <div
      class="gain"
      data-state={state}
      data-drastic={(change && isDrastic(gains.unit, change)) || undefined}
    >
      <div class="stepper" data-long={text.length > 7 || undefined}>
        {button(-1, '−', 'Lower')}
        <input
          type="text"
          inputMode="decimal"
          autocomplete="off"
          spellcheck={false}
          id={`gain-${place}`}
          aria-label={name}
          aria-describedby={`note-${place}`}
          aria-invalid={fault !== undefined || undefined}
          disabled={stored === undefined}
          value={text}
          style={{ '--digits': text.length }}
          onInput={event => gains.edit(pointer, event.currentTarget.value)}
          onChange={() => gains.tidy()}
          onKeyDown={onKeyDown}
        />
        {button(1, '+', 'Raise')}
      </div>
      <span class="note dim" id={`note-${place}`}>
        {fault ?? (change === undefined ? '' : `stored ${change.from}`)}
      </span>
    </div>
  );
}
