import { MODES, type Unit } from '../core/units.js';
import { frameBytes, MODE_VALUES, REGISTERS } from '../protocol/registers.js';
import {
  type Check,
  each,
  effect,
  enter,
  giveGains,
  heartbeat,
  ifGuarded,
  listed,
  reads,
  readsBack,
  repeat,
  type Step,
  shows,
  someGains,
  steps,
  wait,
  write,
} from './check.js';

const { stop, excitation, guarded_excitation } = REGISTERS;

export const IN_FORCE =
  'mode, stop, excitation, commit: from the frame until it is in force, reads back and shows in `status` | 20 ms';

/** The sentence about the latch. If its check fails, no further check is safe. */
export const LATCH =
  'The latch stays until it is released, whatever else happens on the bus, and however long the host is away.';

function staysLatched(...acts: readonly Step[]): Step {
  return steps(...acts, effect, reads(stop, { stop: 1 }), shows({ stopped: true }));
}

const isWithoutGains: Step = async host => {
  if (!(await host.shows('gains_committed'))) await host.mustShow({ active_checksum: 0 });
};

/** The other checks rely on these. They come before the checks that commit gains. */
export function latchChecks(): readonly Check[] {
  return listed({
    'no gains committed, none staged, `active_checksum` 0;': isWithoutGains,
    // `auto` is last, because it may move most.
    [LATCH]: each(['manual', 'debug', 'auto'], name => staysLatched(enter(name))),
  });
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
      shows({ silent: true }, 200),
    ],
    'The next heartbeat clears `silent`. Torque then returns if nothing else forbids it, and the unit continues in the same mode.':
      [
        steps(enter('auto'), heartbeat(20), shows({ silent: true }, 60)),
        steps(heartbeat(500), shows({ silent: false, mode: 'auto' }, 20)),
      ],
    '0 means that the controller waits for ever.': shows({ silent: false }, 1200),
    'Only heartbeats count. Other frames do not.': [
      heartbeat(100),
      repeat(8, enter('manual')),
      shows({ silent: true }, 20),
    ],
  });
}

/** The modes, and the wave of debug mode. */
export function modeChecks({ loops }: Unit): readonly Check[] {
  const waves = loops.map(({ slot, maxAmplitude }) => ({
    slot,
    amplitude: Math.fround(maxAmplitude),
    period_s: 2,
  }));
  const [wave = { slot: 0, amplitude: 0, period_s: 2 }] = waves;
  const guarded = { ...wave, deviation: 0.5 };
  const excite = write(excitation, wave);
  const isExcited = steps(effect, reads(excitation, wave));
  const limits = waves.flatMap(one =>
    [0.1, 20].map(period_s => ({ ...one, period_s: Math.fround(period_s) })),
  );
  return listed({
    [IN_FORCE]: each(MODES, name =>
      steps(enter(name), reads(REGISTERS.mode, { mode: MODE_VALUES[name] ?? 0 }), shows({ mode: name })),
    ),
    'A mode frame is accepted in every state, also while stopped, silent or without gains.': [
      heartbeat(20),
      shows({ silent: true }, 60),
      enter('auto'),
      shows({ mode: 'auto' }),
    ],
    'Entering `debug` from another mode sets the amplitude to 0, so that nothing moves until the host asks for it.':
      [excite, enter('debug'), reads(excitation, { amplitude: 0 })],
    'Writing the mode in force changes nothing and must not disturb the loops.': [
      enter('debug'),
      excite,
      enter('debug'),
      isExcited,
    ],
    'An excitation is accepted in every mode.': each(MODES, name =>
      steps(enter(name), readsBack(excitation, wave)),
    ),
    'The limits are compared as float32.': limits.map(one => readsBack(excitation, one)),
    'Firmware that has the register `guarded_excitation` sets the flag of that name.': async host => {
      const bytes = await host.bytes(guarded_excitation.address, frameBytes(guarded_excitation));
      await host.mustShow({ guarded_excitation: bytes.some(byte => byte !== 0) });
    },
    '`excitation` and `guarded_excitation` are the same wave.': ifGuarded(
      readsBack(guarded_excitation, guarded),
      isExcited,
    ),
    'Reading either of them returns the same wave, whichever of them was written last.': ifGuarded(
      excite,
      effect,
      reads(guarded_excitation, wave),
    ),
    'Writing `excitation` sets the deviation to 0.': ifGuarded(
      readsBack(guarded_excitation, guarded),
      steps(excite, effect, reads(guarded_excitation, { deviation: 0 })),
    ),
  });
}
