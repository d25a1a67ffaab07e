import { UNIT_LIST } from '../../core/units.js';
import type { LogEvent } from '../../schemas/log.js';
import type { Status, UnitStatus } from '../../schemas/status.js';
import { clockText } from './numbers.js';

/** Such as `restarted 03:51:20: laser on → dark`. `start` is the daemon's event, with the changes in its detail. */
export function daemonRestartText({ at, detail }: LogEvent, now: Date): string {
  const changes = String(detail?.changes ?? '');
  return `restarted ${clockText(at, now)}${changes === '' ? '' : `: ${changes}`}`;
}

/** The differences between the last status before a restart of the daemon and the first one after it, in words. */
export function changesByRestart(before: Status, after: Status): string[] {
  const change = (name: string, was: string | null, is: string | null) =>
    was === is || is === null ? [] : [`${name} ${was ?? 'unknown'} → ${is}`];
  const turn = (state: string, was: boolean, is: boolean) =>
    was === is ? [] : [`robot ${is ? 'now' : 'no longer'} ${state}`];
  const end = (name: string, was: boolean, is: boolean) => (was && !is ? [`${name} ended`] : []);
  return [
    ...change('laser', before.laser.light, after.laser.light),
    ...turn('stopped', before.stopped, after.stopped),
    ...turn('locked', before.match.lock !== null, after.match.lock !== null),
    ...change('match', before.match.phase, after.match.phase),
    ...UNIT_LIST.flatMap(({ name }) => {
      const [was, is] = [before[name], after[name]];
      const moves = ({ excitation }: UnitStatus) => excitation !== null && excitation.amplitude !== 0;
      return [
        ...change(name, was.mode, is.mode),
        ...end(`${name} test steps`, moves(was), moves(is)),
        ...end(`${name} trial`, was.gains.trial !== undefined, is.gains.trial !== undefined),
      ];
    }),
  ];
}
