import { expect } from 'chai';
import { encodeFrame } from '../../src/protocol/codec.js';
import { FLAGS, REGISTERS, RESET_CAUSES } from '../../src/protocol/registers.js';
import { ClockedRobot } from '../support/clocked-robot.js';

const FLAG = 1 << FLAGS.indexOf('build');

describe('build information of a controller (register `build`)', () => {
  let robot: ClockedRobot;
  const values = { image_crc: 0xbeef, longest_loop_us: 131, reset_cause: RESET_CAUSES.watchdog };
  const shown = { imageCrc: '0000beef', resetCause: 'watchdog', longestLoopUs: 131 };
  let isDamaged = false;

  beforeEach(async () => {
    robot = await ClockedRobot.start();
    values.longest_loop_us = 131;
    isDamaged = false;
  });
  afterEach(() => robot.end());

  /** From now on both controllers have the register `build`. */
  const updateFirmware = async () => {
    robot.alter(REGISTERS.status, ({ flags }) => ({ flags: flags | FLAG }));
    const { bus } = robot.sim.hardware;
    const read = bus.readBlock.bind(bus);
    bus.readBlock = async (address, register, length) => {
      if (register !== REGISTERS.build.address) return read(address, register, length);
      const build = encodeFrame(address, REGISTERS.build, values);
      return isDamaged ? build.fill(0, 7) : build;
    };
    await robot.restart();
  };
  const reads = () =>
    robot.frames.filter(({ unit, register }) => unit === 'gimbal' && register === 'build').length;

  it('is neither read nor shown in the status if the controller does not set the flag `build`', async () => {
    await robot.wait(100);
    expect(reads()).to.equal(0);
    expect(robot.gimbal.report().build).to.equal(undefined);
  });

  it('is read and shown in the status at the first contact, and read again every 10 s', async () => {
    await updateFirmware();
    await robot.wait(100);
    expect(robot.gimbal.report().build).to.deep.equal(shown);
    values.longest_loop_us = 200;
    await robot.wait(9000);
    expect(reads()).to.equal(1);
    await robot.wait(1000);
    expect(reads()).to.equal(2);
    expect(robot.gimbal.report().build).to.deep.equal({ ...shown, longestLoopUs: 200 });
  });

  it('is read again at once after a reset of the controller, and the status omits it until that read succeeds', async () => {
    await updateFirmware();
    await robot.wait(100);
    values.longest_loop_us = 7;
    robot.fault('gimbal', 'brownout');
    await robot.wait(100);
    expect(robot.gimbal.report().build?.longestLoopUs).to.equal(7);
    isDamaged = true;
    robot.fault('gimbal', 'brownout');
    await robot.wait(100);
    expect(robot.gimbal.report()).to.include({ online: true, build: undefined });
  });

  it('is requested at most three times a second if it cannot be read, and the unit stays online', async () => {
    isDamaged = true;
    await updateFirmware();
    await robot.wait(1000);
    expect(robot.gimbal.report()).to.include({ online: true, build: undefined });
    expect(reads()).to.be.within(1, 3);
  });
});
