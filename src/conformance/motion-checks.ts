import type { Axis, Rates, Unit } from '../core/units.js';
import { motionRegister } from '../protocol/registers.js';
import {
  eachMode,
  effect,
  enter,
  ifHas,
  keeps,
  latch,
  listed,
  reads,
  release,
  silence,
  wait,
  write,
} from './check.js';
import { near, type Procedure, same } from './host.js';

/** A frame with a higher rate cannot be written. */
const HIGHEST_RATE = 32.767;
/** A rate falls to 0 in this time, and the unit comes to rest. */
const SLOWDOWN_MS = 300;

/** The register `motion`. The axes move at a tenth of their greatest rates, for at most half a second. */
export function motionChecks(unit: Unit) {
  const motion = motionRegister(unit);
  const none = Object.fromEntries(motion.fields.map(({ name }) => [name, 0]));
  const ratesOf = (rate: (axis: Axis) => number): Rates =>
    Object.fromEntries(unit.axes.map(axis => [axis.name, rate(axis)]));
  const rateOf = ({ greatestRate }: Axis) => greatestRate / 10;
  const all = ratesOf(rateOf);
  const move = (rates: Rates, hold_ms = 500) => write(motion, { ...none, ...rates, hold_ms });
  const ends = (...steps: Procedure[]): Procedure =>
    ifHas('motion', [release, move(all), effect, reads(motion, all)], ...steps, reads(motion, none));

  const movesAndEnds = (axis: Axis): Procedure =>
    ifHas('motion', release, async host => {
      const of = async (value: string) => (await host.telemetry())[`${axis.loop}.${value}`] ?? 0;
      const from = await of('setpoint');
      await host.take([move({ [axis.name]: rateOf(axis) }, 200), wait(190)]);
      const way = (await of('setpoint')) - from;
      near(`${axis.loop}, way of the setpoint`, way, 0.18 * rateOf(axis), 0.05 * rateOf(axis));
      await host.take([wait(20), reads(motion, none), wait(SLOWDOWN_MS)]);
      const end = await of('setpoint');
      await host.wait(100);
      near(`${axis.loop}, setpoint after the motion`, await of('setpoint'), end, 0.002);
    });

  return {
    /** Without torque. */
    still: listed({
      'In another mode, while stopped or without torque, the frame is accepted and changes nothing.':
        eachMode(name => ifHas('motion', enter(name), keeps('refused', move(all)), reads(motion, none))),
    }),
    moving: listed({
      'The frame applies from the next loop period, for `hold_ms`.': Object.fromEntries(
        unit.axes.map(axis => [axis.name, movesAndEnds(axis)]),
      ),
      'In another mode, while stopped or without torque, the frame is accepted and changes nothing.': {
        'in debug, with torque': ifHas(
          'motion',
          release,
          enter('debug'),
          move(all),
          effect,
          reads(motion, none),
        ),
      },
      'The controller limits each rate to the greatest rate of its unit.': ifHas(
        'motion',
        [release, move(ratesOf(() => HIGHEST_RATE)), effect],
        async host => {
          const seen = await host.read(motion);
          await host.take(move({}));
          const isLimited = ({ name }: Axis) => seen[name] !== HIGHEST_RATE && seen[name] !== 0;
          same(`limited to ${JSON.stringify(seen)}`, unit.axes.every(isLimited), true);
        },
      ),
      'Both rates 0, or `hold_ms` 0, ends the motion.': {
        'both rates 0': ends(move({}), effect),
        '`hold_ms` 0': ends(move(all, 0), effect),
      },
      'A newer frame replaces the whole older one.': unit.axes.map(axis =>
        ifHas('motion', release, move(all), move({ [axis.name]: rateOf(axis) }), effect, [
          reads(motion, { ...ratesOf(() => 0), [axis.name]: rateOf(axis) }),
        ]),
      ),
      'the motion does not return with the torque.': {
        'after another mode': ends(enter('debug'), enter('manual')),
        'after the latch': ends(latch(1), latch(0)),
        'after silence': ends(silence, effect),
      },
      'Writing `manual` in `manual` does not end it.': ifHas(
        'motion',
        [release, move(all), enter('manual')],
        reads(motion, all),
      ),
    }),
  };
}
