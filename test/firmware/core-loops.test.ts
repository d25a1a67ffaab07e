import { expect } from 'chai';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { LAP_M } from '../../sim/loops/course.js';
import { createCoreRobot } from '../../sim/pico/core-robot.js';
import {
  defaultGains,
  FLOAT32_MAX,
  type GainSet,
  type Mode,
  UNIT_LIST,
  type Unit,
} from '../../src/core/units.js';
import { decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  MODE_VALUES,
  REGISTERS,
  type Register,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { core as module } from './core.js';

/** The two controllers of a robot, on mechanics of their own. */
class Robot {
  readonly #controllers: ReadonlyMap<string, Controller>;
  readonly #step: () => void;

  constructor(make: (unit: Unit) => Controller, step: () => void) {
    this.#controllers = new Map(UNIT_LIST.map(unit => [unit.name, make(unit)]));
    this.#step = step;
  }

  write(unit: Unit, register: Register, values: Readonly<Record<string, number>>): void {
    this.#of(unit).write(register.address, encodeFrame(unit.address, register, values));
  }

  period(): void {
    for (const controller of this.#controllers.values()) controller.tick();
    this.#step();
  }

  telemetry(unit: Unit): Readonly<Record<string, number>> {
    const register = telemetryRegister(unit);
    const frame = this.#of(unit).read(register.address, frameBytes(register));
    return decodeFrame(unit.address, register, frame);
  }

  #of(unit: Unit): Controller {
    const controller = this.#controllers.get(unit.name);
    if (controller === undefined) throw new TypeError(`no ${unit.name}`);
    return controller;
  }
}

/**
 * The simulated firmware moves the mechanics. The core sees the same sensors and moves nothing. On its own mechanics,
 * the smallest rounding error could delay an encoder count by a period.
 */
function both(module: WebAssembly.Module): readonly [Robot, Robot] {
  const { physics, port, controller } = createCoreRobot(module, { seed: 1 });
  const core = (unit: Unit) =>
    controller(unit, { ...port(unit), drive: () => undefined, torque: () => undefined });
  return [
    new Robot(core, () => undefined),
    new Robot(
      unit => new SimulatedController(unit, physics.loops[unit.name], physics.loopRateHz, 1),
      physics.step,
    ),
  ];
}

function begin(robot: Robot, unit: Unit, mode: Mode, gains: GainSet = defaultGains(unit)): void {
  robot.write(unit, REGISTERS.heartbeat, { count: 0, silence_ms: 0 });
  for (const { slot, name } of unit.loops) robot.write(unit, gainsRegister(slot), { ...gains[name] });
  robot.write(unit, REGISTERS.commit, { checksum: gainsChecksum(unit, gains) });
  robot.write(unit, REGISTERS.mode, { mode: MODE_VALUES[mode] ?? 0 });
}

/** The largest difference between any two telemetry values, in counts, over this many loop periods. */
function largestDifference(robots: readonly [Robot, Robot], unit: Unit, periods: number): number {
  const { fields } = telemetryRegister(unit);
  let largest = 0;
  for (let period = 0; period < periods; period += 1) {
    const [simulated, core] = robots.map(robot => {
      robot.period();
      return robot.telemetry(unit);
    });
    for (const { name, scale = 0 } of fields) {
      const counts = Math.abs((simulated?.[name] ?? 0) - (core?.[name] ?? 0)) * scale;
      // At the end of the lap, the place starts again at 0.
      const around = name.startsWith('position') ? Math.abs(counts - LAP_M * scale) : counts;
      largest = Math.max(largest, Math.min(counts, around));
    }
  }
  return largest;
}

describe('the loops of the core', () => {
  for (const unit of UNIT_LIST) {
    for (const loop of unit.loops) {
      it(`step ${loop.name} as the simulated firmware does`, () => {
        const robots = both(module);
        for (const robot of robots) begin(robot, unit, 'debug');
        expect(largestDifference(robots, unit, 500)).to.be.at.most(2.01);
        const { slot, maxAmplitude, excitationPeriodS: period_s } = loop;
        for (const robot of robots)
          robot.write(unit, REGISTERS.excitation, { slot, amplitude: 0.3 * maxAmplitude, period_s });
        expect(largestDifference(robots, unit, 6000)).to.be.at.most(2.01);
      });
    }

    it(`end a wave of the ${unit.name} at its guard as the simulated firmware does`, () => {
      const loop = unit.loops.find(({ name }) => name.startsWith('angle'));
      if (loop === undefined) throw new TypeError('no angle loop');
      const robots = both(module);
      for (const robot of robots) begin(robot, unit, 'debug');
      const [amplitude, deviation] = [0.2 * loop.maxAmplitude, 0.15 * loop.maxAmplitude];
      for (const robot of robots)
        robot.write(unit, REGISTERS.guarded_excitation, {
          slot: loop.slot,
          amplitude,
          period_s: 2,
          deviation,
        });
      const setpoint = () => robots[0].telemetry(unit)[`${loop.name}.setpoint`] ?? Number.NaN;
      const before = setpoint();
      expect(largestDifference(robots, unit, 500)).to.be.at.most(2.01);
      expect(setpoint()).to.be.closeTo(before, 0.001);
    });

    it(`run the ${unit.name} in auto as the simulated firmware does`, () => {
      const robots = both(module);
      for (const robot of robots) for (const one of UNIT_LIST) begin(robot, one, 'auto');
      expect(largestDifference(robots, unit, 5000)).to.be.at.most(2.01);
    });
  }
});

describe('the core with extreme gains', () => {
  for (const unit of UNIT_LIST)
    it(`keeps the outputs of the ${unit.name} finite`, () => {
      const gains = { kp: FLOAT32_MAX, ki: -FLOAT32_MAX, kd: FLOAT32_MAX };
      const robots = both(module);
      for (const robot of robots)
        begin(robot, unit, 'auto', Object.fromEntries(unit.loops.map(({ name }) => [name, gains])));
      for (let period = 0; period < 2000; period += 1) for (const robot of robots) robot.period();
      const { fields } = telemetryRegister(unit);
      const outputs = fields.filter(({ name }) => name.endsWith('output'));
      for (const { name } of outputs)
        expect(Math.abs(robots[0].telemetry(unit)[name] ?? Number.NaN)).to.be.at.most(24);
    });
});
