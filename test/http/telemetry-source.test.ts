import { expect } from 'chai';
import { recentTelemetry, telemetrySource } from '../../src/http/telemetry-source.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('telemetry of the event stream', () => {
  let clocked: ClockedRobot;
  beforeEach(async () => {
    clocked = await ClockedRobot.start();
  });
  afterEach(() => clocked.end());
  it('is also kept in memory, at ten samples a second, without additional reads from the controllers', async () => {
    const read = () => clocked.frames.filter(({ register }) => register === 'telemetry').length;
    await clocked.wait(2000);
    const usual = read();
    clocked.frames.length = 0;
    const recent = recentTelemetry(clocked.robot, clocked.clock, 10);
    await clocked.wait(2000);
    const samples: Telemetry[] = JSON.parse(recent().toString());
    expect(samples).to.have.lengthOf(10);
    expect(recent(), 'made once for all callers').to.equal(recent());
    const [first, last] = [samples[0]!.t, samples.at(-1)!.t];
    expect(last - first).to.be.within(0.85, 1.3);
    expect(last).to.be.closeTo(clocked.clock.nowMs() / 1000, 0.2);
    expect(read()).to.be.closeTo(usual, 2);
    expect(samples.at(-1)?.chassis?.speed).to.have.all.keys('setpoint', 'measured', 'output');
  });
  it('has all loop readings, the chassis pose and whether the gimbal sees a target, but null for an offline unit', async () => {
    const samples: Telemetry[] = [];
    const end = telemetrySource(clocked.robot, clocked.clock).add(sample => samples.push(sample));
    await clocked.wait(60);
    const { gimbal, chassis } = samples.at(-1) ?? {};
    expect(gimbal).to.have.all.keys('visual_yaw', 'visual_pitch', 'angle_yaw', 'angle_pitch', 'target', 't');
    expect(chassis).to.have.all.keys('speed', 'angle', 'position', 'pose', 't');
    expect(chassis?.speed).to.have.all.keys('setpoint', 'measured', 'output');
    clocked.fault('chassis', 'unplug');
    await clocked.wait(500);
    end();
    expect(samples.at(-1)).to.include({ chassis: null });
  });
});
