import { expect } from 'chai';
import { succeeds } from '../../src/core/errors.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import type { MotorUnit } from '../../src/robot/motor-unit.js';
import { ClockedRobot, type Fate, isLike } from '../support/clocked-robot.js';

const HOLD_MS = 120;
/** A frame takes effect in the next loop period, after its transaction. */
const LATE_MS = 3;
/** The most frames that an act sends before it is answered. */
const PLACES = 10;
/** The time that a late frame spends on the bus. */
const SLOW_MS = 40;

const ACTS: readonly (readonly [string, (robot: ClockedRobot, gimbal: MotorUnit) => Promise<unknown>])[] = [
  ['a stop', robot => robot.robot.stop()],
  ['a switch to auto', (_, gimbal) => gimbal.setMode('auto')],
  ['a switch to manual', (_, gimbal) => gimbal.setMode('manual')],
  ['a save', (_, gimbal) => gimbal.gains.save(defaultGains(unitNamed('gimbal')))],
];
/** The fate of the command's first frame, and the time for which that frame is late. */
const FATES: readonly (readonly [string, Fate, number])[] = [
  ['arrives', undefined, 0],
  ['is lost', 'fails', 0],
  ['arrives without an answer', 'answer lost', 0],
  ['arrives twice', 'sent twice', 0],
  ['arrives late', undefined, SLOW_MS],
  ['arrives late and without an answer', 'answer lost', SLOW_MS],
  ['arrives late and twice', 'sent twice', SLOW_MS],
];

/** Moves the gimbal for a caller, and watches every loop period. */
async function driveBeside(place: number, fate: Fate, lateMs: number, act: (typeof ACTS)[number][1]) {
  const clocked = await ClockedRobot.start();
  await clocked.wait(150);
  const { clock, gimbal, loops } = clocked;
  let frames = 0;
  let wasAsked = false;
  let receivedMs = 0;
  let driven = Promise.resolve(false);
  let motions = 0;
  let isBegun = false;
  const drive = () => {
    receivedMs = clock.nowMs();
    return succeeds(clocked.drive({ gimbal: { yaw: 0.5, pitch: 0 } }, { holdMs: HOLD_MS }));
  };
  clocked.intercept = async frame => {
    if (isLike(frame, { kind: 'write', register: 'motion' })) {
      if (isBegun) motions += 1;
      if (motions !== 1) return undefined;
      if (lateMs > 0) await clocked.pause(lateMs);
      return fate;
    }
    if (isBegun && frames === place) {
      wasAsked = true;
      driven = drive();
    }
    if (isBegun) frames += 1;
    return undefined;
  };
  // The unit moves already when the act begins.
  expect(await clocked.during(drive())).to.equal(true);
  isBegun = true;
  const done = act(clocked, gimbal).catch(() => undefined);
  await clocked.wait(250);
  await clocked.during(Promise.all([done, driven]));
  // Each loop period takes a millisecond, from the start of the simulation (0 ms) on.
  const moved = loops.gimbal.commands.map(({ rates }, atMs) => ((rates.yaw ?? 0) === 0 ? 0 : atMs));
  const lastMs = Math.max(...moved);
  expect(lastMs).to.be.above(0);
  // After a lost answer the frame is sent again, with the rest of the hold.
  const isOnBusMs = fate === 'answer lost' ? 0 : lateMs;
  const seen = {
    overran: lastMs > receivedMs + HOLD_MS + isOnBusMs + LATE_MS,
    wasForbidden: loops.gimbal.commands.some(
      ({ rates, mode, torque }) => (rates.yaw ?? 0) !== 0 && (mode !== 'manual' || !torque),
    ),
  };
  const { mode, driver } = gimbal;
  const end = { mode, isStopped: clocked.robot.stopped, isDriven: driver !== undefined };
  await clocked.end();
  return { seen, end, wasAsked, wasAccepted: await driven };
}

describe('a drive command', function () {
  this.timeout(60_000);
  for (const [what, act] of ACTS)
    it(`during ${what} moves the gimbal only in manual mode, and for at most the \`holdMs\` of the command`, async () => {
      const broken: string[] = [];
      let places = 0;
      let accepted = 0;
      for (const [name, fate, lateMs] of FATES)
        for (let place = 0; ; place += 1) {
          const { seen, end, wasAsked, wasAccepted } = await driveBeside(place, fate, lateMs, act);
          if (!wasAsked || place > PLACES) break;
          places += 1;
          if (wasAccepted) accepted += 1;
          const isForbidden = end.isStopped || end.mode !== 'manual';
          if (seen.overran || seen.wasForbidden || (isForbidden && end.isDriven && what !== 'a save'))
            broken.push(`frame ${place}, the command ${name}: ${JSON.stringify({ ...seen, ...end })}`);
        }
      expect(broken).to.deep.equal([]);
      expect(places).to.be.above(3 * FATES.length);
      // A command during a stop or a switch to auto is refused. There only the motion before the act is watched.
      if (what === 'a switch to manual' || what === 'a save') expect(accepted).to.be.above(0);
    });
});
