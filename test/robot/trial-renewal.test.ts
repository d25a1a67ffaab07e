import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { ClockedRobot } from '../support/clocked-robot.js';

describe('the end of a trial', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    const gains = { ...robot.robot.store.current('chassis').gains, speed: { kp: 1, ki: 0, kd: 0 } };
    await robot.during(chassis().gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 1e9 }));
  });
  afterEach(() => robot.end());

  const chassis = () => robot.robot.units.chassis;
  const kp = () => robot.truth('chassis').gains?.speed?.kp;

  it('is answered when the saved gains run, also after whoever has the turn', async () => {
    await robot.wait(100);
    const others = [chassis().setMode('auto'), chassis().setMode('manual'), chassis().setMode('auto')];
    const end = chassis().gains.endTrial('ended');
    let ran: number | undefined;
    const seen = end.then(() => {
      ran = kp();
    });
    expect(await robot.outcome(seen)).to.equal(200);
    expect(ran).to.equal(40);
    await robot.during(Promise.all(others));
  });

  it('holds also for a trial that was asked for before and waits for its turn', async () => {
    await robot.during(chassis().gains.endTrial('ended'));
    const busy = chassis().setMode('auto');
    const gains = { ...robot.robot.store.current('chassis').gains, speed: { kp: 7, ki: 0, kd: 0 } };
    const begins = robot.outcome(chassis().gains.tryGains({ id: 'b', by: 'lab', gains, endsAtMs: 1e9 }));
    expect(await robot.outcome(chassis().gains.endTrial('ended'))).to.equal(200);
    expect([chassis().trial, kp()]).to.deep.equal([undefined, 40]);
    await Promise.all([busy, begins]);
    await robot.wait(200);
    expect([chassis().trial, kp()]).to.deep.equal([undefined, 40]);
  });

  it('is not confirmed by a controller that does not answer, and polls go on', async () => {
    robot.intercept = ({ register }) => (register === 'commit' ? 'fails' : undefined);
    const refusal = await robot.during(
      chassis()
        .gains.endTrial('ended')
        .catch(error => error),
    );
    expect([refusal.code, refusal.context.ended, kp()]).to.deep.equal(['not-confirmed', true, 1]);
    expect(chassis().trial).to.equal(undefined);
    expect(await robot.outcome(chassis().gains.endTrial('ended'))).to.equal('not-confirmed');
    robot.intercept = () => undefined;
    await robot.wait(300);
    expect(kp()).to.equal(40);
    expect(await robot.outcome(chassis().gains.endTrial('ended'))).to.equal(200);
  });

  it('is not confirmed while the controller is away', async () => {
    robot.fault('chassis', 'unplug');
    expect(await robot.outcome(chassis().gains.endTrial('ended'))).to.equal('not-confirmed');
    await robot.wait(500);
    expect(await robot.outcome(chassis().gains.endTrial('ended'))).to.equal('not-confirmed');
  });
});

describe('a trial that is asked for while a save waits for the disk', () => {
  it('is refused, so that the save does not end it right after its answer', async () => {
    const robot = await ClockedRobot.start();
    const { gains } = robot.robot.units.chassis;
    const set = (kp: number) => ({
      ...robot.robot.store.current('chassis').gains,
      speed: { kp, ki: 0, kd: 0 },
    });
    const trial = { id: 'a', by: 'lab', gains: set(2), endsAtMs: 1e9 };
    const answerAgain = robot.disk.hang();
    const save = robot.outcome(gains.save(set(1)));
    expect(await robot.outcome(gains.tryGains(trial))).to.equal('unit-busy');
    answerAgain();
    expect(await save).to.equal(200);
    expect(await robot.outcome(gains.tryGains(trial))).to.equal(200);
    await robot.wait(100);
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(2);
    await robot.end();
  });
});

describe('a trial of gains', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  const asked = (by: string, kp: number) => {
    const { gains, unit } = robot.robot.units.chassis;
    const tried = { ...robot.robot.store.current(unit.name).gains, speed: { kp, ki: 0, kd: 0 } };
    return robot.outcome(gains.tryGains({ id: 'a', by, gains: tried, endsAtMs: 1e9 }));
  };
  const trials = () => robot.events.filter(({ what }) => what.startsWith('trial'));

  it('belongs to whoever began it: somebody else who knows its id cannot renew or change it', async () => {
    expect(await asked('lab', 1)).to.equal(200);
    for (const kp of [1, 2]) expect(await asked('other', kp)).to.equal('trial-running');
    expect(robot.robot.units.chassis.trial?.by).to.equal('lab');
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(1);
    expect(trials()).to.deep.equal([{ what: 'trial', unit: 'chassis', detail: { by: 'lab' } }]);
  });

  it('is an event when its gains are changed, and none when it is renewed', async () => {
    await asked('lab', 1);
    await asked('lab', 1);
    expect(await asked('lab', 2)).to.equal(200);
    expect(trials()).to.deep.equal([
      { what: 'trial', unit: 'chassis', detail: { by: 'lab' } },
      { what: 'trial-changed', unit: 'chassis', detail: { by: 'lab', loops: 'speed' } },
    ]);
  });
});

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
    expect(chassis().report().trial).to.equal(undefined);
    expect(chassis().report().applied).to.equal(true);
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

describe('the beginning of a trial', () => {
  it('is refused where a phase without trials comes while it is on its way, and leaves nothing', async () => {
    let isForbidden = false;
    const robot = await ClockedRobot.start(
      {},
      {
        require: ({ kind }) => {
          if (kind === 'trial' && isForbidden) throw new RobotError('wrong-phase', { phase: 'teleop' });
        },
      },
    );
    const { chassis } = robot.robot.units;
    const { gains: saved } = robot.robot.store.current('chassis');
    robot.intercept = ({ register }) => {
      isForbidden ||= register === 'commit';
      return undefined;
    };
    const gains = { ...saved, speed: { kp: 1, ki: 0, kd: 0 } };
    const trial = { id: 'a', by: 'lab', gains, endsAtMs: 1e9 };
    expect(await robot.outcome(chassis.gains.tryGains(trial))).to.equal('wrong-phase');
    await robot.wait(300);
    expect(chassis.trial).to.equal(undefined);
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(saved.speed?.kp);
    await robot.end();
  });

  it('is seen by those who hear of it', async () => {
    const robot = await ClockedRobot.start();
    const { chassis } = robot.robot.units;
    const seen: unknown[] = [];
    robot.robot.events.add(({ what }) => {
      if (what.startsWith('trial')) seen.push(chassis.trial?.id);
    });
    const { gains } = robot.robot.store.current('chassis');
    await robot.during(chassis.gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 1e9 }));
    await robot.during(chassis.gains.endTrial('ended'));
    expect(seen).to.deep.equal(['a', undefined]);
    await robot.end();
  });
});

describe('a trial where nobody knows which gains come after it', () => {
  it('is refused while the journal cannot be read, and leaves nothing behind', async () => {
    const robot = await ClockedRobot.start();
    const chassis = () => robot.robot.units.chassis;
    const { gains } = robot.robot.store.current('chassis');
    const read = robot.disk.read.bind(robot.disk);
    robot.disk.read = async path => {
      if (!path.endsWith('gains.jsonl')) return read(path);
      throw new RobotError('storage-failed', { operation: 'read', path, errno: 'EIO', cure: '' });
    };
    await robot.restart();
    const trial = { id: 'a', by: 'lab', gains: { ...gains, speed: { kp: 1, ki: 0, kd: 0 } }, endsAtMs: 1e9 };
    expect(await robot.outcome(chassis().gains.tryGains(trial))).to.equal('storage-failed');
    await robot.wait(1000);
    expect(robot.truth('chassis').gains).to.deep.equal(gains);
    await robot.end();
  });
});

describe('a trial that begins while the target is lost', () => {
  it('is answered 200, for its gains had no part in that', async () => {
    const robot = await ClockedRobot.start();
    robot.loops.gimbal.targetVisible = true;
    await robot.wait(100);
    let isLost = false;
    robot.intercept = async ({ unit, kind, register }) => {
      if (isLost || unit !== 'gimbal' || kind !== 'write' || register !== 'commit') return undefined;
      isLost = true;
      robot.loops.gimbal.targetVisible = false;
      // Polls see it before the request goes on.
      await new Promise<void>(resolve => robot.clock.after(40, resolve));
      return undefined;
    };
    const { gains } = robot.robot.store.current('gimbal');
    const trial = {
      id: 'a',
      by: 'lab',
      gains: { ...gains, angle_yaw: { kp: 1, ki: 0, kd: 0 } },
      endsAtMs: 1e9,
    };
    expect(await robot.outcome(robot.robot.units.gimbal.gains.tryGains(trial))).to.equal(200);
    expect(isLost).to.equal(true);
    await robot.wait(100);
    expect(robot.truth('gimbal').gains?.angle_yaw?.kp).to.equal(1);
    await robot.end();
  });
});
