import { expect } from 'chai';
import { unitNamed } from '../../src/core/units.js';
import { endRunawayTrials } from '../../src/robot/runaway.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('a trial whose loop runs away', () => {
  // The measured value of the scripted speed loop grows by 1 m/s in a second, its setpoint stays at 0.
  const { runaway } = unitNamed('chassis').loops[0]!;
  let clocked: ClockedRobot;
  beforeEach(async () => {
    clocked = await ClockedRobot.start();
    endRunawayTrials(clocked.robot);
  });
  afterEach(() => clocked.end());

  const saved = () => clocked.robot.store.current('chassis').gains;
  const trial = () => clocked.robot.units.chassis.trial?.id;
  const begin = () => {
    const gains = { ...saved(), speed: { kp: 1, ki: 0, kd: 0 } };
    const { gains: unitGains } = clocked.robot.units.chassis;
    return clocked.during(unitGains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 1e9 }));
  };
  const waitUntil = (ms: number) => clocked.wait(ms - clocked.clock.nowMs());

  it('ends when a loop is past its bound, and not before', async () => {
    await begin();
    await waitUntil(1000 * runaway - 50);
    expect(trial()).equal('a');
    await clocked.wait(200);
    expect(trial()).equal(undefined);
    expect(clocked.events).deep.include({
      what: 'trial-ended',
      unit: 'chassis',
      detail: { by: 'lab', why: 'runaway' },
    });
    expect(clocked.truth('chassis').gains?.speed?.kp).equal(saved().speed?.kp);
  });

  it('ends where a loop is past its bound at the first look after the trial began', async () => {
    await waitUntil(1000 * runaway - 30);
    clocked.intercept = async ({ unit, register }) => {
      const { trial } = clocked.robot.units.chassis;
      // Nothing is read of the new gains until they have driven the loop away.
      if (unit === 'chassis' && register === 'telemetry' && trial !== undefined) {
        if (clocked.clock.nowMs() < 1000 * runaway + 5) return 'fails';
      }
      return undefined;
    };
    await begin();
    await clocked.wait(200);
    expect(clocked.events).deep.include({
      what: 'trial-ended',
      unit: 'chassis',
      detail: { by: 'lab', why: 'runaway' },
    });
  });

  it('goes on where a loop was past its bound before the trial began', async () => {
    await waitUntil(1000 * runaway + 500);
    await begin();
    await clocked.wait(1000);
    expect(trial()).equal('a');
  });

  it('goes on where a loop was past its bound just before the trial began, and nobody followed the readings', async () => {
    const unfollow = clocked.robot.followed.add(() => undefined);
    await waitUntil(1000 * runaway - 10);
    unfollow();
    await waitUntil(1000 * runaway + 30);
    expect(clocked.robot.units.chassis.telemetry?.loops.speed?.measured).to.be.below(runaway);
    await begin();
    await clocked.wait(300);
    expect(trial()).equal('a');
  });
});
