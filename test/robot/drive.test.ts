import { expect } from 'chai';
import { isRobotError, RobotError } from '../../src/core/errors.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, type Frame, isLike, WaitingCaller } from '../support/clocked-robot.js';

const YAW = { gimbal: { yaw: 0.5, pitch: 0 } };
const AHEAD = { chassis: { speed: 0.5, turn: 0 } };
const STILL = { gimbal: { yaw: 0, pitch: 0 } };

const isMotion = (frame: Frame) => isLike(frame, { kind: 'write', register: 'motion' });

function codeOf(error: unknown): string {
  if (isRobotError(error)) return error.code;
  throw error;
}

describe('a drive command', () => {
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

  /** The rates in the answer, or the code of the refusal. */
  const drive = (...asked: Parameters<ClockedRobot['drive']>) => clocked.drive(...asked).catch(codeOf);
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
  const ends = () =>
    clocked.events.flatMap(event =>
      event.what === 'drive-ended' ? [`${event.detail.by} ${event.detail.why}`] : [],
    );
  const lines = () =>
    clocked.events.flatMap(event =>
      event.what === 'drive' || event.what === 'drive-ended' ? [`${event.what} ${event.detail.by}`] : [],
    );

  it('for both units is answered with the rates of both, and makes its caller the driver', async () => {
    expect(await driven({ ...YAW, ...AHEAD })).to.deep.equal({ ...YAW, ...AHEAD });
    expect(motions().map(({ unit }) => unit)).to.deep.equal(['gimbal', 'chassis']);
    expect(who()).to.equal('operator');
  });

  it('sends the controller only the rest of its hold, so a retry 20 ms later sends 20 ms less', async () => {
    const receivedMs = clocked.clock.nowMs() - 80;
    let attempts = 0;
    clocked.intercept = async frame => {
      if (!isMotion(frame)) return undefined;
      attempts += 1;
      await clocked.pause(20);
      return attempts === 1 ? 'answer lost' : undefined;
    };
    await driven(YAW, { receivedMs });
    expect(motions().map(({ holdMs }) => holdMs)).to.deep.equal([120, 100]);
  });

  it('is refused as too late if less than 10 ms of its hold is left, or if its deadline is past or over 5 s ahead', async () => {
    const nowMs = clocked.clock.nowMs();
    expect(await driven(YAW, { receivedMs: nowMs - 191 })).to.equal('too-late');
    expect(await driven(YAW, { notAfterMs: nowMs - 1 })).to.equal('too-late');
    expect(await driven(YAW, { notAfterMs: clocked.clock.nowMs() + 5001 })).to.equal('too-late');
    expect(motions()).to.deep.equal([]);
  });

  it('whose hold ends while the command waits for the bus is refused as too late and sends no frame', async () => {
    clocked.intercept = async ({ kind }) => {
      if (kind === 'read') await clocked.pause(45);
      return undefined;
    };
    await clocked.wait(50);
    expect(await driven(YAW, { holdMs: 50 })).to.equal('too-late');
    expect(motions()).to.deep.equal([]);
  });

  it('for both units fails with "bus-busy" if its hold ends after only one unit has received its frame', async () => {
    clocked.intercept = async frame => {
      if (isMotion(frame)) await clocked.pause(45);
      return undefined;
    };
    expect(await driven({ ...YAW, ...AHEAD }, { holdMs: 50 })).to.equal('bus-busy');
    expect(motions()[0]?.rates).to.deep.equal([0.5, 0]);
  });

  it('for two units sends no frame to either unit if one of them is in the wrong mode', async () => {
    await clocked.during(clocked.chassis.setMode('auto'));
    expect(await driven({ ...YAW, ...AHEAD })).to.equal('wrong-mode');
    expect(motions()).to.deep.equal([]);
    expect(who()).to.equal(undefined);
  });

  it('for two units fails, and halts the first unit at once, if the frame for the second unit fails', async () => {
    clocked.intercept = frame => (isMotion(frame) && frame.unit === 'chassis' ? 'fails' : undefined);
    expect(await driven({ ...YAW, ...AHEAD })).to.equal('nack');
    await clocked.wait(10);
    expect(motions().filter(({ unit }) => unit === 'gimbal')).to.deep.include({
      unit: 'gimbal',
      rates: [0, 0],
      holdMs: 0,
    });
  });

  it('for two units sends no frame to the chassis if the frame for the gimbal fails', async () => {
    clocked.intercept = frame => (isMotion(frame) && frame.unit === 'gimbal' ? 'fails' : undefined);
    expect(await driven({ ...YAW, ...AHEAD })).to.equal('nack');
    await clocked.wait(10);
    expect(motions().filter(({ unit }) => unit === 'chassis')).to.deep.equal([]);
  });

  it('for two units sends no frame if another caller takes over the gimbal while the command waits for the next poll', async () => {
    await driven({ ...YAW, ...AHEAD });
    clocked.frames.length = 0;
    const older = drive({ ...YAW, ...AHEAD });
    expect(await driven(YAW, { by: 'rival', takeover: true })).to.deep.equal(YAW);
    expect([await older, motions().map(({ unit }) => unit)]).to.deep.equal(['driven', ['gimbal', 'gimbal']]);
  });

  for (const [what, rates] of [
    ['halts both units', { gimbal: STILL.gimbal, chassis: { speed: 0, turn: 0 } }],
    ['moves the gimbal and halts the chassis', { ...YAW, chassis: { speed: 0, turn: 0 } }],
  ] as const) {
    it(`that ${what} still halts the chassis if the frame for the gimbal fails`, async () => {
      await driven({ ...YAW, ...AHEAD }, { holdMs: 500 });
      clocked.frames.length = 0;
      clocked.intercept = frame => (isMotion(frame) && frame.unit === 'gimbal' ? 'fails' : undefined);
      expect(await driven(rates)).to.equal('nack');
      expect(motions().find(({ unit }) => unit === 'chassis')?.rates).to.deep.equal([0, 0]);
    });

    it(`that ${what} still halts the chassis if another caller takes over the gimbal before the command is answered`, async () => {
      await driven({ ...YAW, ...AHEAD }, { holdMs: 500 });
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
    it(`that halts both units is refused, but still halts the chassis, if the gimbal ${what}`, async () => {
      await driven({ ...YAW, ...AHEAD }, { holdMs: 500 });
      await act();
      clocked.frames.length = 0;
      expect(await driven({ ...STILL, chassis: { speed: 0, turn: 0 } })).to.equal(code);
      await clocked.wait(5);
      expect(motions()).to.deep.equal([{ unit: 'chassis', rates: [0, 0], holdMs: 0 }]);
    });

  for (const [what, fateOf] of [
    ['refuses the first 7 frames', (frame: Frame, motions: number) => isMotion(frame) && motions <= 7],
    ['is offline for 150 ms', ({ unit }: Frame, _: number, ms: number) => unit === 'gimbal' && ms < 150],
  ] as const)
    it(`that halts a unit is repeated until the controller takes it, even if the controller ${what}`, async () => {
      await driven(YAW, { holdMs: 500 });
      let motions = 0;
      const atMs = clocked.clock.nowMs();
      clocked.intercept = frame => {
        if (isMotion(frame)) motions += 1;
        return fateOf(frame, motions, clocked.clock.nowMs() - atMs) ? 'fails' : undefined;
      };
      expect(await driven(STILL)).to.deep.equal(STILL);
      expect(clocked.loops.gimbal.last?.rates.yaw ?? 0).to.equal(0);
      expect(clocked.clock.nowMs() - atMs).to.be.below(250);
    });

  it('that halts a unit is repeated until the controller shows it, even if noise damages the first 6 frames', async () => {
    await driven(YAW, { holdMs: 500 });
    let damaged = 0;
    clocked.intercept = async frame => {
      if (!isMotion(frame) || damaged === 6) return undefined;
      damaged += 1;
      clocked.fault('gimbal', 'corrupt', 1);
      return undefined;
    };
    expect(await driven(STILL)).to.deep.equal(STILL);
    expect([damaged, clocked.loops.gimbal.last?.rates.yaw ?? 0]).to.deep.equal([6, 0]);
  });

  it('that moves a unit waits until an unanswered halt of that unit has ended, so that the halt does not end the motion', async () => {
    await driven(YAW, { holdMs: 500 });
    let damaged = 0;
    clocked.intercept = async frame => {
      if (!isMotion(frame) || damaged === 2) return undefined;
      damaged += 1;
      clocked.fault('gimbal', 'corrupt', 1);
      return undefined;
    };
    const halted = drive(STILL);
    await clocked.wait(1);
    const moved = drive(YAW, { holdMs: 500 });
    expect(await clocked.during(Promise.all([halted, moved]))).to.deep.equal([STILL, YAW]);
    await clocked.wait(100);
    expect(clocked.loops.gimbal.last?.rates.yaw).to.equal(0.5);
  });

  it('that halts the gimbal and moves the chassis fails with "bus-busy", which does not say that nothing moves, if the bus hangs', async () => {
    await driven(YAW, { holdMs: 500 });
    let hangs = 1;
    clocked.intercept = async ({ kind }) => {
      if (kind === 'read' && hangs-- > 0) await clocked.pause(600);
      return undefined;
    };
    while (hangs > 0) await clocked.wait(1);
    expect(await driven({ ...STILL, ...AHEAD })).to.equal('bus-busy');
  });

  it('that halts a unit is carried out even if the daemon ends while a fault of the bus still refuses the frame', async () => {
    await driven(YAW, { holdMs: 500 });
    const faultyUntilMs = clocked.clock.nowMs() + 150;
    clocked.intercept = frame =>
      isMotion(frame) && clocked.clock.nowMs() < faultyUntilMs ? 'fails' : undefined;
    const halted = drive(STILL);
    await clocked.during(clocked.robot.close());
    expect(clocked.loops.gimbal.last?.rates.yaw ?? 0).to.equal(0);
    await halted;
  });

  it('is ended by a switch to manual, which waits at most 100 ms for the controller to take the frame that ends the motion', async () => {
    for (const [spoiledMs, isStill] of [
      [30, true],
      [300, false],
    ] as const) {
      await driven(YAW, { holdMs: 500 });
      const startMs = clocked.clock.nowMs();
      clocked.intercept = frame =>
        isMotion(frame) && clocked.clock.nowMs() < startMs + spoiledMs ? 'fails' : undefined;
      await clocked.during(clocked.gimbal.setMode('manual'));
      expect((clocked.loops.gimbal.last?.rates.yaw ?? 0) === 0, `${spoiledMs} ms`).to.equal(isStill);
      expect(clocked.clock.nowMs() - startMs).to.be.below(200);
      await clocked.wait(300);
      expect(clocked.loops.gimbal.last?.rates.yaw ?? 0).to.equal(0);
    }
  });

  it('that halts a unit is sent at once if another command has moved the unit just after the halt before', async () => {
    await driven(STILL);
    await driven(YAW);
    const atMs = clocked.clock.nowMs();
    await driven(STILL);
    expect(clocked.clock.nowMs() - atMs).to.be.below(10);
  });

  for (const [what, act] of [
    [
      'a refused takeover',
      () => driven(YAW, { by: 'rival', takeover: true, notAfterMs: clocked.clock.nowMs() + 1 }),
    ],
    ['the removal of the token', async () => clocked.gimbal.endDrive()],
  ] as const)
    it(`is ended by ${what}, even if the bus spoils the first 6 frames that end it`, async () => {
      await driven(YAW, { holdMs: 500 });
      let faults = 0;
      clocked.intercept = frame => {
        if (!isMotion(frame) || faults === 6) return undefined;
        faults += 1;
        return 'fails';
      };
      await act();
      await clocked.wait(150);
      expect([faults, clocked.loops.gimbal.last?.rates.yaw ?? 0]).to.deep.equal([6, 0]);
    });

  it('that a switch of the gimbal to manual ends is answered at once, and halts the chassis, even after both units have their frames', async () => {
    let isStopped = false;
    clocked.intercept = frame => {
      if (isMotion(frame) && frame.unit === 'chassis' && !isStopped) {
        isStopped = true;
        void clocked.gimbal.setMode('manual');
      }
      return undefined;
    };
    const atMs = clocked.clock.nowMs();
    expect(await driven({ ...YAW, ...AHEAD }, { holdMs: 500 })).to.equal('overtaken');
    await clocked.wait(10);
    expect(clocked.clock.nowMs() - atMs).to.be.below(100);
    expect(motions().at(-1)).to.deep.equal({ unit: 'chassis', rates: [0, 0], holdMs: 0 });
  });

  it('from a caller who has hung up, with `takeover`, does not take the place of a command of the driver that waits for the next poll', async () => {
    await driven(YAW);
    const waiting = drive(YAW);
    const stillConnected = async () => {
      throw new RobotError('caller-gone');
    };
    const dead = drive(YAW, { by: 'rival', takeover: true, stillConnected });
    expect(await clocked.during(Promise.all([waiting, dead]))).to.deep.equal([YAW, 'caller-gone']);
    expect(who()).to.equal('operator');
  });

  it('that halts a unit is carried out even if a newer command takes its place and is then refused', async () => {
    await driven(YAW, { holdMs: 500 });
    const halted = drive(STILL);
    const { stillWanted, hangUp } = new WaitingCaller();
    const newer = drive({ gimbal: { yaw: 1, pitch: 0 } }, { stillWanted });
    hangUp();
    expect(await clocked.during(halted)).to.deep.equal(STILL);
    expect([await clocked.during(newer), motions().at(-1)?.rates]).to.deep.equal(['caller-gone', [0, 0]]);
  });

  it('that halts the gimbal and moves the chassis halts the gimbal even if its caller has hung up', async () => {
    await driven(YAW, { holdMs: 500 });
    clocked.frames.length = 0;
    const stillConnected = async () => {
      throw new RobotError('caller-gone');
    };
    expect(await driven({ ...STILL, ...AHEAD }, { stillConnected })).to.equal('caller-gone');
    await clocked.wait(5);
    expect(motions()).to.deep.equal([{ unit: 'gimbal', rates: [0, 0], holdMs: 0 }]);
  });

  it('that may have arrived before a halt of the gimbal is refused, even if that halt came with a motion of the chassis', async () => {
    const pausedMs = clocked.clock.nowMs();
    await clocked.wait(100);
    await driven({ ...STILL, ...AHEAD });
    expect(await driven(YAW, { receivedMs: pausedMs, holdMs: 500 })).to.equal('overtaken');
  });

  for (const [what, act] of [
    ['a stop and a resume', () => clocked.robot.stop().then(() => clocked.robot.resume())],
    ['a switch to manual', () => clocked.gimbal.setMode('manual')],
    ['a takeover', () => clocked.drive(YAW, { by: 'rival', takeover: true, holdMs: 50 })],
  ] as const)
    it(`that may have arrived before ${what} is refused as overtaken`, async () => {
      const pausedMs = clocked.clock.nowMs();
      await clocked.wait(1);
      await driven(YAW, { holdMs: 50 });
      await clocked.during(act());
      const late = { receivedMs: pausedMs, holdMs: 500, takeover: true };
      expect(await driven(YAW, late)).to.equal('overtaken');
    });

  it('with rates of 0 and a hold of only 50 ms is still sent after the bus has hung for 120 ms', async () => {
    await driven(YAW, { holdMs: 500 });
    let hangs = 1;
    clocked.intercept = async ({ kind }) => {
      if (kind === 'read' && hangs-- > 0) await clocked.pause(120);
      return undefined;
    };
    while (hangs > 0) await clocked.wait(1);
    expect(await driven(STILL, { holdMs: 50 })).to.deep.equal(STILL);
    expect(motions().at(-1)?.rates).to.deep.equal([0, 0]);
  });

  it('is refused while another caller drives, and for a second after the last hold of that caller has ended', async () => {
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

  it('with `takeover` makes its caller the driver, and the previous driver is then refused', async () => {
    await driven(YAW);
    expect(await driven(YAW, { by: 'rival', takeover: true })).to.deep.equal(YAW);
    expect(await driven(YAW)).to.equal('driven');
    expect(ends()).to.deep.equal(['operator takeover']);
  });

  it('with `takeover` ends the motion of the previous driver even if the command itself is then refused as too late', async () => {
    await driven(YAW, { holdMs: 500 });
    const notAfterMs = clocked.clock.nowMs() + 1;
    expect(await driven(YAW, { by: 'rival', takeover: true, notAfterMs })).to.equal('too-late');
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0]);
    expect(who()).to.equal('rival');
  });

  it('that still waits for the next poll is refused as overtaken when a newer command of the same caller arrives', async () => {
    await driven(YAW);
    const answers = [1, 2, 3].map(yaw => drive({ gimbal: { yaw: yaw / 10, pitch: 0 } }));
    await clocked.during(Promise.all(answers));
    expect(await Promise.all(answers)).to.deep.equal([
      'overtaken',
      'overtaken',
      { gimbal: { yaw: 0.3, pitch: 0 } },
    ]);
    expect(motions().map(({ rates }) => rates[0])).to.deep.equal([0.5, 0.3]);
  });

  it('with rates of 0 is sent at once, and an unanswered older command of the same driver is refused as overtaken', async () => {
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
    it(`for both units still moves the chassis if a newer command, for the gimbal only, arrives ${when}`, async () => {
      if (before !== undefined) await driven(before);
      const older = drive({ ...YAW, ...AHEAD });
      await clocked.wait(waitMs);
      expect(await driven(STILL)).to.deep.equal(STILL);
      expect(await clocked.during(older)).to.deep.equal(AHEAD);
      await clocked.wait(50);
      expect(motions().filter(({ unit }) => unit === 'chassis')).to.have.length(1);
      expect(clocked.loops.chassis.last?.rates).to.deep.equal(AHEAD.chassis);
      expect(clocked.loops.gimbal.last?.rates.yaw ?? 0).to.equal(0);
    });

  it('whose caller hangs up while the command waits sends no frame, and does not cut the previous motion short', async () => {
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
    it(`is refused after ${what}, and its caller is no longer the driver`, async () => {
      await driven(YAW);
      expect(who()).to.equal('operator');
      await clocked.during(act());
      expect(who()).to.equal(undefined);
      expect(await driven(YAW)).to.equal(code);
    });

  it('no longer moves the unit after a switch to manual, even if the unit was already in manual', async () => {
    await driven(YAW);
    await clocked.during(clocked.gimbal.setMode('manual'));
    expect([who(), motions().at(-1)?.rates]).to.deep.equal([undefined, [0, 0]]);
  });

  it('of the driver is still accepted after a failed switch to auto', async () => {
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
    it(`that waits for the next poll is refused as overtaken, and moves nothing, if ${what} before that poll`, async () => {
      await clocked.end();
      clocked = await ClockedRobot.start({ pollHz: 5 });
      await driven(YAW);
      const waiting = drive(YAW, { holdMs: 500 });
      await clocked.wait(1);
      await clocked.during(act());
      clocked.frames.length = 0;
      await clocked.during(waiting);
      expect([await waiting, motions(), who()]).to.deep.equal(['overtaken', [], undefined]);
    });

  it('whose first attempt fails is not sent again if its caller hung up or the robot was locked during that attempt', async () => {
    for (const forbid of ['hang up', 'lock'] as const) {
      clocked.frames.length = 0;
      const { stillWanted, hangUp } = new WaitingCaller();
      clocked.intercept = async frame => {
        if (!isMotion(frame)) return undefined;
        if (forbid === 'lock') isForbidden = true;
        else hangUp();
        return 'fails';
      };
      const code = await driven(YAW, { stillWanted, id: forbid });
      expect(code).to.equal(forbid === 'lock' ? 'locked' : 'caller-gone');
      expect(motions().filter(({ rates }) => rates[0] !== 0)).to.have.length(1);
      await clocked.wait(1300);
    }
  });

  it('that may have arrived before an already accepted halt (rates of 0) is refused as overtaken', async () => {
    const pausedMs = clocked.clock.nowMs();
    await clocked.wait(100);
    await driven(STILL);
    expect(await driven(YAW, { receivedMs: pausedMs, holdMs: 500 })).to.equal('overtaken');
    expect(motions().map(({ rates }) => rates)).to.deep.equal([[0, 0]]);
    expect(await driven(YAW)).to.deep.equal(YAW);
  });

  it('is sent again with the rest of its hold if the controller refuses the frame as damaged', async () => {
    let damaged = 0;
    clocked.intercept = async frame => {
      if (!isMotion(frame) || damaged === 2) return undefined;
      damaged += 1;
      clocked.fault('gimbal', 'corrupt', 1);
      return undefined;
    };
    expect(await driven(YAW)).to.deep.equal(YAW);
    const holds = motions().map(({ holdMs }) => holdMs);
    expect(holds).to.have.length(3);
    expect(holds[2]).to.be.within(120, 170);
  });

  it('that ends or slows a motion is sent again if the controller refuses the frame as damaged', async () => {
    for (const rate of [0, 0.2]) {
      await driven(YAW, { holdMs: 500 });
      let damaged = 0;
      clocked.intercept = async frame => {
        if (!isMotion(frame) || damaged === 1) return undefined;
        damaged += 1;
        clocked.fault('gimbal', 'corrupt', 1);
        return undefined;
      };
      expect(await driven({ gimbal: { yaw: rate, pitch: 0 } })).to.deep.equal({
        gimbal: { yaw: rate, pitch: 0 },
      });
      expect(damaged).to.equal(1);
      clocked.intercept = () => undefined;
    }
  });

  it('with `takeover` from ten callers at once is logged only for the caller whose frame was sent', async () => {
    const callers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    await driven(YAW, { by: 'z' });
    clocked.frames.length = 0;
    const answers = callers.map(by => drive(YAW, { by, takeover: true }));
    await clocked.during(Promise.all(answers));
    expect(await Promise.all(answers)).to.deep.equal([...callers.slice(1).map(() => 'overtaken'), YAW]);
    expect(motions().map(({ rates }) => rates)).to.deep.equal([
      [0, 0],
      [0.5, 0],
    ]);
    expect(lines()).to.deep.equal(['drive z', 'drive-ended z', 'drive j']);
  });

  it('with rates of 0, from two callers who keep taking over from each other, is sent once a poll and never logged', async () => {
    const answers: Promise<unknown>[] = [];
    for (let ms = 0; ms < 100; ms += 1) {
      answers.push(drive(STILL, { by: ms % 2 === 0 ? 'a' : 'b', takeover: true }));
      await clocked.wait(1);
    }
    await clocked.during(Promise.all(answers));
    expect(motions().length).to.be.within(3, 8);
    expect(lines()).to.deep.equal([]);
  });

  it('with rates of 0 and a hold of 50 ms succeeds every time even if the daemon polls only 5 times a second', async () => {
    await clocked.end();
    clocked = await ClockedRobot.start({ pollHz: 5 });
    await clocked.wait(200);
    for (let count = 0; count < 5; count += 1)
      expect(await driven(STILL, { holdMs: 50 })).to.deep.equal(STILL);
  });

  it('for both units still moves the chassis if the command may be older than a halt (rates of 0) of the gimbal', async () => {
    const pausedMs = clocked.clock.nowMs();
    await clocked.wait(50);
    await driven(STILL);
    expect(await driven({ ...YAW, ...AHEAD }, { receivedMs: pausedMs, holdMs: 500 })).to.deep.equal(AHEAD);
  });

  it('makes the daemon read the moving unit at every poll, about 50 times a second', async () => {
    clocked.frames.length = 0;
    await driven(YAW, { holdMs: 500 });
    await clocked.wait(400);
    const readings = clocked.frames.filter(
      ({ unit, register }) => unit === 'gimbal' && register === 'telemetry',
    );
    expect(readings.length).to.be.within(19, 22);
  });

  it('is refused if the controller has no register `motion`, and the status of the unit shows `drivable: false`', async () => {
    clocked.alter(REGISTERS.status, ({ flags }) => ({ flags: flags & 0x7f }));
    await clocked.wait(40);
    expect(await driven(YAW)).to.equal('not-drivable');
    expect(clocked.gimbal.report().drivable).to.equal(false);
    expect(motions()).to.deep.equal([]);
  });
});
