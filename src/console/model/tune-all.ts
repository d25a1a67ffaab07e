import { effect } from '@preact/signals';
import { type UnitName, unitNamed } from '../../core/units.js';
import type { GainEdits } from './gain-edits.js';
import { type LoopChoice, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import { NO_CONTACT } from './tuning.js';

/** Tunes a unit's loops from the inside out. An outer loop stands on its inner ones, so what is better is saved before. */
export async function tuneAll(model: Model, unit: UnitName): Promise<void> {
  const { tuning, fresh } = model;
  tuning.ended.value = [];
  tuning.brokenOffBy.value = '';
  tuning.allOf.value = unit;
  const forget = effect(() => {
    // After a loop somebody may have stopped the robot and resumed it, and have his hands in it.
    const isBetween = tuning.ended.value.length > 0 && tuning.tunes[unit].value?.state !== 'running';
    if (isBetween && !fresh.value) tuning.breakOff(NO_CONTACT);
  });
  await tuneEach(model, unit, insideOut(unit));
  forget();
}

async function tuneEach(model: Model, unit: UnitName, loops: readonly LoopChoice[]): Promise<void> {
  const { tuning, status } = model;
  const gains = model.gains[unit];
  for (const [index, choice] of loops.entries()) {
    const { title } = loopOf(choice);
    const plan = loops.slice(index);
    const left = loops.slice(index + 1);
    const before = JSON.stringify(gains.stored.peek()?.gains[choice.loop]);
    tuning.plan.value = plan;
    if (index > 0 && status.peek()?.[unit].mode !== 'debug')
      return tuning.breakOff(`the ${unit} was no longer in debug mode`);
    const tune = await tuning.tune(choice);
    const isOver = tune !== undefined && tune.state !== 'aborted';
    if (isOver) tuning.ended.value = [...tuning.ended.value, tune];
    // Somebody has broken it off, and may have begun another.
    if (tuning.plan.peek() !== plan) return;
    if (!isOver) return tuning.breakOff(`${title} was not tuned to its end`);
    tuning.plan.value = left;
    const better = tune.state === 'better' ? tune.proposed?.gains : undefined;
    if (better === undefined) continue;
    await endOfSaving(gains);
    if (tuning.plan.peek() !== left) return;
    if (JSON.stringify(gains.stored.peek()?.gains[choice.loop]) !== before)
      return tuning.breakOff(`other gains of ${title} were saved meanwhile`);
    const isKept = await gains.saveLoop(choice.loop, better);
    if (tuning.plan.peek() !== left) return;
    if (!isKept) return tuning.breakOff(`the gains of ${title} could not be saved`);
  }
  tuning.allOf.value = undefined;
}

/** Whoever is at this page may be saving what they edited just as a loop ends. */
async function endOfSaving({ saving }: GainEdits): Promise<void> {
  let forget = () => {};
  await new Promise<void>(resolve => {
    forget = saving.pending.subscribe(what => {
      if (what === undefined) resolve();
    });
  });
  forget();
}

/** A loop comes after the one that its output goes to. */
function insideOut(unit: UnitName): LoopChoice[] {
  const { loops } = unitNamed(unit);
  const depthOf = (name: string): number => {
    const inner = loops.find(loop => loop.name === name)?.inner;
    return inner === undefined ? 0 : 1 + depthOf(inner);
  };
  return loops
    .map(({ name }) => ({ unit, loop: name }))
    .sort((one, other) => depthOf(one.loop) - depthOf(other.loop));
}
