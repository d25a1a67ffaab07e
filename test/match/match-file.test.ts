import { expect } from 'chai';
import { PHASES, type Phase } from '../../src/core/phases.js';
import { sha256 } from '../../src/core/sha256.js';
import { type MatchState, NO_MATCH } from '../../src/match/match.js';
import { matchFile } from '../../src/match/match-file.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const PATH = '/state/match.json';

const playing = (phase: Phase, endsAtMs: number | null = null): MatchState => ({
  lock: null,
  // 0.2.0 accepted revisions that this version refuses.
  call: { id: 'M1', revision: Number.MAX_SAFE_INTEGER, phase, remainingS: 60 },
  phase,
  endsAtMs,
});
const LOCKED: MatchState = { ...NO_MATCH, lock: { id: 'L1', by: 'desk', reason: 'inspection' } };

describe('the state file of lock and match', () => {
  let disk: RecordingDisk;
  beforeEach(() => {
    disk = new RecordingDisk();
  });
  /** A run of the daemon. It has its own clock, while the boot's clock continues. */
  const run = (id = 'a', nowMs = 0) => {
    const clock = new ManualClock();
    const file = matchFile({ disk, folder: '/state', clock }, { id, nowMs: () => nowMs });
    return { clock, load: () => file.read(1000), save: (state: MatchState) => file.save(state, 1000) };
  };

  it('has no lock until a lock is saved, and then keeps that lock through daemon restarts and system boots', async () => {
    expect(await run().load()).to.deep.equal(NO_MATCH);
    await run().save(LOCKED);
    for (const id of ['a', 'b']) expect((await run(id, 5).load()).lock).to.deep.equal(LOCKED.lock);
  });

  it('gives an id to a lock that version 0.3.0 stored without an id, and keeps the new id when the daemon restarts', async () => {
    const recorded = { ...NO_MATCH, lock: { by: 'desk', reason: 'inspection' }, boot: 'a' };
    const sum = sha256(JSON.stringify(recorded));
    disk.put(PATH, Buffer.from(JSON.stringify({ recorded, sha256: sum })));
    const { lock } = await run().load();
    expect(lock).to.deep.include({ by: 'desk', reason: 'inspection' });
    expect(lock?.id).to.match(/^[0-9a-f]{16}$/);
    expect((await run().load()).lock).to.deep.equal(lock);
  });

  it('keeps the time at which a phase ends if the daemon restarts without a system boot', async () => {
    const before = run('a', 1000);
    await before.clock.advance(500);
    await before.save(playing('teleop', 60_500));
    expect(await run('a', 11_000).load()).to.deep.equal({ ...playing('teleop'), endsAtMs: 50_000 });
  });

  it('gives the phase "pause" after a system boot, unless the saved phase is "none" or "ended"', async () => {
    for (const phase of PHASES) {
      await run().save(playing(phase, 60_000));
      const { phase: after, endsAtMs } = await run('b').load();
      const isOver = phase === 'none' || phase === 'ended';
      expect(after, phase).to.equal(isOver ? phase : 'pause');
      if (!isOver) expect(endsAtMs, phase).to.equal(null);
    }
  });

  it('locks the robot if the file is cut short, and either locks the robot or gives the right phase if one byte is damaged', async () => {
    await run().save(playing('auto'));
    const whole = disk.files()[PATH]!;
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x04;
      disk.put(PATH, damaged);
      const { lock, phase } = await run().load();
      if (lock === null) expect(phase, `byte ${at}`).to.equal('auto');
    }
    disk.put(PATH, whole.subarray(0, 20));
    for (const start of ['first', 'second'])
      expect((await run().load()).lock?.reason, start).to.include('damaged');
    expect(Object.keys(disk.files()).some(path => path.startsWith(`${PATH}.damaged-`))).to.equal(true);
  });

  it('locks the robot if the disk cannot be read', async () => {
    disk.fail('read');
    expect((await run().load()).lock?.reason).to.include('cannot be read');
  });
});
