import { expect } from 'chai';
import type { FaultBody } from '../../sim/bus/faults.js';
import type { Physics } from '../../sim/firmware/unit-loops.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { isRobotError } from '../../src/core/errors.js';
import { defaultGains, perUnit, type UnitName, unitNamed } from '../../src/core/units.js';
import { isMissing } from '../../src/hardware/ports.js';
import { decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  type FieldValues,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
} from '../../src/protocol/registers.js';
import { ManualClock } from '../support/manual-clock.js';
import { ScriptedLoops } from '../support/scripted-loops.js';

function setUp(loopRateHz = 1000) {
  const clock = new ManualClock();
  const loops = perUnit(unit => new ScriptedLoops(unit));
  let steps = 0;
  const physics: Physics = {
    loops,
    loopRateHz,
    step: () => {
      steps += 1;
    },
  };
  return { clock, loops, steps: () => steps, ...handle(new SimulatedRobot({ clock, physics })) };
}

function handle(robot: SimulatedRobot) {
  const { bus, laser } = robot.hardware;
  if (isMissing(laser)) throw new Error('no pin');
  // biome-ignore lint/suspicious/noExplicitAny: tests look into a truth whose shape they assert.
  const truth = (): any => robot.truth();
  const ask = async (name: UnitName) => {
    const { address } = unitNamed(name);
    try {
      const frame = await bus.readBlock(address, REGISTERS.status.address, frameBytes(REGISTERS.status));
      return decodeFrame(address, REGISTERS.status, frame);
    } catch (error) {
      return isRobotError(error) ? error.code : error;
    }
  };
  const write = <R extends Register>(name: UnitName, register: R, values: FieldValues<R>) => {
    const { address } = unitNamed(name);
    return bus.writeBlock(address, register.address, encodeFrame(address, register, values));
  };
  const commit = async (name: UnitName) => {
    const unit = unitNamed(name);
    const gains = defaultGains(unit);
    for (const { slot, defaults } of unit.loops) await write(name, gainsRegister(slot), { ...defaults });
    await write(name, REGISTERS.commit, { checksum: gainsChecksum(unit, gains) });
  };
  return { robot, laser, truth, ask, write, commit };
}

describe('SimulatedRobot', () => {
  it('says that it is simulated, and shows the whole truth', () => {
    const { robot, truth } = setUp();
    const unit = {
      powered: true,
      boots: 1,
      mode: 'manual',
      stopped: false,
      torque: false,
      gains: null,
      axes: { scripted: true },
    };
    expect(robot.hardware.simulated).to.equal(true);
    expect(truth()).to.deep.equal({ laser: { level: 0 }, gimbal: unit, chassis: unit, lagMs: 0 });
  });

  it('shows active gains as the controller runs them', async () => {
    const { commit, truth } = setUp();
    await commit('chassis');
    const rounded = unitNamed('chassis').loops.map(({ name, defaults: { kp, ki, kd } }) => [
      name,
      { kp: Math.fround(kp), ki: Math.fround(ki), kd: Math.fround(kd) },
    ]);
    expect(truth().chassis.gains).to.deep.equal(Object.fromEntries(rounded));
    expect(truth().gimbal.gains).to.equal(null);
  });

  it('does whole loop periods in both units, and loses no part of one between looks', async () => {
    for (const [rateHz, ticks] of [
      [1000, 15],
      [500, 7],
    ] as const) {
      const { clock, loops, steps, truth } = setUp(rateHz);
      for (let look = 0; look < 10; look += 1) {
        await clock.advance(1.5);
        truth();
      }
      const { gimbal, chassis } = loops;
      expect([gimbal.commands.length, chassis.commands.length, steps()]).to.deep.equal([ticks, ticks, ticks]);
    }
  });

  it('is slower after a pause instead of racing, and says by how much', async () => {
    const { clock, steps, truth } = setUp();
    await clock.advance(10_000);
    expect(truth().lagMs).to.equal(8000);
    expect(steps()).to.equal(2000);
    await clock.advance(10);
    expect(truth().lagMs).to.equal(8000);
    expect(steps()).to.equal(2010);
  });

  it('goes on without an unplugged cable: that unit falls silent, the other and the laser notice nothing', async () => {
    const { clock, robot, ask, commit, truth, laser } = setUp();
    await commit('gimbal');
    robot.inject({ target: 'gimbal', fault: 'unplug' });
    for (let look = 0; look < 3; look += 1) {
      await clock.advance(200);
      expect(await ask('gimbal')).to.equal('nack');
    }
    expect(truth().gimbal).to.include({ powered: true, boots: 1, torque: false });
    laser.write(true);
    expect(truth().laser.level).to.equal(1);
    expect(await ask('chassis')).to.include({ boot_id: 1 });
    robot.inject({ target: 'gimbal', fault: 'plug' });
    expect(await ask('gimbal')).to.include({ boot_id: 1 });
  });

  it('brownout: a new start of one controller', async () => {
    const { robot, ask, commit, truth, loops } = setUp();
    await commit('gimbal');
    robot.inject({ target: 'gimbal', fault: 'brownout' });
    expect(truth().gimbal).to.include({ boots: 2, gains: null });
    expect(truth().chassis.boots).to.equal(1);
    expect(await ask('gimbal')).to.include({ boot_id: 2, active_checksum: 0 });
    expect([loops.gimbal.resets, loops.chassis.resets]).to.deep.equal([1, 0]);
  });

  describe('clear', () => {
    const faults: readonly FaultBody[] = [
      { target: 'gimbal', fault: 'nack' },
      { target: 'chassis', fault: 'unplug' },
      { target: 'pin', fault: 'nack' },
    ];
    const healthy = async ({ ask, laser }: ReturnType<typeof setUp>) => {
      const well: string[] = [];
      for (const name of ['gimbal', 'chassis'] as const) if ((await ask(name)) !== 'nack') well.push(name);
      try {
        laser.read();
        return [...well, 'pin'];
      } catch {
        return well;
      }
    };
    for (const [target, expected] of [
      ['gimbal', ['gimbal']],
      ['chassis', ['chassis']],
      ['pin', ['pin']],
      ['bus', ['gimbal', 'chassis', 'pin']],
    ] as const) {
      it(`on ${target} heals ${expected.join(', ')}`, async () => {
        const parts = setUp();
        for (const fault of faults) parts.robot.inject(fault);
        expect(await healthy(parts)).to.deep.equal([]);
        parts.robot.inject({ target, fault: 'clear' });
        expect(await healthy(parts)).to.deep.equal(expected);
      });
    }
  });

  it('leaves the laser as it is when the hardware is closed', async () => {
    const { robot, laser, truth, ask } = setUp();
    laser.write(true);
    await robot.hardware.close();
    expect(truth().laser.level).to.equal(1);
    expect(await ask('gimbal')).to.equal('bus-closed');
  });

  it('moves the same for the same seed', async () => {
    const run = async () => {
      const clock = new ManualClock();
      const robot = new SimulatedRobot({ clock, physics: createPhysics({ seed: 7 }) });
      const { commit, write, truth } = handle(robot);
      await commit('chassis');
      await write('chassis', REGISTERS.mode, { mode: 0 });
      for (let look = 0; look < 5; look += 1) {
        await clock.advance(50);
        truth();
      }
      return truth();
    };
    const first = await run();
    expect(first.chassis.axes.xM).to.not.equal(0);
    expect(await run()).to.deep.equal(first);
  });
});
