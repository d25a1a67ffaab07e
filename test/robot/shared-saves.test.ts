import { expect } from 'chai';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, isLike, WaitingCaller } from '../support/clocked-robot.js';

const COMMIT = { kind: 'write', register: 'commit' } as const;

describe('saves of gains for one unit', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    robot.frames.length = 0;
  });
  afterEach(() => robot.end());

  const save = (kp: number, options: { baseRevision?: number; stillWanted?: () => void } = {}) =>
    robot.outcome(robot.chassis.gains.save(robot.gainsWith(kp), options));
  /** Takes the unit's turn, so that the next request must wait. */
  const occupy = () => robot.outcome(robot.chassis.setMode('manual'));
  /**
   * A mode that never takes effect keeps the turn for the longest time of a request. `end` lets modes take effect
   * again.
   */
  const occupyForLong = () => {
    const { bus } = robot.sim.hardware;
    const write = bus.writeBlock.bind(bus);
    bus.writeBlock = async (address, register, data) => {
      if (register !== REGISTERS.mode.address) await write(address, register, data);
    };
    const end = () => {
      bus.writeBlock = write;
    };
    return { busy: robot.outcome(robot.chassis.setMode('auto')), end };
  };
  /** The gains of the revisions, oldest first. */
  const saved = () =>
    robot.robot.store
      .history('chassis', 9)
      .map(({ gains }) => gains.speed?.kp)
      .reverse();

  it('wait while the unit is busy, then send the controller only the newest gains, and each save becomes a revision', async () => {
    const busy = occupy();
    expect(await Promise.all([save(1), save(2), save(3), busy])).to.deep.equal([200, 200, 200, 200]);
    expect([saved(), robot.runningKp]).to.deep.equal([[1, 2, 3], 3]);
    const revisions = robot.events.flatMap(event =>
      event.what === 'save' ? `${event.detail.before} ${event.detail.after}` : [],
    );
    expect(revisions).to.deep.equal(['0 1', '1 2', '2 3']);
    expect(robot.frames.filter(frame => isLike(frame, COMMIT))).to.have.length(1);
  });

  it('wait while the unit is busy, then succeed unless the caller has hung up or the save is based on an old revision', async () => {
    const { stillWanted, hangUp } = new WaitingCaller();
    const busy = occupy();
    const outcomes = [
      save(1, { baseRevision: 0 }),
      save(2, { stillWanted }),
      save(3),
      save(4, { baseRevision: 0 }),
      save(5, { stillWanted }),
    ];
    hangUp();
    expect(await Promise.all(outcomes)).to.deep.equal([
      200,
      'caller-gone',
      200,
      'changed-meanwhile',
      'caller-gone',
    ]);
    await busy;
    expect([saved(), robot.runningKp]).to.deep.equal([[1, 3], 3]);
  });

  it('wait while the unit is busy, then all fail and change nothing if the controller does not confirm the newest gains', async () => {
    robot.let({ register: 'commit' }, 'answer lost');
    const busy = occupy();
    expect(await Promise.all([save(1), save(2), busy])).to.deep.equal(['nack', 'nack', 200]);
    robot.allIsWell();
    await robot.wait(300);
    expect([saved(), robot.runningKp]).to.deep.equal([[], 40]);
  });

  it('fail, and change nothing, if the disk cannot be written', async () => {
    robot.disk.fail('append');
    expect([await save(1), saved(), robot.runningKp]).to.deep.equal(['storage-failed', [], 40]);
    robot.disk.fail();
  });

  it('wait while the unit is busy, then succeed even if an earlier waiting save has timed out', async () => {
    const { busy } = occupyForLong();
    const early = save(1);
    await robot.wait(300);
    expect(await Promise.all([early, save(2), busy])).to.deep.equal(['unit-busy', 200, 'not-confirmed']);
    expect([saved(), robot.runningKp]).to.deep.equal([[2], 2]);
  });

  it('create no revision if they fail, so that the next save can still be based on revision 0', async () => {
    robot.let(COMMIT, 'fails');
    const busy = occupy();
    const first = save(1).finally(() => robot.allIsWell());
    await robot.wait(0);
    expect(await Promise.all([first, save(2, { baseRevision: 0 }), busy])).to.deep.equal(['nack', 200, 200]);
    expect([saved(), robot.runningKp]).to.deep.equal([[2], 2]);
  });

  it('wait behind an earlier save, and then succeed even if the earlier save fails', async () => {
    let late: Promise<unknown> | undefined;
    robot.each(COMMIT, number => {
      late ??= save(3);
      return number <= 3 ? 'fails' : undefined;
    });
    const { busy, end } = occupyForLong();
    const first = save(1);
    await robot.wait(5);
    const second = save(2);
    end();
    const outcomes = await Promise.all([first, second, busy]);
    expect([...outcomes, await late]).to.deep.equal(['nack', 200, 200, 200]);
    expect([saved(), robot.runningKp]).to.deep.equal([[2, 3], 3]);
  });

  it('are refused, and send the controller no gains, while the journal of saved gains cannot be read', async () => {
    robot.disk.fail('read');
    await robot.restart();
    robot.frames.length = 0;
    const saving = robot.chassis.gains.save({ speed: { kp: 1, ki: 0, kd: 0 } });
    expect(await robot.outcome(saving)).to.equal('storage-failed');
    expect([robot.frames.some(frame => isLike(frame, COMMIT)), robot.runningKp]).to.deep.equal([false, 40]);
    robot.disk.fail();
  });

  it('time out if the unit stays busy, and succeed again when the unit is free', async () => {
    const { busy, end } = occupyForLong();
    expect(await Promise.all([save(1), save(2)])).to.deep.equal(['unit-busy', 'unit-busy']);
    await busy;
    end();
    expect(await save(3)).to.equal(200);
    expect([saved(), robot.runningKp]).to.deep.equal([[3], 3]);
  });
});
