import { defaultGains, FLOAT32_MAX, type GainBounds, type GainSet, type Unit } from '../core/units.js';
import * as s from './schema.js';

/** The gains of one loop in an answer. */
export const loopGains = s.answer('Gains', { kp: s.number(), ki: s.number(), kd: s.number() });

/** The gains of all loops of a unit. */
export function gainsBody(unit: Unit, bounds: GainBounds): s.Schema<GainSet> {
  const gain = (name: keyof GainBounds) => ({
    ...s.number(),
    minimum: Math.max(bounds[name]?.min ?? -FLOAT32_MAX, -FLOAT32_MAX),
    maximum: Math.min(bounds[name]?.max ?? FLOAT32_MAX, FLOAT32_MAX),
  });
  const gains = s.object({ kp: gain('kp'), ki: gain('ki'), kd: gain('kd') });
  const loops = Object.fromEntries(
    unit.loops.map(loop => [loop.name, { description: loop.title, ...gains }]),
  );
  return s.named(`${unit.title}Gains`, { ...s.object(loops), examples: [defaultGains(unit)] });
}
