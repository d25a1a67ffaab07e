import type { Unit } from '../core/units.js';
import { capturePageRegister, REGISTERS } from '../protocol/registers.js';
import {
  type Check,
  eachMode,
  effect,
  enter,
  ifGuarded,
  latch,
  listed,
  reads,
  readsBack,
  release,
  shows,
  silence,
  wait,
  write,
} from './check.js';
import { amplitudeOf, Differs, type Host, near, type Procedure, same } from './host.js';

const { capture, capture_select, excitation, guarded_excitation } = REGISTERS;
const PERIOD_S = 0.5;

/** After the step, the setpoint has moved by this part of the amplitude. */
type Shift = readonly [step: Procedure, part: number];

/** The excitation of debug mode, its guard and its captures. The unit turns by a tenth of the largest amplitude. */
export function excitationChecks({ loops }: Unit): readonly Check[] {
  // A loop that holds an angle, so that the unit stays in place.
  const held = loops.find(({ name }) => name.startsWith('angle'));
  if (held === undefined) throw new TypeError('no angle loop');
  const amplitude = amplitudeOf(held);
  const excited = { slot: held.slot, amplitude, period_s: PERIOD_S };
  const guarded = { ...excited, deviation: Math.fround(amplitude / 2) };
  const begin: Procedure = [release, enter('debug')];
  const excite = (part: number, period_s: number) =>
    write(excitation, { ...excited, amplitude: Math.fround(part * amplitude), period_s });

  /** Takes the steps, and compares the setpoint after each with the one before the first. */
  const setpointIs =
    (...parts: Shift[]): Procedure =>
    async host => {
      const setpoint = async () => (await host.telemetry())[`${held.name}.setpoint`] ?? 0;
      const from = await setpoint();
      for (const [step, part] of parts) {
        await host.take(step);
        near(`${held.name}, setpoint`, await setpoint(), from + part * amplitude, amplitude / 10);
      }
    };
  const moves = (...parts: Shift[]): Procedure => [begin, setpointIs(...parts)];

  /** Waits for a capture of the excitation, and returns its header. */
  const captured = async (host: Host, period_s = PERIOD_S) => {
    const { number } = await host.read(capture);
    const start = [begin, write(excitation, { ...excited, period_s }), wait(1000)];
    await host.take([...start, write(capture_select, { page: 0 })]);
    const header = await host.read(capture);
    if (header.number === number) throw new Differs(`number is still ${number}`);
    return header;
  };

  /** Sets a guard that the first edge of the excitation exceeds. */
  const runsAway: Procedure = [
    [begin, write(guarded_excitation, guarded), effect],
    [shows({ ran_away: true, mode: 'debug', torque: true }), reads(excitation, { amplitude: 0 })],
  ];
  const recovers: Procedure = [effect, shows({ ran_away: false })];
  /** The first edge of this excitation is within its guard. The second is twice as high. */
  const wide = { ...excited, deviation: Math.fround(1.5 * amplitude) };

  /** After an excitation and these steps, the setpoint keeps its value for longer than half a period. */
  const endsWith = (...steps: Procedure[]): Procedure => [
    [begin, excite(1, 0.5), wait(100), steps, effect, shows({ torque: true, mode: 'debug' })],
    [reads(excitation, { amplitude: 0 }), setpointIs([wait(300), 0])],
  ];

  return listed({
    'An excitation is accepted in every mode.': eachMode(name => [
      [release, enter(name)],
      readsBack(excitation, excited),
    ]),
    'It moves something only in `debug`.': [release, setpointIs([[write(excitation, excited), effect], 0])],
    'So nothing moves when torque returns.': {
      'after a stop': endsWith(latch(1), latch(0)),
      'after silence of the host': endsWith(silence),
    },
    'Entering `debug` from another mode sets the amplitude to 0, so that nothing moves until the host asks for it.':
      [release, write(excitation, excited), effect, enter('debug'), reads(excitation, { amplitude: 0 })],
    'Writing the mode in force changes nothing and must not disturb the loops.': moves(
      [[write(excitation, { ...excited, period_s: 2 }), effect], 1],
      [[enter('debug'), reads(excitation, { ...excited, period_s: 2 })], 1],
    ),
    'The excitation starts with its positive half.': moves([[excite(1, 1), effect], 1]),
    'An amplitude or a period that is written while the excitation runs applies from the next edge.': moves(
      [[excite(1, 1), wait(100), excite(0.5, 0.5), wait(300)], 1],
      [wait(200), -0.5],
      [wait(250), 0.5],
    ),
    'If amplitude 0 is written while the excitation runs, it returns to 0 in a straight line, in 1 s.': moves(
      [[excite(1, 1), wait(100)], 1],
      [[excite(0, 1), wait(500)], 0.5],
      [wait(600), 0],
    ),
    'An amplitude that is written during the return begins a new excitation at once, with its positive half.':
      moves([[excite(1, 1), wait(600)], -1], [[excite(0, 1), wait(500)], -0.5], [[excite(1, 1), effect], 1]),
    'Half a period is rounded to a whole number of loop periods; .5 rounds up.': async host => {
      const { rate_hz, decimation, samples } = await captured(host, 0.125);
      same('samples', samples, 1 + Math.floor(Math.round(rate_hz / 16) / decimation));
    },
    'At each edge that moves the setpoint, the controller records setpoint and measured value of the excited loop.':
      async host => same('slot', (await captured(host)).slot, excited.slot),
    "`decimation` is the smallest number with which 256 samples reach to the next edge: half the excitation's period in loop periods, divided by 256, rounded up.":
      async host => {
        const { rate_hz, decimation } = await captured(host);
        same('decimation', decimation, Math.ceil(Math.round((PERIOD_S / 2) * rate_hz) / 256));
      },
    'the period of the edge, one after sample 0, is the first with the new setpoint.': async host => {
      const { decimation } = await captured(host);
      const page = await host.read(capturePageRegister(10_000));
      const step = Math.abs((page.setpoint_1 ?? 0) - (page.setpoint_0 ?? 0));
      const isStep = [1, 2].some(amplitudes => Math.abs(step - amplitudes * excited.amplitude) < 0.001);
      same(`a step of the setpoint between samples 0 and 1, ${decimation} periods apart`, isStep, true);
    },
    'A capture is kept for 1 s after each selection.': async host => {
      const { number } = await captured(host);
      await host.take([wait(700), reads(capture, { number })]);
    },
    'If the deviation is exceeded, the controller sets the amplitude to 0.': {
      'the setpoint is above the measured value': ifGuarded(runsAway),
      'the setpoint is below it': ifGuarded([
        [begin, write(guarded_excitation, wide), wait(400 * PERIOD_S)],
        [shows({ ran_away: false }), wait(200 * PERIOD_S), shows({ ran_away: true })],
      ]),
    },
    'It removes the excitation from the setpoint at once, without the usual straight line to 0.': ifGuarded(
      moves([[write(guarded_excitation, guarded), effect], 0]),
    ),
    'The fault `ran_away` is shown until an excitation frame of either register is accepted or the mode changes.':
      {
        'an excitation': ifGuarded(runsAway, write(excitation, { ...excited, amplitude: 0 }), recovers),
        'a mode': ifGuarded(runsAway, enter('manual'), recovers),
      },
    'Neither a stop nor writing the mode in force ends it.': ifGuarded(
      [runsAway, enter('debug'), latch(1)],
      shows({ ran_away: true }),
    ),
  });
}
