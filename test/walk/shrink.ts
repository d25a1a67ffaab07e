import type { BrokenPromise } from './broken-promise.js';
import { ask, type History, type WalkStep, wait } from './history.js';
import type { WalkEnd } from './walk.js';

export interface Found {
  readonly history: History;
  readonly broken: BrokenPromise;
}

/** Finds a shorter history that breaks the same promise. First leaves out steps, then simplifies them. */
export async function shrink(
  found: Found,
  walk: (history: History) => Promise<Pick<WalkEnd, 'broken'>>,
): Promise<Found> {
  let best = found;
  const attempt = async (steps: readonly WalkStep[]): Promise<boolean> => {
    const history = { ...best.history, steps };
    const { broken } = await walk(history);
    if (broken?.promise !== best.broken.promise) return false;
    best = { history, broken };
    return true;
  };
  for (let size = Math.ceil(best.history.steps.length / 2); size >= 1; ) {
    let shorter = false;
    for (let at = best.history.steps.length - size; at >= 0; at -= size) {
      const { steps } = best.history;
      if (await attempt([...steps.slice(0, at), ...steps.slice(at + size)])) shorter = true;
    }
    if (size > 1) size = Math.floor(size / 2);
    else if (!shorter) break;
  }
  for (let at = 0; at < best.history.steps.length; at += 1) {
    for (const simpler of simplerThan(best.history.steps[at])) {
      if (await attempt(best.history.steps.with(at, simpler))) break;
    }
  }
  return best;
}

function simplerThan(step: WalkStep | undefined): readonly WalkStep[] {
  if (step?.do === 'wait') return [1, 5, 20, 100, 500].filter(ms => ms < step.ms).map(wait);
  if (step?.do === 'late') return [ask(step.request)];
  if (step?.do === 'fault' && step.fault.count !== undefined) {
    const { fault } = step;
    const counts = Array.from({ length: step.fault.count - 1 }, (_, less) => less + 1);
    return counts.map(count => ({ ...step, fault: { ...fault, count } }));
  }
  if (step?.do === 'ask' && step.hangUpAfterMs !== undefined) return [ask(step.request)];
  if (step?.do === 'end') {
    const plain: WalkStep = { do: 'end', how: 'term', left: 1, downMs: 0, controllersToo: false };
    return [plain, { ...plain, how: 'kill' }, { ...plain, how: 'cut', left: step.left }];
  }
  return [];
}
