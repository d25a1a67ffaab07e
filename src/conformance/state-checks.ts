import { FLOAT32_MAX, type Loop, MODES, type Unit } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  motionRegister,
  REGISTERS,
  type Register,
} from '../protocol/registers.js';
import {
  type Check,
  commit,
  eachMode,
  effect,
  enter,
  giveGains,
  heartbeat,
  ifGuarded,
  keeps,
  listed,
  reads,
  readsBack,
  shows,
  someGains,
  stage,
  wait,
  write,
} from './check.js';
import { type Procedure, same } from './host.js';

const { mode, stop, excitation, guarded_excitation } = REGISTERS;

const IN_FORCE =
  'mode, stop, excitation, commit: from the frame until it is in force, reads back and shows in `status` | 20 ms';

/** The sentence about the latch. All checks without torque rely on it. */
export const LATCH =
  'The latch stays until it is released, whatever else happens on the bus, and however long the host is away.';

function staysLatched(...acts: Procedure[]): Procedure {
  return [...acts, effect, reads(stop, { stop: 1 }), shows({ stopped: true })];
}

/** The other checks rely on these. They come before the checks that commit gains. */
export function latchChecks(): readonly Check[] {
  return listed({
    'While `gains_committed` is clear, `active_checksum` is 0.': async host => {
      const { gains_committed, active_checksum } = await host.status();
      if (!gains_committed) same('active_checksum', active_checksum, 0);
    },
    [LATCH]: eachMode(name => staysLatched(enter(name))),
  });
}

/** The controller gets nothing but these steps for longer than its host may be silent. */
function notHeard(...steps: Procedure[]): Procedure {
  return [heartbeat(100), Array<Procedure>(8).fill(steps), shows({ silent: true }, 20)];
}

/** The latch, and the host's silence. */
export function stopChecks(unit: Unit): readonly Check[] {
  return listed({
    [LATCH]: {
      'a stop that is refused': staysLatched(host => host.writeBytes(stop.address, Buffer.of(0, 0))),
      'silence of the host, and its return': staysLatched(heartbeat(20), wait(100), heartbeat(0)),
      'a commit': staysLatched(giveGains(unit, someGains(unit))),
    },
    'Write `stopped`: torque off at once, latched.': shows({ torque: false }),
    '`silence_ms` in a heartbeat is how long the controller waits for the next one.': [
      heartbeat(200),
      shows({ silent: false }, 100),
      shows({ silent: true }, 120),
    ],
    'The next heartbeat clears `silent`. Torque then returns if nothing else forbids it, and the unit continues in the same mode.':
      [
        [enter('auto'), heartbeat(20), shows({ silent: true }, 60)],
        [heartbeat(500), shows({ silent: false, mode: 'auto' }, 20)],
      ],
    '0 means that the controller waits for ever.': shows({ silent: false }, 1200),
    'Only heartbeats count. Other frames do not.': {
      'a mode frame': notHeard(enter('manual')),
      'a heartbeat with a wrong CRC': [
        notHeard(wait(20), host => host.writeBytes(REGISTERS.heartbeat.address, Buffer.of(0, 100, 0, 0))),
        // Refused frames show for a second.
        wait(1000),
      ],
      'a read': notHeard(wait(20), async host => void (await host.status())),
    },
  });
}

/** Excitations on the limits of the loop. */
function limits({ slot, maxAmplitude }: Loop): Procedure {
  return [0.1, 20].map(periodS =>
    write(excitation, { slot, amplitude: Math.fround(maxAmplitude), period_s: Math.fround(periodS) }),
  );
}

/** The flag of an optional register is set if, and only if, the register exists. Its frame would end with a CRC. */
function showsWhetherItHas(register: Register): Procedure {
  return async host => {
    const bytes = await host.bytes(register.address, frameBytes(register));
    await host.take(shows({ [register.name]: bytes.some(byte => byte !== 0) }));
  };
}

/** The modes, and the registers of its excitation in debug mode. */
export function modeChecks(unit: Unit): readonly Check[] {
  const { loops } = unit;
  const quiet = { slot: loops.length - 1, amplitude: 0, period_s: 2 };
  const excite: Procedure = [write(excitation, quiet), effect];
  const guard = readsBack(guarded_excitation, { ...quiet, deviation: 0.5 });
  return listed({
    [IN_FORCE]: eachMode(name => [
      [enter(name), shows({ mode: name })],
      reads(mode, { mode: MODES.indexOf(name) }),
    ]),
    'A mode frame is accepted in every state, also while stopped, silent or without gains.': [
      [heartbeat(20), shows({ silent: true }, 60)],
      [enter('auto'), shows({ mode: 'auto' })],
    ],
    'An excitation is accepted in every mode.': eachMode(name => [enter(name), readsBack(excitation, quiet)]),
    'without torque, the controller sets the amplitude to 0, and the amplitude of an accepted excitation frame reads back as 0.':
      eachMode(name => [
        [enter(name), write(excitation, { ...quiet, amplitude: 0.01 }), effect],
        [reads(excitation, quiet), shows({ frame_refused: false })],
      ]),
    'The limits are compared as float32.': keeps('refused', ...loops.map(limits)),
    'Firmware that has the register `guarded_excitation` sets the flag of that name.':
      showsWhetherItHas(guarded_excitation),
    'Firmware that has it sets the flag of that name.': showsWhetherItHas(motionRegister(unit)),
    '`excitation` and `guarded_excitation` set the same excitation.': ifGuarded(
      guard,
      reads(excitation, quiet),
    ),
    'Reading either of them returns the same excitation, whichever of them was written last.': ifGuarded([
      excite,
      reads(guarded_excitation, quiet),
    ]),
    'Writing `excitation` sets the deviation to 0.': ifGuarded([
      guard,
      excite,
      reads(guarded_excitation, { deviation: 0 }),
    ]),
  });
}

/** Staging and commits. */
export function gainsChecks(unit: Unit): readonly Check[] {
  const { loops } = unit;
  const set = (kp: number) => someGains(unit, kp);
  const checksum = (kp: number) => gainsChecksum(unit, set(kp));
  const stageAll = (kp: number) => stage(set(kp), loops);
  const give = (kp: number) => giveGains(unit, set(kp));
  const badCommit: Procedure = [stageAll(3), commit((checksum(3) ^ 1) >>> 0)];
  const active = (kp: number) => ({ active_checksum: checksum(kp) });
  const bits = (count: number) => ({ staged: (1 << count) - 1 });
  const largest = { kp: FLOAT32_MAX, ki: -FLOAT32_MAX, kd: Math.fround(-1e-38) };
  const readsStaged = (kp: number, of = loops): Procedure =>
    of.map(({ name, slot }) => reads(gainsRegister(slot), { ...set(kp)[name] }));
  return listed({
    'Staging changes nothing that runs.': keeps('active_checksum', stageAll(7)),
    '`capture_select`, staging: until it reads back | the next transaction': loops.map(loop => [
      stage(set(11), [loop]),
      readsStaged(11, [loop]),
    ]),
    'One bit per slot: staged since the last commit or start.': [
      give(1),
      ...loops.map((loop, index) => [stage(set(1), [loop]), shows(bits(index + 1))]),
    ],
    'A loop may be staged several times before the commit; the last one counts.': [
      [stageAll(8), stageAll(9)],
      [give(10), shows(active(10))],
    ],
    'Any finite gains are legal, negative ones included.': [
      write(gainsRegister(0), largest),
      reads(gainsRegister(0), largest),
    ],
    [IN_FORCE]: { 'a commit': [give(2), shows({ ...active(2), gains_committed: true })] },
    'The controller judges a commit when the stop condition of its frame arrives. At once, either `staged` becomes 0 or `commit_refused` shows.':
      {
        'a good one': [stageAll(1), commit(checksum(1)), shows({ staged: 0 })],
        'a wrong checksum': [badCommit, shows({ commit_refused: true })],
      },
    'A commit that is repeated after it was carried out finds nothing staged: it sets `commit_refused`, and the gains stay active.':
      [[give(1), commit(checksum(1))], shows({ commit_refused: true, ...active(1) })],
    'The active gains and the staged gains stay as they are.': [
      [give(4), keeps('refused', badCommit)],
      shows({ ...active(4), ...bits(loops.length) }),
    ],
    'An incomplete set never becomes active: every loop must be staged again after each commit and after each start.':
      [
        [give(5), stage(set(5), loops.slice(1)), commit(checksum(5))],
        shows({ commit_refused: true, ...active(5) }),
      ],
    'with a commit that cannot be carried out | with the next commit that is carried out': [
      [badCommit, give(1)],
      shows({ commit_refused: false }),
    ],
    'Reading a gains frame returns the gains that were staged last, even after they were committed.': [
      give(6),
      readsStaged(6),
    ],
  });
}
