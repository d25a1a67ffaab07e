import { measuredStep } from '../core/remembered-step.js';
import {
  array,
  count,
  growing,
  named,
  nullable,
  number,
  object,
  oneOf,
  record,
  type Schema,
  text,
  yesNo,
} from '../core/schema.js';
import {
  defaultGains,
  EXCITATION_PERIOD_S,
  type Excitation,
  FLOAT32_MAX,
  type GainBounds,
  type GainSet,
  type Gains,
  MODES,
  type Unit,
} from '../core/units.js';

export const modeBody = named('Mode', { ...object({ mode: oneOf(MODES) }), examples: [{ mode: 'manual' }] });
export const laserBody = named('LaserAction', {
  ...object({ action: oneOf(['on', 'off']) }),
  examples: [{ action: 'off' }],
});
export const restoreBody = named('Restore', {
  ...object({ revision: { ...count(), minimum: 1 } }),
  examples: [{ revision: 1 }],
});

/** The gains of all loops of a unit. */
export function gainsBody(unit: Unit, bounds: GainBounds): Schema<GainSet> {
  const gain = (name: keyof Gains) => ({
    ...number(),
    minimum: Math.max(bounds[name]?.min ?? -FLOAT32_MAX, -FLOAT32_MAX),
    maximum: Math.min(bounds[name]?.max ?? FLOAT32_MAX, FLOAT32_MAX),
  });
  const triple = (description: string) => ({
    description,
    ...object({ kp: gain('kp'), ki: gain('ki'), kd: gain('kd') }),
  });
  const loops = Object.fromEntries(unit.loops.map(loop => [loop.name, triple(loop.title)]));
  return named(`${unit.title}Gains`, { ...object(loops), examples: [defaultGains(unit)] });
}

export function excitationBody({ title, loops }: Unit): Schema<Excitation> {
  const amplitudes = loops.map(loop => ({
    if: { properties: { loop: { const: loop.name } }, required: ['loop'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { properties: { amplitude: { maximum: loop.maxAmplitude } } },
  }));
  const { min, max } = EXCITATION_PERIOD_S;
  const body = object({
    loop: oneOf(loops.map(loop => loop.name)),
    amplitude: { ...number("In the loop's unit; 0 moves nothing."), minimum: 0 },
    periodS: { ...number(), minimum: min, maximum: max },
  });
  const examples = loops.slice(0, 1).map(loop => ({ loop: loop.name, amplitude: 0.1, periodS: 2 }));
  return named(`${title}Excitation`, { ...body, allOf: amplitudes, examples });
}

export const laserState = named('LaserState', growing({ state: oneOf(['on', 'off'], 'As the pin says.') }));
export const stopState = named('StopState', growing({ stopped: yesNo() }));
export const health = named('Health', growing({ status: oneOf(['ok']) }));

export function history(gains: Schema<GainSet>) {
  const measured = record(
    measuredStep,
    'By loop: the newest step on this revision; absent where there is none.',
  );
  const saved = growing({ revision: count(), savedAt: nullable(text('ISO 8601.')), gains }, { measured });
  return array(named(`Saved${gains.title}`, saved));
}
