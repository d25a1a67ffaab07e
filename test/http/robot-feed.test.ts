import { expect } from 'chai';
import { Listeners } from '../../src/core/listeners.js';
import { robotFeed } from '../../src/http/robot-feed.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { statusWith } from '../support/status.js';

describe('what the stream shows of a robot', () => {
  let clocked: ClockedRobot;
  beforeEach(async () => {
    clocked = await ClockedRobot.start();
  });
  afterEach(() => clocked.end());
  const feedOf = ({ robot, clock }: ClockedRobot) =>
    robotFeed(
      {
        robot,
        clock,
        eventLog: { recorded: new Listeners() },
        autotune: { changed: new Listeners() },
        steps: { captured: new Listeners() },
      },
      () => statusWith({}),
    );

  it('says that it drives while one unit is in another mode than manual', async () => {
    const feed = feedOf(clocked);
    expect(feed.isDriven()).to.equal(false);
    await clocked.during(clocked.robot.units.chassis.setMode('auto'));
    expect(feed.isDriven()).to.equal(true);
    await clocked.during(clocked.robot.units.chassis.setMode('manual'));
    expect(feed.isDriven()).to.equal(false);
  });

  it('has the readings of every loop, pose and target, and null of a unit that has gone', async () => {
    const samples: Telemetry[] = [];
    const end = feedOf(clocked).onTelemetry(sample => samples.push(sample));
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
