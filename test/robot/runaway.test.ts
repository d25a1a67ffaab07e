import { expect } from 'chai';
import { unitNamed } from '../../src/core/units.js';
import { endRunawayTrials } from '../../src/robot/runaway.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('a trial whose loop runs away', () => {
  it('ends when a loop is past its bound, and not before', async () => {
    const clocked = await ClockedRobot.start();
    try {
      const { robot, clock } = clocked;
      endRunawayTrials(robot);
      const unit = robot.units.chassis;
      const { gains } = robot.store.current('chassis');
      const tried = { ...gains, speed: { kp: 1, ki: 0, kd: 0 } };
      // The measured value of the scripted speed loop grows by 1 m/s in a second, its setpoint stays at 0.
      const { runaway } = unitNamed('chassis').loops[0]!;
      await clocked.during(unit.gains.tryGains({ id: 'a', by: 'lab', gains: tried, endsAtMs: 1e9 }));
      await clocked.wait(1000 * runaway - clock.nowMs() - 50);
      expect(unit.trial?.id).equal('a');
      await clocked.wait(200);
      expect(unit.trial).equal(undefined);
      expect(clocked.events).deep.include({ what: 'trial', unit: 'chassis', by: 'lab', ended: 'runaway' });
      expect(clocked.truth('chassis').gains?.speed?.kp).equal(gains.speed?.kp);
    } finally {
      await clocked.end();
    }
  });

  it('goes on where a loop was past its bound before the trial began', async () => {
    const clocked = await ClockedRobot.start();
    try {
      const { robot, clock } = clocked;
      endRunawayTrials(robot);
      const unit = robot.units.chassis;
      const { gains } = robot.store.current('chassis');
      const { runaway } = unitNamed('chassis').loops[0]!;
      await clocked.wait(1000 * runaway - clock.nowMs() + 500);
      const tried = { ...gains, speed: { kp: 1, ki: 0, kd: 0 } };
      await clocked.during(unit.gains.tryGains({ id: 'a', by: 'lab', gains: tried, endsAtMs: 1e9 }));
      await clocked.wait(1000);
      expect(unit.trial?.id).equal('a');
    } finally {
      await clocked.end();
    }
  });
});
