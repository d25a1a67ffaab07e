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
    clocked.slow({}, FRAME_MS);
  });
  afterEach(() => clocked.end());

  const saveOf = (name: UnitName, turn: number) => {
    const gains = unitNamed(name).loops.map(loop => [loop.name, { kp: 1 + turn, ki: 0, kd: 0 }] as const);
    return clocked.robot.units[name].gains.save(Object.fromEntries(gains));
  };
  const switchOf = (name: UnitName, turn: number) =>
    clocked.robot.units[name].setMode(turn % 2 === 0 ? 'auto' : 'manual');

  /** So many callers act, each again and again, until the returned function is called. It resolves with all outcomes. */
  const keepBusy = (
    callers: number,
    act: (caller: number, turn: number) => Promise<unknown>,
    pauseMs = 1,
  ) => {
    const outcomes: unknown[] = [];
    let isOver = false;
    const all = Array.from({ length: callers }, async (_, caller) => {
      for (let turn = 0; !isOver; turn += 1) {
        outcomes.push(await outcomeOf(act(caller, turn)));
        await clocked.pause(pauseMs);
      }
    });
    return async () => {
      isOver = true;
      await clocked.during(Promise.all(all));
      return outcomes;
    };
  };
  const done = (outcomes: readonly unknown[]) => outcomes.filter(outcome => outcome === 'done').length;
  const lost = () => clocked.events.filter(({ what }) => what === 'offline' || what === 'poll-failed');

  for (const [what, act] of [
    ['saves', saveOf],
    ['mode switches', switchOf],
  ] as const) {
    it(`with back-to-back ${what} of both units, both units stay online and the gimbal's readings are at most 100 ms old`, async () => {
      const { clock, robot, events } = clocked;
      const unfollow = robot.followed.add(() => undefined);
      const untilMs = clock.nowMs() + FOR_MS;
      const ends = UNIT_LIST.map(({ name }) => keepBusy(8, (caller, turn) => act(name, caller + 8 * turn)));
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
      const outcomes: unknown[] = [];
      for (const end of ends) outcomes.push(...(await end()));
      unfollow();
      expect(lost()).to.deep.equal([]);
      expect(done(outcomes)).to.be.above(0);
      expect(oldestMs).to.be.at.most(100);
    });
  }

  it('with back-to-back stops by 64 callers, both units stay online and every stop is confirmed', async () => {
    clocked.events.length = 0;
    const end = keepBusy(64, () => clocked.robot.stop());
    await clocked.wait(FOR_MS);
    const outcomes = await end();
    expect(new Set(outcomes)).to.deep.equal(new Set(['done']));
    expect(outcomes.length).to.be.above(64);
    expect(lost()).to.deep.equal([]);
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
      const end = keepBusy(2, (caller, turn) => {
        const amplitude = 0.1 + 0.01 * ((caller + 2 * turn) % 7);
        return chassis.excite({ loop: 'speed', amplitude, periodS: 1 });
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
      expect(done(await end())).to.be.above(50);
      unfollow();
    });
  }

  for (const pauseMs of [1, 10]) {
    it(`with switches of the chassis to its current mode (${pauseMs} ms apart), the chassis runs its saved gains within a second after a trial ends or its controller resets`, async () => {
      const { clock, chassis } = clocked;
      const saved = clocked.robot.store.current('chassis').gains;
      await clocked.during(clocked.tryGains(1, { endsAtMs: clock.nowMs() + 300 }));
      const end = keepBusy(3, () => chassis.setMode('manual'), pauseMs);
      await clocked.wait(800);
      expect(clocked.truth('chassis').gains).to.deep.equal(saved);
      clocked.fault('chassis', 'brownout');
      await clocked.wait(1000);
      expect(clocked.truth('chassis')).to.deep.include({ gains: saved, torque: true });
      expect(done(await end())).to.be.above(100);
    });
  }
});
