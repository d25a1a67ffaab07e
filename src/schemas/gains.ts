import {
  defaultGains,
  FLOAT32_MAX,
  type GainBounds,
  type GainSet,
  type Gains,
  type Unit,
} from '../core/units.js';
import { growing, named, number, object, type Schema } from './schema.js';

/** The gains of one loop, as they are answered. */
export const loopGains = named('Gains', growing({ kp: number(), ki: number(), kd: number() }));

/** The gains of all loops of a unit. */
export function gainsBody(unit: Unit, bounds: GainBounds): Schema<GainSet> {
  const gain = (name: keyof Gains) => ({
    ...number(),
    minimum: Math.max(bounds[name]?.min ?? -FLOAT32_MAX, -FLOAT32_MAX),
    maximum: Math.min(bounds[name]?.max ?? FLOAT32_MAX, FLOAT32_MAX),
  });
  const gains = object({ kp: gain('kp'), ki: gain('ki'), kd: gain('kd') });
  const loops = Object.fromEntries(
    unit.loops.map(loop => [loop.name, { description: loop.title, ...gains }]),
  );
  return named(`${unit.title}Gains`, { ...object(loops), examples: [defaultGains(unit)] });
}
