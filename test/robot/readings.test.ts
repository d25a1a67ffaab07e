import { expect } from 'chai';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('readings', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  const chassis = () => robot.robot.units.chassis;
  /** How often the chassis' readings are taken in a second. */
  const perSecond = async () => {
    await robot.wait(100);
    robot.frames.length = 0;
    await robot.wait(1000);
    return robot.frames.filter(({ unit, register }) => unit === 'chassis' && register === 'telemetry').length;
  };

  it('are taken at every poll while somebody follows them, and ten times a second while nobody does', async () => {
    expect(await perSecond()).to.equal(10);
    const end = robot.robot.followed.add(() => undefined);
    expect(await perSecond()).to.equal(50);
    end();
    expect(await perSecond()).to.equal(10);
  });

  it('are taken at every poll in a mode in which the unit moves by itself', async () => {
    for (const mode of ['auto', 'debug'] as const) {
      await robot.during(chassis().setMode(mode));
      expect(await perSecond(), mode).to.equal(50);
    }
  });

  it('make a unit offline that fail three times, also while nobody follows them', async () => {
    robot.intercept = ({ unit, register }) =>
      unit === 'chassis' && register === 'telemetry' ? 'fails' : undefined;
    await robot.wait(300);
    expect(chassis().state.online).to.equal(false);
  });

  it('are taken at every poll while gains are tried', async () => {
    const { gains } = robot.robot.store.current('chassis');
    await robot.during(chassis().gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 1e9 }));
    expect(await perSecond()).to.equal(50);
  });
});
