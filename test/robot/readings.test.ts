import { expect } from 'chai';
import { perUnit } from '../../src/core/units.js';
import type { MotorUnit } from '../../src/robot/motor-unit.js';
import { ClockedRobot, isLike } from '../support/clocked-robot.js';

const HEARTBEAT = { unit: 'chassis', register: 'heartbeat' } as const;

describe('the daemon', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  /** The number of the chassis' frames with this register, per second. */
  const perSecond = async (register = 'telemetry') => {
    await robot.wait(100);
    robot.frames.length = 0;
    await robot.wait(1000);
    return robot.frames.filter(frame => frame.unit === 'chassis' && frame.register === register).length;
  };

  it('reads a unit in manual mode 50 times a second while a client follows the readings, and otherwise ten times a second', async () => {
    expect(await perSecond()).to.equal(10);
    const end = robot.robot.followed.add(() => undefined);
    expect(await perSecond()).to.equal(50);
    end();
    expect(await perSecond()).to.equal(10);
  });

  /** The age of each unit's reading at each emission, in milliseconds. Undefined while the unit is offline. */
  const ages = async (ms: number) => {
    const found: { atMs: number; gimbal: number | undefined; chassis: number | undefined }[] = [];
    const ageOf = ({ telemetry }: MotorUnit) => telemetry && robot.clock.nowMs() - telemetry.atMs;
    const end = robot.robot.followed.add(() => {
      const { clock, gimbal, chassis } = robot;
      found.push({ atMs: clock.nowMs(), gimbal: ageOf(gimbal), chassis: ageOf(chassis) });
    });
    await robot.wait(ms);
    end();
    // The first ones may be of a unit at rest.
    return found.slice(5);
  };

  it('sends readings to clients as soon as both units have been polled, not one poll later', async () => {
    robot.slow({}, 1);
    const found = await ages(1000);
    expect(found).to.have.lengthOf.within(44, 46);
    for (const { gimbal, chassis } of found) {
      expect(gimbal).to.be.at.most(2);
      expect(chassis).to.be.at.most(2);
    }
  });

  it('sends readings of one unit to clients at once while the other unit is offline', async () => {
    robot.fault('chassis', 'unplug');
    await robot.wait(300);
    const found = await ages(1000);
    expect(found).to.have.lengthOf.above(5);
    for (const { gimbal, chassis } of found) {
      expect(gimbal).to.equal(0);
      expect(chassis).to.equal(undefined);
    }
  });

  it('sends each new reading to clients at most 20 ms (one poll) after taking it, even if every frame of the chassis takes 30 ms', async () => {
    robot.slow({ unit: 'chassis' }, 30);
    const found = await ages(1000);
    for (const unit of ['gimbal', 'chassis'] as const) {
      // The age of each reading when it is given out for the first time, by the time at which it was taken.
      const firstAges = new Map<number, number>();
      for (const { atMs, [unit]: age = Number.POSITIVE_INFINITY } of found)
        if (!firstAges.has(atMs - age)) firstAges.set(atMs - age, age);
      expect(firstAges.size, unit).to.be.at.least(5);
      expect(Math.max(...firstAges.values()), unit).to.be.at.most(20);
    }
  });

  it('takes readings at every poll in auto, in debug and during a trial', async () => {
    robot.loops.chassis.isStill = true;
    for (const begin of [
      () => robot.chassis.setMode('auto'),
      () => robot.chassis.setMode('debug'),
      () => robot.chassis.setMode('manual').then(() => robot.tryGains(1)),
    ]) {
      await robot.during(begin());
      expect(await perSecond()).to.equal(50);
    }
  });

  it('reports a unit as offline when its readings have failed for 300 ms, even while no client follows them', async () => {
    robot.let({ unit: 'chassis', register: 'telemetry' }, 'fails');
    await robot.wait(300);
    expect(robot.chassis.report().online).to.equal(false);
  });

  it('still counts a unit as online after two failed polls in a row, but as offline after three', async () => {
    const failed = () => robot.events.filter(({ what }) => what === 'poll-failed').length;
    const isOnlineAfter = async (polls: number) => {
      const before = failed();
      robot.let({ unit: 'chassis' }, 'fails');
      for (let ms = 0; ms < 500 && failed() - before < polls; ms += 1) await robot.wait(1);
      const { online } = robot.chassis;
      robot.allIsWell();
      await robot.wait(100);
      return online;
    };
    const online: boolean[] = [];
    for (const polls of [2, 2, 3]) online.push(await isOnlineAfter(polls));
    expect(online).to.deep.equal([true, true, false]);
  });

  it('sends a unit at rest 4 to 21 heartbeats a second at every poll rate from 5 to 100 Hz', async () => {
    for (const pollHz of [5, 8, 10, 11, 12, 15, 20, 30, 50, 100]) {
      await robot.end();
      robot = await ClockedRobot.start({ pollHz });
      await robot.wait(200);
      const beatsMs: number[] = [];
      robot.each(HEARTBEAT, () => {
        beatsMs.push(robot.clock.nowMs());
        return undefined;
      });
      await robot.wait(1000);
      const gapsMs = beatsMs.slice(1).map((ms, index) => ms - (beatsMs[index] ?? 0));
      expect(Math.max(...gapsMs), `${pollHz} Hz`).to.be.below(Math.max(100, 1000 / pollHz) + 2);
      expect(beatsMs.length, `${pollHz} Hz`).to.be.within(4, 21);
      await robot.during(robot.chassis.setMode('auto'));
      expect(await perSecond('heartbeat'), `${pollHz} Hz, auto`).to.be.within(pollHz - 1, pollHz + 1);
    }
  });

  it('sends another heartbeat at the next poll if the last heartbeat was lost', async () => {
    await robot.wait(200);
    robot.each(HEARTBEAT, number => (number <= 6 ? 'fails' : undefined));
    robot.frames.length = 0;
    await robot.wait(100);
    expect(robot.frames.filter(frame => isLike(frame, HEARTBEAT))).to.have.length(7);
    expect(robot.chassis.report()).to.include({ online: true });
  });

  it('sends a heartbeat before the gains to a controller that was reset', async () => {
    for (let pauseMs = 0; pauseMs <= 60; pauseMs += 5) {
      await robot.wait(200 + pauseMs);
      robot.frames.length = 0;
      robot.fault('chassis', 'brownout');
      await robot.wait(400);
      const frames = robot.frames.filter(({ unit }) => unit === 'chassis');
      const after = frames.slice(frames.findIndex(({ register }) => register === 'identity'));
      const placeOf = (register: string) =>
        after.findIndex(frame => isLike(frame, { kind: 'write', register }));
      expect(placeOf('heartbeat'), `${pauseMs} ms`).to.be.within(0, placeOf('commit'));
    }
  });

  it('sends a unit at rest a heartbeat at every poll if the controller cuts its torque after 100 ms without a heartbeat', async () => {
    await robot.end();
    robot = await ClockedRobot.start({ silence: perUnit(() => ({ beforeMs: 500, givenMs: 100 })) });
    expect(await perSecond('heartbeat')).to.equal(50);
  });

  it('does not count a poll as delayed if the timer of the poll fires 0.4 ms too early, as timers of Node may do', async () => {
    const { clock } = robot;
    const inTime = clock.after.bind(clock);
    clock.after = (delayMs, act) => inTime(delayMs - 0.4, act);
    const { timerDelay } = robot.robot;
    const [before = 0] = timerDelay.counts;
    await robot.wait(200);
    expect(timerDelay.counts[0], 'measurements').to.be.above(before + 5);
    expect(timerDelay.sum).to.equal(0);
  });
});
