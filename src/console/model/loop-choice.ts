import { type Loop, type Unit, type UnitName, unitNamed } from '../../core/units.js';

/** The loop whose plot, test steps and captured steps the page shows. */
export interface LoopChoice {
  readonly unit: UnitName;
  readonly loop: string;
}

export function keyOf({ unit, loop }: LoopChoice): string {
  return `${unit}/${loop}`;
}

export function loopOf({ unit, loop }: LoopChoice): Loop {
  const found = unitNamed(unit).loops.find(({ name }) => name === loop);
  if (found === undefined) throw new TypeError(`no loop named ${loop}`);
  return found;
}

/** The title of the loop with this name. An unknown loop has its name as title. */
export function loopNamed({ loops }: Unit, name: string) {
  return loops.find(loop => loop.name === name) ?? { title: name, quantity: '' };
}
