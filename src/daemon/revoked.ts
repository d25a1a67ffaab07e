import type { Autotune } from '../autotune/autotune.js';
import { UNIT_LIST } from '../core/units.js';
import type { Match } from '../match/match.js';
import type { Robot } from '../robot/robot.js';

/**
 * Frees the lease and ends trials and tunings, except those of these callers. All other callers have lost their
 * tokens.
 */
export function endAllButThoseOf(
  names: readonly string[],
  { robot, autotune, match }: { robot: Robot; autotune: Autotune; match: Match },
): void {
  match.lease.keepOnlyOf(names);
  for (const { name } of UNIT_LIST) {
    const { trial, gains } = robot.units[name];
    const tune = autotune.of(name);
    if (tune?.state === 'running' && !names.includes(tune.by))
      autotune.end('its token was removed').catch(() => undefined);
    if (trial !== undefined && !names.includes(trial.by)) gains.endTrial('ended').catch(() => undefined);
  }
}
