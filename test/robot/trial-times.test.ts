import { expect } from 'chai';
import type { GainSet } from '../../src/core/units.js';
import { ClockedRobot } from '../support/clocked-robot.js';

const LEASE_MS = 5000;
/** The host silence that the heartbeats of `ClockedRobot` give. */
const SILENCE_MS = 500;
/** A controller that comes back must run the journal's gains within this time. */
const BACK_MS = 4000;

describe('a trial', function () {
  this.timeout(120_000);
  let robot: ClockedRobot;
  let saved: GainSet;

  beforeEach(async () => {
    robot = await ClockedRobot.start();
    robot.loops.chassis.isStill = true;
    saved = robot.robot.store.current('chassis').gains;
  });
  afterEach(() => robot.end());

  const tryGains = () => robot.tryGains(1, { endsAtMs: robot.clock.nowMs() + LEASE_MS });
  /** Resolves with the milliseconds until the condition holds, or with more than BACK_MS if it does not hold by then. */
  const until = async (holds: () => boolean) => {
    const beganMs = robot.clock.nowMs();
    while (!holds() && robot.clock.nowMs() - beganMs <= BACK_MS) await robot.wait(10);
    return robot.clock.nowMs() - beganMs;
  };
  const isBack = () => robot.runningKp === saved.speed?.kp && robot.chassis.report().trial === undefined;

  it('ends, and the saved gains run again, within about a second after its lease expires, even if every third frame fails', async () => {
    for (const noise of [0, 7, 3]) {
      await robot.during(tryGains());
      // One frame in this many gets no answer.
      robot.each({}, number => (noise > 0 && number % noise === 0 ? 'fails' : undefined));
      await robot.wait(LEASE_MS - 100);
      expect(robot.runningKp, `${noise}`).to.equal(1);
      expect(await until(isBack), `${noise}`).to.be.below(1100);
      robot.allIsWell();
    }
  });

  it('is confirmed as ended only when the saved gains run, at whatever moment of a poll a caller ends the trial', async () => {
    for (let moment = 1; moment <= 12; moment += 1) {
      await robot.during(tryGains());
      let answered: Promise<unknown> | undefined;
      robot.each({ unit: 'chassis' }, number => {
        if (number === moment) answered = robot.chassis.gains.endTrial().then(() => robot.runningKp);
        return undefined;
      });
      while (answered === undefined) await robot.wait(1);
      expect(await robot.during(answered), `${moment}`).to.equal(saved.speed?.kp);
      robot.allIsWell();
    }
  });

  /** Begins a trial. Calls `end` at the chassis' `count`th frame from then on. */
  const interrupted = async (count: number, end: () => unknown) => {
    robot.each({ unit: 'chassis' }, number => {
      if (number === count) end();
      return undefined;
    });
    await tryGains().catch(() => undefined);
  };
  /** The frames at which a trial is interrupted: from the first one of its begin to some in the polls after it. */
  const MOMENTS = Array.from({ length: 20 }, (_, index) => 2 * index + 1);

  it('leaves the controller without torque if the daemon is killed, and ends within 4 s after the daemon starts again', async () => {
    for (const moment of MOMENTS) {
      let killed: Promise<void> | undefined;
      const begun = interrupted(moment, () => {
        killed = robot.kill();
      });
      while (killed === undefined) await robot.wait(1);
      await robot.during(Promise.all([begun, killed]));
      await robot.wait(SILENCE_MS + 20);
      expect(robot.truth('chassis').torque, `${moment}`).to.equal(false);
      await robot.wait(3000);
      expect(robot.truth('chassis').torque, `${moment}`).to.equal(false);
      const returnedMs = robot.clock.nowMs();
      await robot.restart();
      await until(isBack);
      expect(isBack(), `${moment}`).to.equal(true);
      expect(robot.clock.nowMs() - returnedMs, `${moment}`).to.be.below(BACK_MS);
    }
  });

  for (const [what, away] of [
    ['is reset at any moment of the trial', ['brownout']],
    ['is plugged in again, at whatever moment of the trial it was unplugged', ['unplug', 'plug']],
  ] as const) {
    it(`ends, and the controller has its torque again, within 4 s after the controller ${what}`, async () => {
      for (const moment of MOMENTS) {
        const [first, second] = away;
        let isAway = false;
        const begun = interrupted(moment, () => {
          robot.fault('chassis', first);
          isAway = true;
        });
        while (!isAway) await robot.wait(1);
        if (second !== undefined) {
          await robot.wait(SILENCE_MS + 20);
          expect(robot.truth('chassis').torque, `${moment}`).to.equal(false);
          await robot.wait(2000);
          robot.fault('chassis', second);
        } else expect(robot.truth('chassis').torque, `${moment}`).to.equal(false);
        const returnedMs = robot.clock.nowMs();
        await robot.during(begun, 5000);
        await until(() => isBack() && robot.truth('chassis').torque);
        expect([isBack(), robot.truth('chassis').torque], `${moment}`).to.deep.equal([true, true]);
        expect(robot.clock.nowMs() - returnedMs, `${moment}`).to.be.below(BACK_MS);
      }
    });
  }
});
