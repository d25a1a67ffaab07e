import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { PHASES, type Phase } from '../../src/core/phases.js';
import { type MatchState, NO_MATCH } from '../../src/match/match.js';
import { matchFile } from '../../src/match/match-file.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** Each run of the daemon has a clock of its own; the boot's goes on. */
function record(folder: string, boot: { id: string; nowMs: number }, disk: Disk = realDisk) {
  const clock = new ManualClock();
  const file = matchFile({ disk, folder, clock }, { id: boot.id, nowMs: () => boot.nowMs });
  return { clock, file, load: () => file.read(1000), save: (state: MatchState) => file.save(state, 1000) };
}

const playing = (phase: Phase, endsAtMs: number | null = null): MatchState => ({
  lock: null,
  // 0.2.0 took revisions that no call may have now.
  call: { id: 'M1', revision: Number.MAX_SAFE_INTEGER, phase, remainingS: 60 },
  phase,
  endsAtMs,
});
const LOCKED: MatchState = { ...NO_MATCH, lock: { by: 'desk', reason: 'inspection' } };

describe('the record of lock and match', () => {
  it('says nothing of a match before the first', () =>
    inTemporaryFolder(async folder => {
      expect(await record(folder, { id: 'a', nowMs: 0 }).load()).to.deep.equal(NO_MATCH);
    }));

  it('keeps a lock through restarts and boots', () =>
    inTemporaryFolder(async folder => {
      await record(folder, { id: 'a', nowMs: 0 }).save(LOCKED);
      for (const id of ['a', 'b']) {
        expect((await record(folder, { id, nowMs: 5 }).load()).lock).to.deep.equal(LOCKED.lock);
      }
    }));

  it('keeps the time left through a restart, by the clock of the boot', () =>
    inTemporaryFolder(async folder => {
      const before = record(folder, { id: 'a', nowMs: 1000 });
      await before.clock.advance(500);
      await before.save(playing('teleop', 60_500));
      const after = await record(folder, { id: 'a', nowMs: 11_000 }).load();
      expect(after).to.deep.equal({ ...playing('teleop'), endsAtMs: 50_000 });
    }));

  for (const phase of PHASES) {
    const after = phase === 'none' || phase === 'ended' ? phase : 'pause';
    it(`makes ${after} of ${phase} at another boot`, () =>
      inTemporaryFolder(async folder => {
        await record(folder, { id: 'a', nowMs: 0 }).save(playing(phase, 60_000));
        const loaded = await record(folder, { id: 'b', nowMs: 0 }).load();
        expect(loaded.phase).to.equal(after);
        if (after === 'pause') expect(loaded.endsAtMs).to.equal(null);
      }));
  }

  it('is a lock or the same, whichever byte is damaged, and the damaged one is kept', () =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'match.json');
      const boot = { id: 'a', nowMs: 0 };
      await record(folder, boot).save(playing('auto'));
      const whole = await readFile(file);
      for (let at = 0; at < whole.length; at += 1) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ 0x04;
        await writeFile(file, damaged);
        const { lock, phase } = await record(folder, boot).load();
        if (lock === null) expect(phase, `byte ${at}`).to.equal('auto');
      }
      await writeFile(file, whole.subarray(0, 20));
      for (const start of ['first', 'second']) {
        expect((await record(folder, boot).load()).lock?.reason, start).to.include('damaged');
      }
      expect((await realDisk.list(folder)).some(name => name.startsWith('match.json.damaged-'))).to.equal(
        true,
      );
    }));

  it('is a lock where the disk cannot be read', async () => {
    const disk = new RecordingDisk();
    disk.interfere = async operation => {
      throw new RobotError('storage-failed', { operation, path: '/state', errno: 'EIO' });
    };
    const { lock } = await record('/state', { id: 'a', nowMs: 0 }, disk).file.read(1000);
    expect(lock?.reason).to.include('cannot be read');
  });
});
