import { expect } from 'chai';
import type { Controller } from '../../sim/firmware/simulated-controller.js';
import type { RobotMechanics } from '../../sim/physics/robot-mechanics.js';
import {
  defaultGains,
  type Gains,
  MODES,
  type Mode,
  type Rates,
  type Unit,
  unitNamed,
} from '../../src/core/units.js';
import { decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  motionRegister,
  REGISTERS,
  type Register,
  telemetryRegister,
} from '../../src/protocol/registers.js';

/** One controller with its mechanics. */
export interface MovedUnit {
  readonly controller: Controller;
  readonly mechanics: RobotMechanics;
  /** Runs one loop period. While `isBlocked`, the mechanics stand still. */
  period(isBlocked: boolean): void;
}

/** For each unit: an axis, its rate, the loop that shows its place, the deceleration, and room to move. */
const AXES = [
  { unit: 'gimbal', axis: 'yaw', rate: 1, loop: 'angle_yaw', decelerates: 10 },
  { unit: 'gimbal', axis: 'pitch', rate: -0.5, loop: 'angle_pitch', decelerates: 10 },
  { unit: 'chassis', axis: 'speed', rate: 0.5, loop: 'position', decelerates: 2 },
  { unit: 'chassis', axis: 'turn', rate: 1, loop: 'angle', decelerates: 10 },
] as const;

const HOLD_MS = 450;
/** A part of the greatest rate, how long the unit is blocked, and when it is freed after the end of the last command. */
const BLOCKED = [
  ...[1 / 3, 1].flatMap(part => [-400, -100, 0, 50].map(freedMs => ({ part, blockedMs: 300, freedMs }))),
  ...[-100, 0, 50].map(freedMs => ({ part: 1, blockedMs: 5000, freedMs })),
];

/** Gives the unit gains and torque, and moves it. */
export function driven(unit: Unit, { controller, period }: Omit<MovedUnit, 'mechanics'>) {
  const write = (register: Register, values: Readonly<Record<string, number>>) =>
    controller.write(register.address, encodeFrame(unit.address, register, values));
  const read = (register: Register): Readonly<Record<string, number>> =>
    decodeFrame(unit.address, register, controller.read(register.address, frameBytes(register)));
  const run = (ms: number, isBlocked = false) => {
    for (let passed = 0; passed < ms; passed += 1) period(isBlocked);
  };
  const motion = motionRegister(unit);
  for (const { slot, defaults } of unit.loops) write(gainsRegister(slot), { ...defaults });
  write(REGISTERS.commit, { checksum: gainsChecksum(unit, defaultGains(unit)) });
  write(REGISTERS.heartbeat, { count: 0, silence_ms: 0 });
  run(300);
  return {
    write,
    run,
    /** Commits the default gains with these changes. */
    gains: (changed: Readonly<Record<string, Gains>>) => {
      const gains = { ...defaultGains(unit), ...changed };
      for (const { name, slot } of unit.loops) write(gainsRegister(slot), { ...gains[name] });
      write(REGISTERS.commit, { checksum: gainsChecksum(unit, gains) });
      run(50);
    },
    excite: (name: string, amplitude: number) => {
      const slot = unit.loops.find(loop => loop.name === name)?.slot ?? 0;
      write(REGISTERS.guarded_excitation, { slot, amplitude, period_s: 1, deviation: 0 });
    },
    excitation: () => read(REGISTERS.guarded_excitation),
    mode: (mode: Mode) => write(REGISTERS.mode, { mode: MODES.indexOf(mode) }),
    move: (rates: Rates, holdMs: number) =>
      write(motion, {
        ...Object.fromEntries(unit.axes.map(({ name }) => [name, 0])),
        ...rates,
        hold_ms: holdMs,
      }),
    motion: () => read(motion),
    refused: () => read(REGISTERS.status).refused,
    place: (loop: string) => read(telemetryRegister(unit))[`${loop}.measured`] ?? Number.NaN,
    setpoint: (loop: string) => read(telemetryRegister(unit))[`${loop}.setpoint`] ?? Number.NaN,
  };
}

/** What docs/motor-protocol.md says of the register `motion`, for any controller of the two units. */
export function motionsOf(make: (unit: Unit) => MovedUnit): void {
  const start = (name: Unit['name']) => driven(unitNamed(name), make(unitNamed(name)));

  for (const { unit, axis, rate, loop, decelerates } of AXES) {
    const greatest = unitNamed(unit).axes.find(({ name }) => name === axis)?.greatestRate ?? Number.NaN;
    const none = Object.fromEntries(unitNamed(unit).axes.map(({ name }) => [name, 0]));

    it(`obeys a motion command for the ${unit} axis ${axis} until the command expires, then brakes and holds the ${unit} in place`, () => {
      const robot = start(unit);
      const from = robot.place(loop);
      robot.move({ [axis]: rate }, 400);
      robot.run(1);
      expect(robot.motion()).to.deep.equal({ ...none, [axis]: rate, hold_ms: 399 });
      robot.run(399);
      expect(robot.motion()).to.deep.equal({ ...none, hold_ms: 0 });
      const slowdownMs = Math.ceil((1000 * Math.abs(rate)) / decelerates) + 2;
      robot.run(slowdownMs);
      const held = robot.setpoint(loop);
      expect((held - from) * Math.sign(rate)).to.be.within(0.1 * Math.abs(rate), 0.45 * Math.abs(rate));
      robot.run(500);
      expect(robot.setpoint(loop)).to.be.closeTo(held, 0.001);
      expect(robot.place(loop)).to.be.closeTo(held, 0.02);
    });

    it(`makes up for less than 0.3 ${axis === 'speed' ? 'm' : 'rad'} of the missed motion after an obstacle has blocked the ${unit} axis ${axis}`, () => {
      for (const { part, blockedMs, freedMs } of BLOCKED) {
        const asked = part * greatest * Math.sign(rate);
        const robot = start(unit);
        const from = robot.place(loop);
        for (let passed = 0; passed < blockedMs; passed += 100) {
          robot.move({ [axis]: asked }, HOLD_MS);
          robot.run(100, true);
          expect(Math.abs(robot.setpoint(loop) - robot.place(loop))).to.be.at.most(0.301);
        }
        robot.run(HOLD_MS - 100 + freedMs, true);
        let furthest = 0;
        for (let passed = 0; passed < 1500; passed += 10) {
          robot.run(10);
          furthest = Math.max(furthest, Math.abs(robot.place(loop) - from));
        }
        const driven = Math.abs(asked) * (-freedMs / 1000) + asked ** 2 / (2 * decelerates);
        const most = 0.3 + (freedMs < 0 ? driven : 0);
        expect(furthest, `${asked}, blocked for ${blockedMs} ms, freed at ${freedMs} ms`).to.be.below(most);
      }
    });

    for (const [what, end] of [
      ['when the mode changes', (robot: ReturnType<typeof start>) => robot.mode('auto')],
      ['when the controller is latched', robot => robot.write(REGISTERS.stop, { stop: 1 })],
      ['when heartbeats stop', robot => robot.write(REGISTERS.heartbeat, { count: 1, silence_ms: 5 })],
      ['when a command with rates of 0 follows', robot => robot.move({}, 500)],
      ['when a command that lasts 0 ms follows', robot => robot.move({ [axis]: rate }, 0)],
    ] satisfies readonly (readonly [string, (robot: ReturnType<typeof start>) => void])[])
      it(`cancels a motion command for the ${unit} axis ${axis} ${what}, and does not continue it afterwards`, () => {
        const robot = start(unit);
        robot.move({ [axis]: rate }, 500);
        robot.run(50);
        end(robot);
        robot.run(20);
        expect(robot.motion()).to.deep.equal({ ...none, hold_ms: 0 });
        robot.write(REGISTERS.heartbeat, { count: 2, silence_ms: 0 });
        robot.write(REGISTERS.stop, { stop: 0 });
        robot.mode('manual');
        robot.run(30);
        expect(robot.motion()).to.deep.equal({ ...none, hold_ms: 0 });
      });

    it(`continues a motion command for the ${unit} axis ${axis} if the unit is in manual and is set to manual again`, () => {
      const robot = start(unit);
      robot.move({ [axis]: rate }, 500);
      robot.run(50);
      robot.mode('manual');
      robot.run(50);
      expect(robot.motion()).to.include({ [axis]: rate, hold_ms: 400 });
    });

    it(`accepts but ignores a motion command for the ${unit} axis ${axis} if the unit is not in manual or has no torque`, () => {
      for (const forbid of ['auto', 'debug', 'stop'] as const) {
        const robot = start(unit);
        const before = robot.refused();
        if (forbid === 'stop') robot.write(REGISTERS.stop, { stop: 1 });
        else robot.mode(forbid);
        robot.run(30);
        robot.move({ [axis]: rate }, 300);
        robot.run(2);
        expect(robot.motion(), forbid).to.deep.equal({ ...none, hold_ms: 0 });
        robot.write(REGISTERS.stop, { stop: 0 });
        robot.mode('manual');
        robot.run(30);
        expect([robot.motion().hold_ms, robot.refused()], forbid).to.deep.equal([0, before]);
      }
    });
  }

  for (const [what, unit, loop, begin] of [
    ['a chassis that drives its course', 'chassis', 'position', robot => robot.mode('auto')],
    [
      'a chassis that a motion command drives',
      'chassis',
      'position',
      robot => robot.move({ speed: 1.5 }, 500),
    ],
    ['a gimbal that a motion command turns', 'gimbal', 'angle_yaw', robot => robot.move({ yaw: 3 }, 500)],
  ] satisfies readonly (readonly [string, Unit['name'], string, (robot: ReturnType<typeof start>) => void])[])
    it(`moves ${what} by less than 0.3 m or rad if an obstacle blocks it, its mode changes, and the obstacle goes away`, () => {
      for (const modes of [['debug'], ['manual'], ['debug', 'manual']] as const) {
        const robot = start(unit);
        // Weak gains leave the output below its limit, so that the loop sums up all that it misses.
        if (unit === 'gimbal') robot.gains({ angle_yaw: { kp: 30, ki: 90, kd: 1 } });
        begin(robot);
        robot.run(400, true);
        if (unit === 'chassis') robot.run(1200, true);
        for (const mode of modes) {
          robot.mode(mode);
          robot.run(500, true);
        }
        const from = robot.place(loop);
        let furthest = 0;
        for (let passed = 0; passed < 1500; passed += 10) {
          robot.run(10);
          furthest = Math.max(furthest, Math.abs(robot.place(loop) - from));
        }
        expect(furthest, modes.join()).to.be.below(0.3);
      }
    });

  it('slows the chassis down from the speed that it has, not from the setpoint, if debug ends just after an edge of an excitation', () => {
    for (const [loop, amplitude, afterMs] of [
      ['speed', 1, 10],
      ['speed', 1, 505],
      ['position', 0.3, 505],
    ] as const) {
      const robot = start('chassis');
      robot.mode('debug');
      robot.run(20);
      robot.excite(loop, amplitude);
      robot.run(afterMs);
      const from = robot.place('position');
      robot.run(20);
      const speed = (robot.place('position') - from) / 0.02;
      robot.mode('manual');
      robot.run(1500);
      // Braking from this speed takes so much way. The mode counts its places from its beginning.
      const way = (Math.sign(speed) * speed ** 2) / 4;
      expect(robot.place('position'), `${loop} after ${afterMs} ms`).to.be.within(way - 0.1, way + 0.1);
    }
  });

  for (const [what, before, frames, shows] of [
    ['a motion', ['silence'], ['motion', 'heartbeat'], 'hold_ms'],
    ['an excitation', ['debug', 'silence'], ['excitation', 'heartbeat'], 'amplitude'],
    ['an excitation', ['debug', 'stop'], ['excitation', 'release'], 'amplitude'],
    ['an excitation that runs', ['debug', 'excitation'], ['stop', 'release'], 'amplitude'],
  ] as const)
    it(`forgets ${what} if, within one loop period, the frame “${frames[0]}” and then “${frames[1]}” follow on “${before.join('”, “')}”`, () => {
      const robot = start('gimbal');
      const write = {
        silence: () => robot.write(REGISTERS.heartbeat, { count: 1, silence_ms: 5 }),
        heartbeat: () => robot.write(REGISTERS.heartbeat, { count: 2, silence_ms: 0 }),
        stop: () => robot.write(REGISTERS.stop, { stop: 1 }),
        release: () => robot.write(REGISTERS.stop, { stop: 0 }),
        debug: () => robot.mode('debug'),
        excitation: () => robot.excite('angle_yaw', 0.1),
        motion: () => robot.move({ yaw: 1 }, 500),
      };
      const rest = robot.setpoint('angle_yaw');
      for (const frame of before) {
        write[frame]();
        robot.run(30);
      }
      for (const frame of frames) write[frame]();
      robot.run(30);
      expect({ ...robot.motion(), ...robot.excitation() }).to.include({ [shows]: 0 });
      expect(robot.setpoint('angle_yaw')).to.be.closeTo(rest, 0.01);
    });

  it('ends an excitation at once if manual and debug are written within one loop period', () => {
    const robot = start('gimbal');
    robot.mode('debug');
    robot.run(20);
    const rest = robot.setpoint('angle_yaw');
    robot.excite('angle_yaw', 0.2);
    robot.run(30);
    expect(robot.setpoint('angle_yaw')).to.be.closeTo(rest + 0.2, 0.01);
    robot.mode('manual');
    robot.mode('debug');
    robot.run(3);
    expect(robot.setpoint('angle_yaw')).to.be.closeTo(rest, 0.01);
  });

  it('turns the chassis as a motion command says after somebody has turned it by 200 degrees, and it has turned on to its old heading', () => {
    const unit = make(unitNamed('chassis'));
    const robot = driven(unitNamed('chassis'), unit);
    const { mechanics } = unit;
    mechanics.chassis = { ...mechanics.chassis, headingRad: mechanics.chassis.headingRad + 3.5 };
    robot.run(3000);
    const from = robot.place('angle');
    expect(from).to.be.closeTo(0, 0.05);
    robot.move({ turn: 0.05 }, 500);
    robot.run(100);
    expect(robot.setpoint('angle') - from).to.be.within(-0.05, 0.05);
  });

  it('does not let the output of a loop with a D term jump when a mode change sets the place of the chassis to 0', () => {
    const robot = start('chassis');
    robot.gains({ position: { kp: 3, ki: 0, kd: 0.2 } });
    for (let passed = 0; passed < 2000; passed += 400) {
      robot.move({ speed: 1.5 }, 450);
      robot.run(400);
    }
    robot.run(2500);
    expect(robot.place('position')).to.be.above(1);
    robot.mode('debug');
    robot.run(1);
    let furthest = 0;
    for (let passed = 0; passed < 300; passed += 1) {
      robot.run(1);
      furthest = Math.max(furthest, Math.abs(robot.setpoint('speed')));
    }
    expect(furthest).to.be.below(0.05);
  });

  it('obeys the newest motion command with its rates capped at their maximum, and refuses a command that lasts over 500 ms', () => {
    const robot = start('gimbal');
    const before = robot.refused() ?? Number.NaN;
    robot.move({ yaw: 30, pitch: -30 }, 500);
    robot.run(1);
    const greatest = robot.motion();
    expect(greatest.yaw).to.be.within(0.5, 29);
    expect(greatest.pitch).to.be.within(-29, -0.5);
    robot.move({ pitch: 0.25 }, 100);
    robot.run(1);
    expect(robot.motion()).to.deep.equal({ yaw: 0, pitch: 0.25, hold_ms: 99 });
    robot.move({ pitch: 1 }, 501);
    robot.run(1);
    expect(robot.motion()).to.deep.equal({ yaw: 0, pitch: 0.25, hold_ms: 98 });
    expect(robot.refused()).to.equal((before + 1) & 0xff);
  });
}
