import { expect } from 'chai';
import { UNIT_LIST, type UnitName, unitNamed } from '../../src/core/units.js';
import { frameBytes, registerMap } from '../../src/protocol/registers.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { outcomeOf } from '../support/code-of.js';

/** The duration of every frame, about as on a bus of 400 kHz. */
const FRAME_MS = 1;
const FOR_MS = 2000;
/** Eight bits and the acknowledgement. */
const BITS_PER_BYTE = 9;

describe('while callers keep the bus busy', function () {
  this.timeout(20_000);
  let clocked: ClockedRobot;
  beforeEach(async () => {
    clocked = await ClockedRobot.start();
    clocked.intercept = async () => {
      await clocked.pause(FRAME_MS);
      return undefined;
    };
  });
  afterEach(() => clocked.end());

  const saveOf = (name: UnitName, turn: number) => {
    const gains = unitNamed(name).loops.map(loop => [loop.name, { kp: 1 + turn, ki: 0, kd: 0 }] as const);
    return clocked.robot.units[name].gains.save(Object.fromEntries(gains));
  };
  const switchOf = (name: UnitName, turn: number) =>
    clocked.robot.units[name].setMode(turn % 2 === 0 ? 'auto' : 'manual');

  for (const [what, act] of [
    ['saves', saveOf],
    ['mode switches', switchOf],
  ] as const) {
    it(`with back-to-back ${what} of both units, both units stay online and the gimbal's readings are at most 100 ms old`, async () => {
      const { clock, robot, events } = clocked;
      const unfollow = robot.followed.add(() => undefined);
      const untilMs = clock.nowMs() + FOR_MS;
      let isDone = false;
      const callers = UNIT_LIST.flatMap(({ name }) =>
        Array.from({ length: 8 }, async (_, caller) => {
          for (let turn = caller; clock.nowMs() < untilMs; turn += 8) {
            await act(name, turn).then(
              () => {
                isDone = true;
              },
              () => undefined,
            );
            await clocked.pause(1);
          }
        }),
      );
      events.length = 0;
      let seenAtMs = clock.nowMs();
      let oldestMs = 0;
      let last = robot.units.gimbal.telemetry;
      for (; clock.nowMs() < untilMs; await clocked.wait(1)) {
        const { telemetry } = robot.units.gimbal;
        if (telemetry !== last) {
          last = telemetry;
          seenAtMs = clock.nowMs();
        }
        oldestMs = Math.max(oldestMs, clock.nowMs() - seenAtMs);
      }
      await clocked.during(Promise.all(callers));
      unfollow();
      expect(
        events.filter(({ what: event }) => event === 'offline' || event === 'poll-failed'),
      ).to.deep.equal([]);
      expect(isDone).to.equal(true);
      expect(oldestMs).to.be.at.most(100);
    });
  }

  it('with back-to-back stops by 64 callers, both units stay online and every stop is confirmed', async () => {
    const { clock, robot, events } = clocked;
    const untilMs = clock.nowMs() + FOR_MS;
    const failed: unknown[] = [];
    let proven = 0;
    events.length = 0;
    const callers = Array.from({ length: 64 }, async () => {
      while (clock.nowMs() < untilMs) {
        await robot.stop().then(
          () => {
            proven += 1;
          },
          error => failed.push(error),
        );
        await clocked.pause(1);
      }
    });
    await clocked.during(Promise.all(callers), 2 * FOR_MS);
    expect(failed).to.deep.equal([]);
    expect(events.filter(({ what: event }) => event === 'offline' || event === 'poll-failed')).to.deep.equal(
      [],
    );
    expect(proven).to.be.above(64);
  });

  for (const kHz of [400, 100]) {
    it(`with chassis excitations (bus at ${kHz} kHz), the gimbal runs its saved gains within a second after a trial ends or its controller resets`, async () => {
      const { clock, robot } = clocked;
      clocked.intercept = async ({ unit, kind, register }) => {
        const addresses = kind === 'read' ? 3 : 2;
        const bytes =
          addresses + frameBytes(registerMap(unitNamed(unit)).find(({ name }) => name === register)!);
        await clocked.pause((bytes * BITS_PER_BYTE) / kHz);
        return undefined;
      };
      const unfollow = robot.followed.add(() => undefined);
      const { chassis, gimbal } = robot.units;
      await clocked.during(chassis.setMode('debug'));
      const { gains: running } = clocked.truth('gimbal');
      const saved = robot.store.current('gimbal').gains;
      const gains = { ...saved, angle_yaw: { kp: 1, ki: 0, kd: 0 } };
      const endsAtMs = clock.nowMs() + 300;
      await clocked.during(gimbal.gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs }));
      let isOver = false;
      let turn = 0;
      let excited = 0;
      const callers = Array.from({ length: 2 }, async () => {
        while (!isOver) {
          turn += 1;
          const amplitude = 0.1 + 0.01 * (turn % 7);
          if ((await outcomeOf(chassis.excite({ loop: 'speed', amplitude, periodS: 1 }))) === 'done')
            excited += 1;
          await clocked.pause(1);
        }
      });
      await clocked.wait(600);
      expect(clocked.truth('gimbal').gains).to.deep.equal(running);
      expect(await clocked.outcome(saveOf('gimbal', 1))).to.equal(200);
      clocked.fault('gimbal', 'brownout');
      await clocked.wait(500);
      expect(clocked.truth('gimbal')).to.deep.include({
        gains: robot.store.current('gimbal').gains,
        torque: true,
      });
      isOver = true;
      await clocked.during(Promise.all(callers));
      unfollow();
      expect(excited).to.be.above(50);
    });
  }

  for (const [what, pauseMs] of [
    ['1 ms apart', 1],
    ['10 ms apart', 10],
  ] as const) {
    it(`with switches of the chassis to its current mode (${what}), the chassis runs its saved gains within a second after a trial ends or its controller resets`, async () => {
      const { clock, chassis } = clocked;
      const saved = clocked.robot.store.current('chassis').gains;
      await clocked.during(clocked.tryGains(1, { endsAtMs: clock.nowMs() + 300 }));
      let isOver = false;
      let switched = 0;
      const callers = Array.from({ length: 3 }, async () => {
        while (!isOver) {
          if ((await outcomeOf(chassis.setMode('manual'))) === 'done') switched += 1;
          await clocked.pause(pauseMs);
        }
      });
      await clocked.wait(800);
      expect(clocked.truth('chassis').gains).to.deep.equal(saved);
      clocked.fault('chassis', 'brownout');
      await clocked.wait(1000);
      expect(clocked.truth('chassis')).to.deep.include({ gains: saved, torque: true });
      isOver = true;
      await clocked.during(Promise.all(callers));
      expect(switched).to.be.above(100);
    });
  }
});
