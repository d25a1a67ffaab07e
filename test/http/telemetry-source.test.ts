import { expect } from 'chai';
import { telemetrySource } from '../../src/http/telemetry-source.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('telemetry of the event stream', () => {
  let clocked: ClockedRobot;
  beforeEach(async () => {
    clocked = await ClockedRobot.start();
  });
  afterEach(() => clocked.end());
  it('has the readings of every loop, pose and target, and null of a unit that has gone', async () => {
    const samples: Telemetry[] = [];
    const end = telemetrySource(clocked.robot, clocked.clock).add(sample => samples.push(sample));
    await clocked.wait(60);
    const { gimbal, chassis } = samples.at(-1) ?? {};
    expect(gimbal).to.have.all.keys('visual_yaw', 'visual_pitch', 'angle_yaw', 'angle_pitch', 'target');
    expect(chassis).to.have.all.keys('speed', 'angle', 'position', 'pose');
    expect(chassis?.speed).to.have.all.keys('setpoint', 'measured', 'output');
    clocked.fault('chassis', 'unplug');
    await clocked.wait(500);
    end();
    expect(samples.at(-1)).to.include({ chassis: null });
  });
});
