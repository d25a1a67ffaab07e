import { isVisual } from '../core/loop-controllers.js';
import type { Loop, Unit } from '../core/units.js';
import { REGISTERS } from '../protocol/registers.js';
import {
  beats,
  type Check,
  eachMode,
  effect,
  enter,
  heartbeat,
  latch,
  listed,
  release,
  shows,
  wait,
  withoutTorque,
} from './check.js';
import { excitationChecks } from './excitation-checks.js';
import { amplitudeOf, guardOf, near, type Procedure } from './host.js';
import { motionChecks } from './motion-checks.js';

const { excitation, guarded_excitation } = REGISTERS;

/** The sentence about the direction. If its check fails, a motor may turn the wrong way. */
export const FOLLOWS = 'A positive output moves the measured value of its loop in the positive direction.';

/** The camera's first pictures arrive within this time after debug mode began. */
const PICTURES_MS = 200;

/** The measured value follows the first step of an excitation. A loop without a target in the middle of the picture passes. */
function follows(loop: Loop): Procedure {
  const { name, slot, excitationPeriodS: period_s } = loop;
  const amplitude = amplitudeOf(loop);
  const asked = { slot, amplitude, period_s };
  return async host => {
    await host.take([enter('debug'), release, wait(PICTURES_MS)]);
    const { [`${name}.measured`]: offset = 0 } = await host.telemetry();
    const { target_visible, guarded_excitation: hasGuard } = await host.status();
    if (isVisual(loop) && !(target_visible && Math.abs(offset) < amplitude)) return;
    await (hasGuard
      ? host.write(guarded_excitation, { ...asked, deviation: guardOf(loop) })
      : host.write(excitation, asked));
    await host.wait(300 * period_s);
    if ((await host.status()).ran_away) await host.runsAway(`${name} ran away`);
    const { [`${name}.setpoint`]: setpoint = 0, [`${name}.measured`]: measured = 0 } = await host.telemetry();
    near(`${name}, measured`, measured, setpoint, amplitude / 2);
  };
}

/** In these checks motors have torque, with the gains that the controller had before. */
export function movingChecks(unit: Unit): readonly Check[] {
  const byLoop = unit.loops.map(loop => [
    isVisual(loop) ? `${loop.name}, if it sees a target in the middle of the picture` : loop.name,
    follows(loop),
  ]);
  return [
    ...listed({
      [FOLLOWS]: Object.fromEntries(byLoop),
      'It is set if, and only if, all of these hold:': [release, shows({ torque: true })],
      'Write `stopped`: torque off at once, latched.': eachMode(name => [
        [release, enter(name), shows({ torque: true })],
        [latch(1), shows({ torque: false }), withoutTorque],
      ]),
      'Silence never latches.': eachMode(name => [
        [release, enter(name), beats(false), heartbeat(20), shows({ torque: false }, 60), withoutTorque],
        [heartbeat(300), effect, shows({ torque: true, mode: name })],
      ]),
    }),
    ...excitationChecks(unit),
    ...motionChecks(unit).moving,
  ];
}
