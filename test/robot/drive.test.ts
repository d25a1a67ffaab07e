import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { perUnit } from '../../src/core/units.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, type Fate, type Frame, isLike, WaitingCaller } from '../support/clocked-robot.js';
import { codeOfRefusal } from '../support/code-of.js';

const YAW = { gimbal: { yaw: 0.5, pitch: 0 } };
const AHEAD = { chassis: { speed: 0.5, turn: 0 } };
const BOTH = { ...YAW, ...AHEAD };
const STILL = { gimbal: { yaw: 0, pitch: 0 } };
const BOTH_STILL = { ...STILL, chassis: { speed: 0, turn: 0 } };
const HALT = { rates: [0, 0], holdMs: 0 };
const MOTION = { kind: 'write', register: 'motion' } as const;
/** No host silence of a controller ends a motion. */
const NO_SILENCE = perUnit(() => ({ beforeMs: Number.POSITIVE_INFINITY, givenMs: 0 }));

const isMotion = (frame: Frame) => isLike(frame, MOTION);
const hungUp = async () => {
  throw new RobotError('caller-gone');
};

describe('when a caller drives', () => {
  let clocked: ClockedRobot;
  let isForbidden = false;
  beforeEach(async () => {
    isForbidden = false;
    const permission = {
      require: () => {
        if (isForbidden) throw new RobotError('locked', { by: 'referee', reason: 'test' });
      },
    };
    clocked = await ClockedRobot.start({}, permission);
    await clocked.wait(200);
    clocked.frames.length = 0;
  });
  afterEach(() => clocked.end());
  /** A robot with other settings. */
  const begin = async (settings: Parameters<typeof ClockedRobot.start>[0]) => {
    await clocked.end();
    clocked = await ClockedRobot.start(settings);
    await clocked.wait(200);
    clocked.frames.length = 0;
  };

  /** The rates in the answer, or the code of the refusal. */
  const drive = (...asked: Parameters<ClockedRobot['drive']>) => clocked.drive(...asked).catch(codeOfRefusal);
  /** Drives, and lets time pass until the answer. */
  const driven = (...asked: Parameters<ClockedRobot['drive']>) => clocked.during(drive(...asked));
  const motions = (): readonly {
    readonly unit: string;
    readonly rates: number[];
    readonly holdMs: number;
  }[] =>
    clocked.frames.filter(isMotion).map(({ unit, data }) => {
      const bytes = Buffer.from(data, 'hex');
      const rates = [bytes.readInt16LE(0) / 1000, bytes.readInt16LE(2) / 1000];
      return { unit, rates, holdMs: bytes.readUInt16LE(4) };
    });
  const who = () => clocked.gimbal.driver?.by;
  const yawRate = () => clocked.loops.gimbal.last?.rates.yaw ?? 0;
  const ends = () =>
    clocked.events.flatMap(event =>
      event.what === 'drive-ended' ? [`${event.detail.by} ${event.detail.why}`] : [],
    );
  const lines = () =>
    clocked.events.flatMap(event =>
      event.what === 'drive' || event.what === 'drive-ended' ? [`${event.what} ${event.detail.by}`] : [],
    );
  /** From now on, all motion frames to this unit fail. */
  const failFor = (unit: 'gimbal' | 'chassis') => clocked.let({ ...MOTION, unit }, 'fails');
  /** The next motion frames fail, or noise damages them. The result counts these frames. */
  const spoil = (count: number, how: 'fails' | 'damaged') => {
    let spoiled = 0;
    clocked.each(MOTION, number => {
      if (number > count) return undefined;
      spoiled = number;
      if (how === 'fails') return how;
      clocked.fault('gimbal', 'corrupt', 1);
      return undefined;
    });
    return () => spoiled;
  };
  /** The next read of a register hangs for this time. Resolves when it hangs. */
  const hangBus = (ms: number) => clocked.until(clocked.atFirst({ kind: 'read' }, () => clocked.pause(ms)));

  it('both units, the answer has the rates of both, and the caller becomes the driver', async () => {
    expect(await driven(BOTH)).to.deep.equal(BOTH);
    expect(motions().map(({ unit }) => unit)).to.deep.equal(['gimbal', 'chassis']);
    expect(who()).to.equal('operator');
  });

  it('a unit, the controller gets only the rest of the hold time, so a retry 20 ms later sends 20 ms less', async () => {
    const receivedMs = clocked.clock.nowMs() - 80;
    clocked.each(MOTION, async attempt => {
      await clocked.pause(20);
      return attempt === 1 ? 'answer lost' : undefined;
    });
    await driven(YAW, { receivedMs });
    expect(motions().map(({ holdMs }) => holdMs)).to.deep.equal([120, 100]);
  });

  it('a unit, the command is refused as too late if under 10 ms of its hold time is left, or if its `notAfterT` is past or over 5 s ahead', async () => {
    const nowMs = clocked.clock.nowMs();
    expect(await driven(YAW, { receivedMs: nowMs - 191 })).to.equal('too-late');
    expect(await driven(YAW, { notAfterMs: nowMs - 1 })).to.equal('too-late');
    expect(await driven(YAW, { notAfterMs: clocked.clock.nowMs() + 5001 })).to.equal('too-late');
    expect(motions()).to.deep.equal([]);
  });

  it('a unit and the hold time ends while the command waits for the bus, the command is refused as too late and sends no frame', async () => {
    clocked.slow({ kind: 'read' }, 45);
    await clocked.wait(50);
    expect(await driven(YAW, { holdMs: 50 })).to.equal('too-late');
    expect(motions()).to.deep.equal([]);
  });

  it('both units and the hold time ends after only one unit has received its frame, the command fails with "bus-busy"', async () => {
    clocked.slow(MOTION, 45);
    expect(await driven(BOTH, { holdMs: 50 })).to.equal('bus-busy');
    expect(motions()[0]?.rates).to.deep.equal([0.5, 0]);
  });

  it('both units and one of them is in the wrong mode, neither unit gets a frame', async () => {
    await clocked.during(clocked.chassis.setMode('auto'));
    expect(await driven(BOTH)).to.equal('wrong-mode');
    expect(motions()).to.deep.equal([]);
    expect(who()).to.equal(undefined);
  });

  it('both units and the frame for the second unit fails, the command fails and the first unit is halted at once', async () => {
    failFor('chassis');
    expect(await driven(BOTH)).to.equal('nack');
    await clocked.wait(10);
    expect(motions()).to.deep.include({ unit: 'gimbal', ...HALT });
  });

  it('both units and the frame for the gimbal fails, the chassis gets no frame', async () => {
    failFor('gimbal');
    expect(await driven(BOTH)).to.equal('nack');
    await clocked.wait(10);
    expect(motions().filter(({ unit }) => unit === 'chassis')).to.deep.equal([]);
  });

  it('both units and another caller takes over the gimbal while the command waits for the next poll, the command sends no frame', async () => {
    await driven(BOTH);
    clocked.frames.length = 0;
    const older = drive(BOTH);
    expect(await driven(YAW, { by: 'rival', takeover: true })).to.deep.equal(YAW);
    expect([await older, motions().map(({ unit }) => unit)]).to.deep.equal(['driven', ['gimbal', 'gimbal']]);
  });

  for (const [what, rates] of [
    ['halts both', BOTH_STILL],
    ['halts only the chassis', { ...YAW, chassis: { speed: 0, turn: 0 } }],
  ] as const) {
    it(`both units and then ${what}, the chassis halts even if the frame for the gimbal fails`, async () => {
      await driven(BOTH, { holdMs: 500 });
      clocked.frames.length = 0;
      failFor('gimbal');
      expect(await driven(rates)).to.equal('nack');
      expect(motions().find(({ unit }) => unit === 'chassis')?.rates).to.deep.equal([0, 0]);
    });

    it(`both units and then ${what}, the chassis halts even if another caller takes over the gimbal before the halt is answered`, async () => {
      await driven(BOTH, { holdMs: 500 });
      clocked.frames.length = 0;
      const older = drive(rates);
      await driven(YAW, { by: 'rival', takeover: true });
      await clocked.during(older);
      expect(motions().find(({ unit }) => unit === 'chassis')?.rates).to.deep.equal([0, 0]);
    });
  }

  for (const [what, code, act] of [
    ['is in the wrong mode', 'wrong-mode', () => clocked.during(clocked.gimbal.setMode('auto'))],
    [
      'is driven by another caller',
      'driven',
      () => driven(YAW, { by: 'rival', takeover: true, holdMs: 500 }),
    ],
  ] as const)
    it(`both units and then halts both, the chassis halts even if the command is refused because the gimbal ${what}`, async () => {
      await driven(BOTH, { holdMs: 500 });
      await act();
      clocked.frames.length = 0;
      expect(await driven(BOTH_STILL)).to.equal(code);
      await clocked.wait(5);
      expect(motions()).to.deep.equal([{ unit: 'chassis', ...HALT }]);
    });

  for (const [what, begins] of [
    ['the controller refuses the first 7 frames', () => spoil(7, 'fails')],
    ['noise damages the first 6 frames', () => spoil(6, 'damaged')],
    [
      'the controller is offline for 150 ms',
      () => {
        clocked.let({ unit: 'gimbal' }, 'fails');
        clocked.clock.after(150, () => clocked.allIsWell());
      },
    ],
  ] as const)
    it(`a unit and then halts it, the halt is retried until it takes effect, even if ${what}`, async () => {
      await driven(YAW, { holdMs: 500 });
      const atMs = clocked.clock.nowMs();
      begins();
      expect(await driven(STILL)).to.deep.equal(STILL);
      expect(yawRate()).to.equal(0);
      expect(clocked.clock.nowMs() - atMs).to.be.below(250);
    });

  it('a unit, halts it and drives it again before the halt is answered, the halt does not end the new motion', async () => {
    await driven(YAW, { holdMs: 500 });
    spoil(2, 'damaged');
    const halted = drive(STILL);
    await clocked.wait(1);
    const moved = drive(YAW, { holdMs: 500 });
    expect(await clocked.during(Promise.all([halted, moved]))).to.deep.equal([STILL, YAW]);
    await clocked.wait(100);
    expect(yawRate()).to.equal(0.5);
  });

  it('the chassis and halts the gimbal in one command while the bus hangs, the command fails with "bus-busy"', async () => {
    await driven(YAW, { holdMs: 500 });
    await hangBus(600);
    expect(await driven({ ...STILL, ...AHEAD })).to.equal('bus-busy');
  });

  it('a unit and then halts it, the halt takes effect even if the daemon shuts down while the bus still fails', async () => {
    await driven(YAW, { holdMs: 500 });
    const faultyUntilMs = clocked.clock.nowMs() + 150;
    clocked.intercept = frame =>
      isMotion(frame) && clocked.clock.nowMs() < faultyUntilMs ? 'fails' : undefined;
    const halted = drive(STILL);
    await clocked.during(clocked.robot.close());
    expect(yawRate()).to.equal(0);
    await halted;
  });

  it('a unit and then switches it to manual, the motion is halted, and the switch takes less than 200 ms even if halt frames fail', async () => {
    for (const [spoiledMs, isStill] of [
      [30, true],
      [300, false],
    ] as const) {
      await driven(YAW, { holdMs: 500 });
      const startMs = clocked.clock.nowMs();
      clocked.intercept = frame =>
        isMotion(frame) && clocked.clock.nowMs() < startMs + spoiledMs ? 'fails' : undefined;
      await clocked.during(clocked.gimbal.setMode('manual'));
      expect(yawRate() === 0, `${spoiledMs} ms`).to.equal(isStill);
      expect(clocked.clock.nowMs() - startMs).to.be.below(200);
      await clocked.wait(300);
      expect(yawRate()).to.equal(0);
    }
  });

  it('a unit right after a halt and then halts it again, the second halt is sent at once', async () => {
    await driven(STILL);
    await driven(YAW);
    const atMs = clocked.clock.nowMs();
    await driven(STILL);
    expect(clocked.clock.nowMs() - atMs).to.be.below(10);
  });

  for (const [what, driver, act] of [
    [
      'a takeover by another caller that is refused as too late',
      'rival',
      async () => {
        const late = { by: 'rival', takeover: true, notAfterMs: clocked.clock.nowMs() + 1 };
        expect(await driven(YAW, late)).to.equal('too-late');
      },
    ],
    [
      'the removal of the token of the caller',
      undefined,
      async () => clocked.gimbal.endDrive('token removed'),
    ],
  ] as const)
    it(`a unit, ${what} ends the motion, even if the first 6 halt frames fail`, async () => {
      await driven(YAW, { holdMs: 500 });
      const failed = spoil(6, 'fails');
      await act();
      await clocked.wait(150);
      expect([failed(), yawRate(), who()]).to.deep.equal([6, 0, driver]);
    });

  it('both units, but the gimbal is switched to manual before the answer, the command is refused at once and the chassis is halted', async () => {
    clocked.atFirst({ ...MOTION, unit: 'chassis' }, () => void clocked.gimbal.setMode('manual'));
    const atMs = clocked.clock.nowMs();
    expect(await driven(BOTH, { holdMs: 500 })).to.equal('overtaken');
    await clocked.wait(10);
    expect(clocked.clock.nowMs() - atMs).to.be.below(100);
    expect(motions().at(-1)).to.deep.equal({ unit: 'chassis', ...HALT });
  });

  it('a unit and another caller asks for a takeover but hangs up, the waiting command of the first caller is still carried out', async () => {
    await driven(YAW);
    const waiting = drive(YAW);
    const dead = drive(YAW, { by: 'rival', takeover: true, stillConnected: hungUp });
    expect(await clocked.during(Promise.all([waiting, dead]))).to.deep.equal([YAW, 'caller-gone']);
    expect(who()).to.equal('operator');
  });

  it('a unit and then halts it, the halt takes effect even if a newer command waits for it and its caller hangs up', async () => {
    await driven(YAW, { holdMs: 500 });
    const halted = drive(STILL);
    const { stillWanted, hangUp } = new WaitingCaller();
    const newer = drive({ gimbal: { yaw: 1, pitch: 0 } }, { stillWanted });
    hangUp();
    expect(await clocked.during(halted)).to.deep.equal(STILL);
    expect([await clocked.during(newer), motions().at(-1)?.rates]).to.deep.equal(['caller-gone', [0, 0]]);
  });

  it('the chassis and halts the gimbal in one command but has hung up, the gimbal is still halted', async () => {
    await driven(YAW, { holdMs: 500 });
    clocked.frames.length = 0;
    expect(await driven({ ...STILL, ...AHEAD }, { stillConnected: hungUp })).to.equal('caller-gone');
    await clocked.wait(5);
    expect(motions()).to.deep.equal([{ unit: 'gimbal', ...HALT }]);
  });

  for (const [what, act] of [
    ['a stop and a resume', () => clocked.robot.stop().then(() => clocked.robot.resume())],
    ['a switch to manual', () => clocked.gimbal.setMode('manual')],
    ['a takeover', () => clocked.drive(YAW, { by: 'rival', takeover: true, holdMs: 50 })],
    ['an accepted halt', () => clocked.drive(STILL)],
    [
      'an accepted halt in a command that also drives the chassis',
      () => clocked.drive({ ...STILL, ...AHEAD }),
    ],
  ] as const)
    it(`a unit, the command is refused as overtaken if it may have arrived before ${what}`, async () => {
      const pausedMs = clocked.clock.nowMs();
      await clocked.wait(1);
      await driven(YAW, { holdMs: 50 });
      await clocked.during(act());
      const late = { receivedMs: pausedMs, holdMs: 500, takeover: true };
      expect(await driven(YAW, late)).to.equal('overtaken');
    });

  it('a unit and then halts it with a hold time of 50 ms, the halt is sent even after the bus has hung for 120 ms', async () => {
    await driven(YAW, { holdMs: 500 });
    await hangBus(120);
    expect(await driven(STILL, { holdMs: 50 })).to.deep.equal(STILL);
    expect(motions().at(-1)?.rates).to.deep.equal([0, 0]);
  });

  it('a unit, other callers are refused until a second after the last hold time of the driver has ended', async () => {
    await driven(YAW);
    const atMs = clocked.clock.nowMs();
    expect(await driven(YAW, { by: 'rival' })).to.equal('driven');
    expect(await driven(YAW, { id: 'b' })).to.equal('driven');
    await clocked.wait(atMs + 1190 - clocked.clock.nowMs());
    expect(await driven(YAW, { by: 'rival' })).to.equal('driven');
    await clocked.wait(20);
    expect(await driven(YAW, { by: 'rival' })).to.deep.equal(YAW);
    expect(ends()).to.deep.equal(['operator silent']);
  });

  it('with `takeover`, the caller becomes the driver, and the previous driver is refused', async () => {
    await driven(YAW);
    expect(await driven(YAW, { by: 'rival', takeover: true })).to.deep.equal(YAW);
    expect(await driven(YAW)).to.equal('driven');
    expect(ends()).to.deep.equal(['operator takeover']);
  });

  it('a unit with several commands before the next poll, only the newest is sent, and the others are refused as overtaken', async () => {
    await driven(YAW);
    const answers = [1, 2, 3].map(yaw => drive({ gimbal: { yaw: yaw / 10, pitch: 0 } }));
    const newest = { gimbal: { yaw: 0.3, pitch: 0 } };
    expect(await clocked.during(Promise.all(answers))).to.deep.equal(['overtaken', 'overtaken', newest]);
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0.3]);
  });

  it('a unit and then halts it, the halt is sent at once, and an older unanswered command is refused as overtaken', async () => {
    await driven(YAW);
    const atMs = clocked.clock.nowMs();
    const older = drive({ gimbal: { yaw: 1, pitch: 0 } });
    await driven(STILL);
    expect(clocked.clock.nowMs() - atMs).to.be.below(10);
    expect(await older).to.equal('overtaken');
    expect(motions().at(-1)?.rates).to.deep.equal([0, 0]);
  });

  for (const [when, waitMs, before] of [
    ['before the older command has sent a frame', 0, YAW],
    ['after the older command has sent its frames', 1, undefined],
  ] as const)
    it(`both units and a newer command halts only the gimbal ${when}, the chassis still moves`, async () => {
      if (before !== undefined) await driven(before);
      const older = drive(BOTH);
      await clocked.wait(waitMs);
      expect(await driven(STILL)).to.deep.equal(STILL);
      expect(await clocked.during(older)).to.deep.equal(AHEAD);
      await clocked.wait(50);
      expect(motions().filter(({ unit }) => unit === 'chassis')).to.have.length(1);
      expect(clocked.loops.chassis.last?.rates).to.deep.equal(AHEAD.chassis);
      expect(yawRate()).to.equal(0);
    });

  it('a unit but hangs up while the command waits, the command sends no frame, and the previous motion continues', async () => {
    await driven(YAW);
    const { stillWanted, hangUp } = new WaitingCaller();
    const answer = drive({ gimbal: { yaw: 1, pitch: 0 } }, { stillWanted });
    hangUp();
    expect(await clocked.during(answer)).to.equal('caller-gone');
    await clocked.wait(50);
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5]);
  });

  for (const [what, code, act] of [
    ['a stop', 'stopped', () => clocked.robot.stop()],
    ['a switch to auto', 'wrong-mode', () => clocked.gimbal.setMode('auto')],
  ] as const)
    it(`a unit and ${what} follows, the caller is no longer the driver, and the next command is refused`, async () => {
      await driven(YAW);
      expect(who()).to.equal('operator');
      await clocked.during(act());
      expect(who()).to.equal(undefined);
      expect(await driven(YAW)).to.equal(code);
    });

  it('a unit in manual and the unit is switched to manual again, the motion ends and the caller is no longer the driver', async () => {
    await driven(YAW);
    await clocked.during(clocked.gimbal.setMode('manual'));
    expect([who(), motions().at(-1)?.rates]).to.deep.equal([undefined, [0, 0]]);
  });

  it('a unit and a switch to auto then fails, the caller stays the driver and can drive on', async () => {
    await driven(YAW);
    clocked.let({ kind: 'write', register: 'mode' }, 'fails');
    expect(await clocked.outcome(clocked.gimbal.setMode('auto'))).to.equal('nack');
    clocked.allIsWell();
    expect([who(), ends(), motions().at(-1)?.rates]).to.deep.equal(['operator', [], [0.5, 0]]);
    expect(await driven(YAW, { by: 'rival' })).to.equal('driven');
    expect(await driven(YAW)).to.deep.equal(YAW);
  });

  for (const [what, act] of [
    ['the unit is switched to manual', () => clocked.gimbal.setMode('manual')],
    ['the robot is stopped and resumed', () => clocked.robot.stop().then(() => clocked.robot.resume())],
  ] as const)
    it(`a unit and ${what} while the command waits for the next poll, the command is refused as overtaken and moves nothing`, async () => {
      await begin({ pollHz: 5 });
      await driven(YAW);
      const waiting = drive(YAW, { holdMs: 500 });
      await clocked.wait(1);
      await clocked.during(act());
      clocked.frames.length = 0;
      await clocked.during(waiting);
      expect([await waiting, motions(), who()]).to.deep.equal(['overtaken', [], undefined]);
    });

  it('a unit and the first attempt fails, the command is not sent again if the caller hung up or the robot was locked meanwhile', async () => {
    for (const forbid of ['hang up', 'lock'] as const) {
      clocked.frames.length = 0;
      const { stillWanted, hangUp } = new WaitingCaller();
      clocked.each(MOTION, () => {
        if (forbid === 'lock') isForbidden = true;
        else hangUp();
        return 'fails';
      });
      const code = await driven(YAW, { stillWanted, id: forbid });
      expect(code).to.equal(forbid === 'lock' ? 'locked' : 'caller-gone');
      expect(motions().filter(({ rates }) => rates[0] !== 0)).to.have.length(1);
      clocked.allIsWell();
      await clocked.wait(1300);
    }
  });

  it('a unit and the controller refuses the frame as damaged, the command is sent again with the rest of the hold time', async () => {
    spoil(2, 'damaged');
    expect(await driven(YAW)).to.deep.equal(YAW);
    const holds = motions().map(({ holdMs }) => holdMs);
    expect(holds).to.have.length(3);
    expect(holds[2]).to.be.within(120, 170);
  });

  it('a unit and then slows it, a frame that the controller refuses as damaged is sent again', async () => {
    const slower = { gimbal: { yaw: 0.2, pitch: 0 } };
    await driven(YAW, { holdMs: 500 });
    const damaged = spoil(1, 'damaged');
    expect(await driven(slower)).to.deep.equal(slower);
    expect([damaged(), yawRate()]).to.deep.equal([1, 0.2]);
  });

  it('with `takeover` at the same time as nine others, only the caller whose frame was sent is logged as the driver', async () => {
    const callers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    await driven(YAW, { by: 'z' });
    clocked.frames.length = 0;
    const answers = callers.map(by => drive(YAW, { by, takeover: true }));
    const ends = await clocked.during(Promise.all(answers));
    expect(ends).to.deep.equal([...callers.slice(1).map(() => 'overtaken'), YAW]);
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0, 0.5]);
    expect(lines()).to.deep.equal(['drive z', 'drive-ended z', 'drive j']);
  });

  it('and another caller take a unit over from each other every millisecond, both with rates of 0, about one frame is sent per poll, and nothing is logged', async () => {
    const answers: Promise<unknown>[] = [];
    for (let ms = 0; ms < 100; ms += 1) {
      answers.push(drive(STILL, { by: ms % 2 === 0 ? 'a' : 'b', takeover: true }));
      await clocked.wait(1);
    }
    await clocked.during(Promise.all(answers));
    expect(motions().length).to.be.within(3, 8);
    expect(lines()).to.deep.equal([]);
  });

  it('with rates of 0 and a hold time of 50 ms, every command succeeds even if the daemon polls only 5 times a second', async () => {
    await begin({ pollHz: 5 });
    for (let count = 0; count < 5; count += 1)
      expect(await driven(STILL, { holdMs: 50 })).to.deep.equal(STILL);
  });

  it('both units, the command moves only the chassis if it may have arrived before a halt of the gimbal', async () => {
    const pausedMs = clocked.clock.nowMs();
    await clocked.wait(50);
    await driven(STILL);
    expect(await driven(BOTH, { receivedMs: pausedMs, holdMs: 500 })).to.deep.equal(AHEAD);
  });

  it('both units and another caller takes over the gimbal before a frame is sent, the command is refused and the chassis gets no frame', async () => {
    const stillConnected = async () => {
      void drive(STILL, { by: 'rival', takeover: true });
    };
    expect(await driven(BOTH, { stillConnected })).to.equal('overtaken');
    await clocked.wait(20);
    expect([who(), motions().filter(({ unit }) => unit === 'chassis')]).to.deep.equal(['rival', []]);
  });

  it('the chassis and halts the gimbal, the command succeeds even if a newer command drives the chassis before the halt takes effect', async () => {
    await driven(STILL);
    const mixed = drive({ ...STILL, ...AHEAD });
    await clocked.wait(8);
    expect(await driven(AHEAD)).to.deep.equal(AHEAD);
    expect(await clocked.during(mixed)).to.deep.equal({ ...STILL, ...AHEAD });
  });

  it('a unit and then sends a halt whose `notAfterT` has passed, the halt is refused as too late, but still takes effect', async () => {
    await driven(YAW, { holdMs: 500 });
    expect(await driven(STILL, { notAfterMs: clocked.clock.nowMs() - 1 })).to.equal('too-late');
    await clocked.wait(20);
    expect(yawRate()).to.equal(0);
  });

  it('a unit and the hold time ends after the answer to the first frame was lost, the command fails with "bus-busy", not "too-late"', async () => {
    clocked.each(MOTION, async (): Promise<Fate> => {
      await clocked.pause(45);
      return 'answer lost';
    });
    expect(await driven(YAW, { holdMs: 50 })).to.equal('bus-busy');
  });

  for (const [what, act] of [
    ['a resume follows without a stop', () => clocked.during(clocked.robot.resume())],
    [
      'the controller is unreachable for 80 ms',
      async () => {
        clocked.let({ unit: 'gimbal' }, 'fails');
        await clocked.wait(80);
        clocked.allIsWell();
      },
    ],
    ['the daemon ends', () => clocked.during(clocked.robot.close())],
  ] as const)
    it(`a unit and ${what}, the motion is halted and does not last until the end of its hold time`, async () => {
      await driven(YAW, { holdMs: 500 });
      await act();
      await clocked.wait(60);
      expect([yawRate(), who()]).to.deep.equal([0, undefined]);
    });

  it('a unit and the daemon ends while a command waits for a halt, the command is refused and moves nothing', async () => {
    await driven(STILL);
    const halt = drive(STILL);
    const waiting = drive(YAW);
    clocked.frames.length = 0;
    await clocked.during(clocked.robot.close());
    await clocked.during(Promise.all([halt, waiting]));
    expect(await waiting).to.equal('closing');
    expect(motions().filter(({ rates }) => rates[0] !== 0)).to.deep.equal([]);
  });

  for (const pauseMs of [150, 300])
    it(`a unit and the process is paused for ${pauseMs} ms while the frame is on the bus, the motion ends soon after the hold time or the pause`, async () => {
      let arrive = () => {};
      const arrived = new Promise<void>(resolve => {
        arrive = resolve;
      });
      clocked.atFirst({ register: 'motion' }, () => arrived);
      const endMs = clocked.clock.nowMs() + 200;
      const command = drive(YAW, { holdMs: 200 });
      await clocked.wait(1);
      clocked.clock.late(pauseMs);
      arrive();
      await clocked.wait(Math.max(0, endMs - clocked.clock.nowMs()) + 60);
      expect([motions()[0]?.rates, yawRate()]).to.deep.equal([[0.5, 0], 0]);
      await clocked.during(command);
    });

  it('a unit and noise damages the frame of a second command, the removal of the token still halts the motion of the first command', async () => {
    await driven(YAW, { holdMs: 500 });
    await clocked.wait(20);
    clocked.atFirst({ register: 'motion' }, () => clocked.fault('gimbal', 'corrupt', 1));
    await driven(YAW, { holdMs: 50 });
    await clocked.wait(60);
    clocked.gimbal.endDrive('token removed');
    await clocked.wait(20);
    expect(yawRate()).to.equal(0);
  });

  it('a unit and noise damages the frame of a faster command, the frame is written again, although the slower motion still holds', async () => {
    await driven({ gimbal: { yaw: 0.1, pitch: 0 } }, { holdMs: 500 });
    await clocked.wait(30);
    clocked.atFirst({ register: 'motion' }, () => clocked.fault('gimbal', 'corrupt', 1));
    expect(await driven(YAW, { holdMs: 200 })).to.deep.equal(YAW);
    expect(yawRate()).to.equal(0.5);
  });

  it('a unit and noise damages a halt frame that has waited for the bus, another halt frame ends the motion', async () => {
    await begin({ silence: NO_SILENCE });
    clocked.each(MOTION, async number => {
      if (number === 1) await clocked.pause(520);
      if (number === 2) clocked.fault('gimbal', 'corrupt', 1);
      return undefined;
    });
    const late = drive(YAW, { holdMs: 500 });
    await clocked.wait(60);
    clocked.gimbal.endDrive('token removed');
    await clocked.wait(600);
    expect([motions().length, yawRate()]).to.deep.equal([3, 0]);
    await clocked.during(late);
  });

  it('a unit and two halts time out while the first frame is on the bus for 660 ms, the next poll halts the unit (5 polls a second)', async () => {
    await begin({ pollHz: 5, silence: NO_SILENCE });
    await clocked.wait(3);
    clocked.atFirst({ register: 'motion' }, () => clocked.pause(660));
    const answers = [drive(YAW, { holdMs: 500 })];
    await clocked.wait(5);
    answers.push(drive(STILL, { holdMs: 500 }));
    await clocked.wait(485);
    answers.push(drive(STILL, { holdMs: 500 }));
    await clocked.wait(410);
    expect([motions()[0]?.rates, yawRate()]).to.deep.equal([[0.5, 0], 0]);
    await clocked.during(Promise.all(answers));
  });

  it('a unit and its cable comes out during a frame, the daemon stops sending halts within 1.1 s', async () => {
    await begin({ pollHz: 100 });
    let isOut = false;
    clocked.intercept = async ({ unit, register }) => {
      if (unit !== 'gimbal') return undefined;
      if (register === 'motion' && !isOut) {
        isOut = true;
        await clocked.pause(30);
      }
      return isOut ? 'fails' : undefined;
    };
    const answers: Promise<unknown>[] = [];
    for (let count = 0; count < 3; count += 1) {
      answers.push(drive(YAW));
      await clocked.wait(25);
    }
    await clocked.wait(1100);
    clocked.frames.length = 0;
    await clocked.wait(500);
    expect(motions()).to.deep.equal([]);
    await clocked.during(Promise.all(answers));
  });

  it('a unit and a second command waits for the bus when the hold time of the first ends, no halt is sent between the two motions', async () => {
    await begin({ pollHz: 100 });
    let isReadSlow = false;
    clocked.intercept = async frame => {
      if (isMotion(frame) && motions().length === 1) await clocked.pause(45);
      else if (frame.kind === 'read' && !isReadSlow && motions().length === 1) {
        isReadSlow = true;
        await clocked.pause(40);
      }
      return undefined;
    };
    const first = drive(YAW, { holdMs: 50 });
    await clocked.wait(40);
    const second = drive(YAW, { holdMs: 300 });
    await clocked.wait(100);
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0.5]);
    await clocked.during(Promise.all([first, second]));
  });

  for (const [what, asked, isGone] of [
    ['is refused as too late', { notAfterMs: 12 }, false],
    ['its caller hangs up', {}, true],
  ] as const)
    it(`a unit and a newer command overtakes an unanswered one but ${what} before a frame is sent, the older motion is halted`, async () => {
      const gone = new WaitingCaller();
      const first = drive(AHEAD, { holdMs: 500 });
      await clocked.wait(1);
      const notAfterMs =
        'notAfterMs' in asked ? { notAfterMs: clocked.clock.nowMs() + asked.notAfterMs } : {};
      const second = drive(AHEAD, { ...notAfterMs, ...(isGone && { stillWanted: gone.stillWanted }) });
      await clocked.wait(2);
      if (isGone) gone.hangUp();
      await clocked.wait(60);
      expect(await first).to.equal('overtaken');
      expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0]);
      await second;
      expect(clocked.loops.chassis.last?.rates.speed ?? 0).to.equal(0);
    });

  it('a unit and the frame takes 48 ms on the bus, the motion is halted after its hold time even if the caller of a newer command hangs up', async () => {
    clocked.atFirst(MOTION, () => clocked.pause(48));
    const sentMs = clocked.clock.nowMs();
    expect(await driven(AHEAD)).to.deep.equal(AHEAD);
    clocked.slow({ kind: 'read' }, 10);
    await clocked.wait(sentMs + 185 - clocked.clock.nowMs());
    const { stillWanted, hangUp } = new WaitingCaller();
    const newer = drive(AHEAD, { holdMs: 500, stillWanted });
    await clocked.wait(1);
    hangUp();
    expect(await clocked.during(newer)).to.equal('caller-gone');
    await clocked.wait(sentMs + 247 - clocked.clock.nowMs());
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0]);
  });

  it('both units with `takeover`, the command moves only the chassis if it may have arrived before the other driver halted the gimbal', async () => {
    await driven(STILL, { by: 'rival' });
    const pausedMs = clocked.clock.nowMs();
    await clocked.wait(30);
    await driven(STILL, { by: 'rival' });
    const late = { receivedMs: pausedMs, holdMs: 500, takeover: true };
    expect(await driven(BOTH, late)).to.deep.equal(AHEAD);
  });

  it('a unit and the frame hangs on the bus for 700 ms, longer than a halt is retried, the motion is halted after the frame arrives', async () => {
    await begin({ silence: NO_SILENCE });
    clocked.atFirst({ register: 'motion' }, () => clocked.pause(700));
    expect(await driven(YAW, { holdMs: 500 })).to.equal('deadline');
    await clocked.wait(700);
    clocked.allIsWell();
    await clocked.wait(200);
    expect([motions().at(-1)?.rates, yawRate()]).to.deep.equal([[0, 0], 0]);
  });

  it('a unit, the daemon reads that unit at every poll, about 50 times a second', async () => {
    clocked.frames.length = 0;
    await driven(YAW, { holdMs: 500 });
    await clocked.wait(400);
    const readings = clocked.frames.filter(
      ({ unit, register }) => unit === 'gimbal' && register === 'telemetry',
    );
    expect(readings.length).to.be.within(19, 22);
  });

  it('a unit whose controller has no register `motion`, the command is refused, and the status of the unit shows `drivable: false`', async () => {
    clocked.alter(REGISTERS.status, ({ flags }) => ({ flags: flags & 0x7f }));
    await clocked.wait(40);
    expect(await driven(YAW)).to.equal('not-drivable');
    expect(clocked.gimbal.report().drivable).to.equal(false);
    expect(motions()).to.deep.equal([]);
  });
});
