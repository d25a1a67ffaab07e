import { EXCITATION_PERIOD_S, type Excitation, type UnitName, unitNamed } from '../core/units.js';
import { ActGroup } from './act-group.js';
import type { Api } from './api.js';
import { element, setAttribute, setText } from './dom.js';
import { keyOf, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import { parseGain } from './numbers.js';
import type { Panel } from './panel.js';

/** Chooses what debug mode adds to the setpoint of the chosen loop. */
export function createExcitationForm(model: Model, api: Api): Panel {
  const group = new ActGroup('Excitation', 'excitation', update);
  const field = (label: string) =>
    element('input', {
      type: 'text',
      class: 'value',
      inputmode: 'decimal',
      autocomplete: 'off',
      'aria-label': label,
    });
  const amplitude = field('Amplitude');
  const period = field('Period in seconds');
  period.value = String(EXCITATION_PERIOD_S.default);
  const limit = element('span');
  const start = element('button', { type: 'submit', class: 'primary' }, 'Excite');
  const end = element('button', { type: 'button', onclick: () => excite(0) }, 'End');
  const now = element('p', { class: 'hint', role: 'status' });
  const submit = (event: Event) => {
    event.preventDefault();
    excite(numberIn(amplitude));
  };
  group.fill(
    element(
      'form',
      { class: 'fields', novalidate: true, onsubmit: submit },
      element('label', {}, limit, amplitude),
      element('label', {}, 'Period, s', period),
      start,
      end,
    ),
    now,
  );
  /** In force, as far as this page was told. */
  let known: { readonly unit: UnitName; readonly excitation: Excitation } | undefined;
  let asked: UnitName | undefined;
  let suggestedFor = '';

  function excite(size: number | null): void {
    const { unit, loop } = model.choice;
    const body = { loop, amplitude: size, periodS: numberIn(period) };
    void group.act(size === 0 ? 'end' : 'excite', async () => {
      const outcome = await api.post<Excitation>(`/api/${unit}/excitation`, body);
      if ('body' in outcome) known = { unit, excitation: outcome.body };
      return outcome;
    });
  }

  async function ask(unit: UnitName): Promise<void> {
    asked = unit;
    const outcome = await api.get<Excitation>(`/api/${unit}/excitation`);
    if ('body' in outcome) known = { unit, excitation: outcome.body };
    update();
  }

  function update(): void {
    const { unit } = model.choice;
    const { quantity, maxAmplitude } = loopOf(model.choice);
    const debugging = model.status?.[unit].mode === 'debug';
    if (suggestedFor !== keyOf(model.choice)) amplitude.value = String(maxAmplitude / 4);
    suggestedFor = keyOf(model.choice);
    if (!debugging && asked === unit) asked = undefined;
    if (!debugging && known?.unit === unit) known = undefined;
    if (debugging && asked !== unit && known?.unit !== unit) void ask(unit);
    setText(limit, `± ${quantity}, to ${maxAmplitude}`);
    for (const control of [amplitude, period, start, end]) setAttribute(control, 'disabled', !debugging);
    setAttribute(start, 'aria-busy', group.pending === 'excite');
    setAttribute(end, 'aria-busy', group.pending === 'end');
    setText(
      now,
      debugging
        ? nowText(unit)
        : `Put the ${unitNamed(unit).title.toLowerCase()} in debug to excite a loop and capture its steps.`,
    );
  }

  function nowText(unit: UnitName): string {
    if (known?.unit !== unit) return '';
    const { loop, amplitude: size, periodS } = known.excitation;
    if (size === 0) return 'Nothing is excited.';
    const { title, quantity } = loopOf({ unit, loop });
    return `${title}: ±${size} ${quantity} every ${periodS} s. Each edge is captured.`;
  }
  return { element: group.element, update };
}

/** Null for what is no number: the daemon says so in words. */
function numberIn(input: HTMLInputElement): number | null {
  const parsed = parseGain(input.value);
  return 'value' in parsed ? parsed.value : null;
}
