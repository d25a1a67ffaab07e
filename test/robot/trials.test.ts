import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { unitNamed } from '../../src/core/units.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('a trial of gains', () => {
  let robot: ClockedRobot;
  let isForbidden = false;
  const permission = {
    require: ({ kind }: { kind: string }) => {
      if (kind === 'trial' && isForbidden) throw new RobotError('wrong-phase', { phase: 'teleop' });
    },
  };
  beforeEach(async () => {
    isForbidden = false;
    robot = await ClockedRobot.start({}, permission);
  });
  afterEach(() => robot.end());

  const trial = () => robot.chassis.trial?.id;
  const tries = (...asked: Parameters<ClockedRobot['tryGains']>) => robot.outcome(robot.tryGains(...asked));
  const ends = () => robot.outcome(robot.chassis.gains.endTrial());
  const events = () => robot.events.filter(({ what }) => what.startsWith('trial'));
  /** Checks that the saved gains run, and no trial. */
  const isOver = async () => {
    await robot.wait(500);
    expect(robot.chassis.report()).to.include({ trial: undefined, applied: true });
    expect(robot.runningKp).to.equal(40);
  };

  it('accepts a renewal or a change only from the caller who began it, and sends an event for a change, but none for a renewal', async () => {
    for (const kp of [1, 1]) expect(await tries(kp)).to.equal(200);
    for (const kp of [1, 2]) expect(await tries(kp, { by: 'other' })).to.equal('trial-running');
    expect(robot.runningKp).to.equal(1);
    expect(await tries(2)).to.equal(200);
    expect(events()).to.deep.equal([
      { what: 'trial', unit: 'chassis', detail: { by: 'lab' } },
      { what: 'trial-changed', unit: 'chassis', detail: { by: 'lab', loops: 'speed' } },
    ]);
  });

  it('has begun before the event "trial" is sent, and has ended before the event "trial-ended" is sent', async () => {
    const seen: unknown[] = [];
    robot.robot.events.add(({ what }) => what.startsWith('trial') && seen.push(trial()));
    await tries(1);
    await ends();
    expect(seen).to.deep.equal(['a', undefined]);
  });

  it('is confirmed as ended only when the saved gains run, even if the request to end it waits behind mode switches', async () => {
    await tries(1);
    const others = (['auto', 'manual', 'auto'] as const).map(mode => robot.chassis.setMode(mode));
    let ran: number | undefined;
    const end = robot.chassis.gains.endTrial().then(() => {
      ran = robot.runningKp;
    });
    expect(await robot.outcome(end)).to.equal(200);
    expect(ran).to.equal(40);
    await robot.during(Promise.all(others));
  });

  it('does not run after a request to end it is confirmed, even if that request arrived before the trial began', async () => {
    const busy = robot.chassis.setMode('auto');
    const begins = tries(7);
    expect(await ends()).to.equal(200);
    expect([trial(), robot.runningKp]).to.deep.equal([undefined, 40]);
    // The trial begins before the turn of the request to end it.
    expect(await begins).to.equal(200);
    await busy;
    await isOver();
  });

  it('is not confirmed as ended while its controller refuses the saved gains or is offline', async () => {
    await tries(1);
    robot.let({ register: 'commit' }, 'fails');
    const refusal = await robot.during(robot.chassis.gains.endTrial().catch(error => error));
    expect([refusal.code, refusal.context.ended, robot.runningKp]).to.deep.equal(['not-confirmed', true, 1]);
    expect([trial(), await ends()]).to.deep.equal([undefined, 'not-confirmed']);
    robot.allIsWell();
    await isOver();
    expect(await ends()).to.equal(200);
    robot.fault('chassis', 'unplug');
    for (const waitMs of [0, 500]) {
      await robot.wait(waitMs);
      expect(await ends()).to.equal('not-confirmed');
    }
  });

  it('is refused while a save waits for the disk, because that save would soon end the trial', async () => {
    const answerAgain = robot.disk.hang();
    const save = robot.outcome(robot.chassis.gains.save(robot.gainsWith(1)));
    expect(await tries(2)).to.equal('unit-busy');
    answerAgain();
    expect(await save).to.equal(200);
    expect(await tries(2)).to.equal(200);
    await robot.wait(100);
    expect(robot.runningKp).to.equal(2);
  });

  for (const isRenewal of [false, true]) {
    it(`${isRenewal ? 'is not renewed if a stop or a request to end it' : 'does not begin if a stop'} arrives while the daemon writes the gains of the trial`, async () => {
      for (const end of [
        () => robot.robot.stop(),
        ...(isRenewal ? [() => robot.chassis.gains.endTrial()] : []),
      ]) {
        if (isRenewal) await robot.during(robot.tryGains(1));
        robot.atFirst({ kind: 'write', register: 'gains_0' }, () => void end().catch(() => undefined));
        expect(await tries(2)).to.be.oneOf(['stopped', 'trial-ended']);
        await isOver();
        await robot.during(robot.robot.resume());
      }
    });
  }

  it('is refused, and the saved gains keep running, if a phase that forbids trials begins before the trial does', async () => {
    robot.atFirst({ register: 'commit' }, () => {
      isForbidden = true;
    });
    expect(await tries(1)).to.equal('wrong-phase');
    expect(robot.runningKp).to.equal(40);
    await isOver();
  });

  it('is refused while the journal of saved gains cannot be read, because the gains to restore afterwards are unknown', async () => {
    const gains = robot.gainsWith(1);
    const read = robot.disk.read.bind(robot.disk);
    robot.disk.read = async path => {
      if (!path.endsWith('gains.jsonl')) return read(path);
      throw new RobotError('storage-failed', { operation: 'read', path, errno: 'EIO' });
    };
    await robot.restart();
    expect(await tries(1, { gains })).to.equal('storage-failed');
    await robot.wait(1000);
    expect(robot.runningKp).to.equal(40);
  });

  it('succeeds even if the camera loses its target before the new gains run', async () => {
    robot.loops.gimbal.targetVisible = true;
    await robot.wait(100);
    const isLost = robot.atFirst({ unit: 'gimbal', kind: 'write', register: 'commit' }, () => {
      robot.loops.gimbal.targetVisible = false;
      // Polls see it before the request continues.
      return robot.pause(40);
    });
    const { gains } = robot.robot.store.current('gimbal');
    const tried = { ...gains, angle_yaw: { kp: 1, ki: 0, kd: 0 } };
    const asked = robot.gimbal.gains.tryGains({ id: 'a', by: 'lab', gains: tried, endsAtMs: 1e9 });
    expect([await robot.outcome(asked), isLost()]).to.deep.equal([200, true]);
    await robot.wait(100);
    expect(robot.truth('gimbal').gains?.angle_yaw?.kp).to.equal(1);
  });

  describe('whose loop runs away', () => {
    // The measured value of the scripted speed loop grows by 1 m/s per second. Its setpoint stays at 0.
    const { runaway } = unitNamed('chassis').loops[0]!;
    const atMs = 1000 * runaway;
    const waitUntil = (ms: number) => robot.wait(ms - robot.clock.nowMs());
    const ranAway = { what: 'trial-ended', unit: 'chassis', detail: { by: 'lab', why: 'runaway' } };

    it('ends when the measured value exceeds the runaway bound of the loop, and not before', async () => {
      await tries(1);
      await waitUntil(atMs - 50);
      expect(trial()).to.equal('a');
      await robot.wait(200);
      expect(robot.events).to.deep.include(ranAway);
      await isOver();
    });

    it('ends even if the loop is already beyond its bound at the first reading after the trial began', async () => {
      await waitUntil(atMs - 30);
      // No reading with the new gains arrives before the loop has run away.
      robot.intercept = ({ unit, register }) =>
        unit === 'chassis' && register === 'telemetry' && trial() === 'a' && robot.clock.nowMs() < atMs + 5
          ? 'fails'
          : undefined;
      await tries(1);
      await robot.wait(200);
      expect(robot.events).to.deep.include(ranAway);
    });

    it('continues if the loop was already beyond its bound before the trial, even if no reading had shown that', async () => {
      const unfollow = robot.robot.followed.add(() => undefined);
      await waitUntil(atMs - 10);
      unfollow();
      await waitUntil(atMs + 30);
      expect(robot.chassis.telemetry?.loops.speed?.measured).to.be.below(runaway);
      await tries(1);
      await robot.wait(300);
      expect(trial()).to.equal('a');
    });
  });
});
