import type { Unit } from '../core/units.js';
import { capturePageRegister, REGISTERS } from '../protocol/registers.js';
import {
  beats,
  type Check,
  effect,
  enter,
  heartbeat,
  ifGuarded,
  latch,
  listed,
  reads,
  shows,
  wait,
  write,
} from './check.js';
import { Differs, type Host, type Step, same } from './host.js';

const { capture, capture_select, excitation, guarded_excitation } = REGISTERS;
const PERIOD_S = 0.5;

/** Gives torque in manual. Heartbeats keep it on. */
const release: Step = [beats(true), latch(0)];

/** In these checks motors have torque, with the gains that the controller had before. */
export function movingChecks({ loops }: Unit): readonly Check[] {
  // A loop that holds an angle, so that the unit stays in place.
  const held = loops.find(({ name }) => name.startsWith('angle'));
  if (held === undefined) throw new TypeError('no angle loop');
  const wave = { slot: held.slot, amplitude: Math.fround(held.maxAmplitude / 10), period_s: PERIOD_S };
  const guarded = { ...wave, deviation: Math.fround(wave.amplitude / 2) };

  /** Waits for a capture of the wave, and returns its header. */
  const captured = async (host: Host) => {
    const { number } = await host.read(capture);
    const start = [release, enter('debug'), write(excitation, wave), wait(2000 * PERIOD_S)];
    await host.take([...start, write(capture_select, { page: 0 })]);
    const header = await host.read(capture);
    if (header.number === number) throw new Differs(`number is still ${number}`);
    return header;
  };

  /** Sets a guard that the first edge of the excitation exceeds. */
  const runsAway: Step = [
    [release, enter('debug'), write(guarded_excitation, guarded), effect],
    [shows({ ran_away: true, mode: 'debug', torque: true }), reads(excitation, { amplitude: 0 })],
  ];
  const recovers: Step = [effect, shows({ ran_away: false })];

  return listed({
    'It is set if, and only if, all of these hold:': [release, shows({ torque: true })],
    'Write `stopped`: torque off at once, latched.': [release, latch(1), shows({ torque: false })],
    'Silence never latches.': [
      [release, beats(false), heartbeat(20), shows({ torque: false }, 60)],
      [heartbeat(300), effect, shows({ torque: true })],
    ],
    'At each edge that moves the setpoint, the controller records setpoint and measured value of the excited loop.':
      async host => same('slot', (await captured(host)).slot, wave.slot),
    "`decimation` is the smallest number with which 256 samples reach to the next edge: half the wave's period in loop periods, divided by 256, rounded up.":
      async host => {
        const { rate_hz, decimation } = await captured(host);
        same('decimation', decimation, Math.ceil(Math.round((PERIOD_S / 2) * rate_hz) / 256));
      },
    'the period of the edge, one after sample 0, is the first with the new setpoint.': async host => {
      const { decimation } = await captured(host);
      const page = await host.read(capturePageRegister(10_000));
      const step = Math.abs((page.setpoint_1 ?? 0) - (page.setpoint_0 ?? 0));
      const isStep = [1, 2].some(amplitudes => Math.abs(step - amplitudes * wave.amplitude) < 0.001);
      same(`a step of the setpoint between samples 0 and 1, ${decimation} periods apart`, isStep, true);
    },
    'A capture is kept for 1 s after each selection.': async host => {
      const { number } = await captured(host);
      await host.take([wait(700), reads(capture, { number })]);
    },
    'If the deviation is exceeded, the controller sets the amplitude to 0.': ifGuarded(runsAway),
    'The fault `ran_away` is shown until an excitation frame of either register is accepted or the mode changes.':
      {
        'an excitation': ifGuarded(runsAway, write(excitation, { ...wave, amplitude: 0 }), recovers),
        'a mode': ifGuarded(runsAway, enter('manual'), recovers),
      },
  });
}
