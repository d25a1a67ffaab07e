import { expect } from 'chai';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('a trial that ends while a request gives its gains', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  const chassis = () => robot.robot.units.chassis;
  const asked = (kp: number) => {
    const gains = { ...robot.robot.store.current('chassis').gains, speed: { kp, ki: 0, kd: 0 } };
    return chassis().gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 1e9 });
  };
  /** Once, while gains are on their way to the controller. */
  const duringGains = (act: () => Promise<unknown>) => {
    let isDone = false;
    robot.intercept = ({ kind, register }) => {
      if (isDone || kind !== 'write' || register !== 'gains_0') return undefined;
      isDone = true;
      act().catch(() => undefined);
      return undefined;
    };
  };
  const isOver = async () => {
    await robot.wait(500);
    expect(chassis().state.trial).to.equal(undefined);
    expect(chassis().state.applied).to.equal(true);
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(40);
  };

  it('is not begun again by its renewal', async () => {
    await robot.during(asked(1));
    duringGains(() => chassis().gains.endTrial('ended'));
    expect(await robot.outcome(asked(2))).to.equal('trial-ended');
    await isOver();
  });

  it('is not begun by the request that a stop overtakes, new or renewed', async () => {
    for (const isRenewal of [false, true]) {
      if (isRenewal) await robot.during(asked(1));
      duringGains(() => robot.robot.stop());
      expect(await robot.outcome(asked(2))).to.be.oneOf(['stopped', 'trial-ended']);
      await isOver();
      expect(robot.truth('chassis').stopped).to.equal(true);
      await robot.during(robot.robot.resume());
    }
  });
});
