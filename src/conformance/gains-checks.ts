import { FLOAT32_MAX, type Unit } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import { gainsRegister } from '../protocol/registers.js';
import {
  type Check,
  commit,
  giveGains,
  keeps,
  listed,
  reads,
  shows,
  someGains,
  stage,
  steps,
  write,
} from './check.js';
import { IN_FORCE } from './state-checks.js';

/** Staging and commits. */
export function gainsChecks(unit: Unit): readonly Check[] {
  const { loops } = unit;
  const [first = gainsRegister(0)] = loops.map(({ slot }) => gainsRegister(slot));
  const set = (kp: number) => someGains(unit, kp);
  const checksum = (kp: number) => gainsChecksum(unit, set(kp));
  const give = (kp: number) => giveGains(unit, set(kp));
  const badCommit = steps(stage(set(3), loops), commit((checksum(3) ^ 1) >>> 0));
  const active = (kp: number) => ({ active_checksum: checksum(kp) });
  const bits = (count: number) => ({ staged: (1 << count) - 1 });
  const largest = { kp: FLOAT32_MAX, ki: -FLOAT32_MAX, kd: Math.fround(-1e-38) };
  return listed({
    'Staging changes nothing that runs.': keeps('active_checksum', stage(set(7), loops)),
    '`capture_select`, staging: until it reads back | the next transaction': loops.map(({ slot }) => {
      const gains = { kp: slot + 0.5, ki: -1, kd: 1e6 };
      return steps(write(gainsRegister(slot), gains), reads(gainsRegister(slot), gains));
    }),
    'One bit per slot: staged since the last commit or start.': [
      give(1),
      ...loops.map((loop, index) => steps(stage(set(1), [loop]), shows(bits(index + 1)))),
    ],
    'A loop may be staged several times before the commit; the last one counts.': [
      stage(set(8), loops),
      stage(set(9), loops),
      give(10),
      shows(active(10)),
    ],
    'Any finite gains are legal, negative ones included.': [write(first, largest), reads(first, largest)],
    [IN_FORCE]: { 'a commit': [give(2), shows({ ...active(2), gains_committed: true })] },
    'The controller judges a commit when the stop condition of its frame arrives. At once, either `staged` becomes 0 or `commit_refused` shows.':
      {
        'a good one': [stage(set(1), loops), commit(checksum(1)), shows({ staged: 0 })],
        'a wrong checksum': [badCommit, shows({ commit_refused: true })],
      },
    'The active gains and the staged gains stay as they are.': [
      give(4),
      keeps('refused', badCommit),
      shows({ ...active(4), ...bits(loops.length) }),
    ],
    'An incomplete set never becomes active: every loop must be staged again after each commit and after each start.':
      [
        steps(give(5), stage(set(5), loops.slice(1)), commit(checksum(5))),
        shows({ commit_refused: true, ...active(5) }),
      ],
    'with a commit that cannot be carried out | with the next commit that is carried out': [
      badCommit,
      give(1),
      shows({ commit_refused: false }),
    ],
    'Reading a gains frame returns the gains that were staged last, even after they were committed.': [
      give(6),
      ...loops.map(({ name, slot }) => reads(gainsRegister(slot), { ...set(6)[name] })),
    ],
  });
}
