import { completeGains, type GainSet, type Unit } from '../../core/units.js';
import { changedLoops } from '../../gains/changed-loops.js';
import { comparison } from '../../schemas/history.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { get, type Route } from '../route.js';

/** Two sets of gains beside each other, by loop. Each is a revision or a profile. */
export function compareRoute({ robot, profiles, steps }: AppOptions, unit: Unit): Route {
  const { name: unitName, loops } = unit;
  const side = {
    ...s.text('The number of a revision (0: the defaults), or the name of a profile.'),
    minLength: 1,
  };
  const setOf = async (given: string) => {
    if (/^\d+$/.test(given)) {
      const saved = robot.store.revision(unitName, Number(given));
      const side = { revision: saved.revision, profile: null };
      return { side, gains: saved.gains, measured: steps.measuredOn(unitName, saved) };
    }
    const gains = completeGains(unit, (await profiles.named(unitName, given)).gains);
    const side = { revision: null, profile: given };
    return { side, gains, measured: steps.measuredWith(unitName, gains) };
  };
  return get(`/api/${unitName}/compare`, 'read', {
    id: `${unitName}Compare`,
    summary:
      'Two sets of gains by loop, with the newest step measured on each: `a` and `b` are revisions (0: the defaults) or profiles',
    query: s.growing({ a: side, b: side }),
    answer: comparison,
    problems: ['unknown-revision', 'unknown-profile', 'storage-failed'],
    act: async ({ query }) => {
      const [a, b] = [await setOf(query.a), await setOf(query.b)];
      const changed = changedLoops(a.gains, b.gains);
      const loopOf = (set: typeof a, loop: string, defaults: GainSet[string]) => ({
        gains: set.gains[loop] ?? defaults,
        measured: set.measured[loop] ?? null,
      });
      return {
        a: a.side,
        b: b.side,
        loops: Object.fromEntries(
          loops.map(({ name, defaults }) => [
            name,
            { differs: name in changed, a: loopOf(a, name, defaults), b: loopOf(b, name, defaults) },
          ]),
        ),
      };
    },
  });
}
