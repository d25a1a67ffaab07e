import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRobotError, RobotError } from '../../src/core/errors.js';
import { PHASES, type Phase } from '../../src/core/phases.js';
import { type MatchState, NO_MATCH } from '../../src/match/match.js';
import { MatchRecord } from '../../src/match/match-record.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** Each run of the daemon has a clock of its own; the boot's goes on. */
function record(folder: string, boot: { id: string; nowMs: number }, disk: Disk = realDisk) {
  const clock = new ManualClock();
  const made = new MatchRecord({ disk, folder, clock, boot: { id: boot.id, nowMs: () => boot.nowMs } });
  return { clock, record: made };
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
      expect(await record(folder, { id: 'a', nowMs: 0 }).record.load()).to.deep.equal(NO_MATCH);
    }));

  it('keeps a lock through restarts and boots', () =>
    inTemporaryFolder(async folder => {
      await record(folder, { id: 'a', nowMs: 0 }).record.save(LOCKED);
      for (const id of ['a', 'b']) {
        expect((await record(folder, { id, nowMs: 5 }).record.load()).lock).to.deep.equal(LOCKED.lock);
      }
    }));

  it('keeps the time left through a restart, by the clock of the boot', () =>
    inTemporaryFolder(async folder => {
      const before = record(folder, { id: 'a', nowMs: 1000 });
      await before.clock.advance(500);
      await before.record.save(playing('teleop', 60_500));
      const after = await record(folder, { id: 'a', nowMs: 11_000 }).record.load();
      expect(after).to.deep.equal({ ...playing('teleop'), endsAtMs: 50_000 });
    }));

  for (const phase of PHASES) {
    const after = phase === 'none' || phase === 'ended' ? phase : 'pause';
    it(`makes ${after} of ${phase} at another boot`, () =>
      inTemporaryFolder(async folder => {
        await record(folder, { id: 'a', nowMs: 0 }).record.save(playing(phase, 60_000));
        const loaded = await record(folder, { id: 'b', nowMs: 0 }).record.load();
        expect(loaded.phase).to.equal(after);
        if (after === 'pause') expect(loaded.endsAtMs).to.equal(null);
      }));
  }

  it('is a lock or the same, whichever byte is damaged, and the damaged one is kept', () =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'match.json');
      const boot = { id: 'a', nowMs: 0 };
      await record(folder, boot).record.save(playing('auto'));
      const whole = await readFile(file);
      for (let at = 0; at < whole.length; at += 1) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ 0x04;
        await writeFile(file, damaged);
        const { lock, phase } = await record(folder, boot).record.load();
        if (lock === null) expect(phase, `byte ${at}`).to.equal('auto');
      }
      await writeFile(file, whole.subarray(0, 20));
      for (const start of ['first', 'second']) {
        expect((await record(folder, boot).record.load()).lock?.reason, start).to.include('damaged');
      }
      expect((await realDisk.list(folder)).some(name => name.startsWith('match.json.damaged-'))).to.equal(
        true,
      );
    }));

  it('is a lock where the disk hangs at the start, and stays one whatever the disk says later', async () => {
    const disk = new RecordingDisk();
    const answerAgain = disk.hang();
    const { record: made, clock } = record('/state', { id: 'a', nowMs: 0 }, disk);
    const loading = made.load();
    await clock.advance(2000);
    const state = await loading;
    expect(state.lock?.reason).to.include('cannot be read');
    expect(made.problem?.context.cure).to.include('too slow');
    answerAgain();
    await clock.advance(5000);
    expect(made.problem?.code).to.equal('storage-failed');
    await made.save({ ...state, lock: null });
    expect(made.problem).to.equal(undefined);
  });

  it('is refused at once while a disk hangs, so that nothing piles up, and is the newest when the disk goes on', async () => {
    const disk = new RecordingDisk();
    const { record: made, clock } = record('/state', { id: 'a', nowMs: 0 }, disk);
    await made.save(NO_MATCH);
    const answerAgain = disk.hang();
    const codeOf = (error: unknown) => (isRobotError(error) ? error.code : 'other');
    const first = made.save(LOCKED).catch(codeOf);
    await clock.advance(800);
    expect(await first).to.equal('not-kept');
    for (let endsAtMs = 1; endsAtMs <= 1000; endsAtMs += 1)
      expect(await made.save(playing('auto', endsAtMs)).catch(codeOf)).to.equal('not-kept');
    const { length } = disk.operations;
    answerAgain();
    await clock.advance(0);
    expect(disk.operations.length - length).to.be.lessThan(20);
    expect(made.problem).to.equal(undefined);
    const found = new RecordingDisk(disk.files());
    const { endsAtMs } = await record('/state', { id: 'a', nowMs: 0 }, found).record.load();
    expect(endsAtMs).to.equal(1000 - clock.nowMs());
  });

  it('says when it is not on the disk, and is when the disk works again', () =>
    inTemporaryFolder(async folder => {
      let isFull = true;
      const disk: Disk = {
        ...realDisk,
        create: path => {
          if (isFull)
            throw new RobotError('storage-failed', { operation: 'write', path: '/state', errno: 'ENOSPC' });
          return realDisk.create(path);
        },
      };
      const { record: failing, clock } = record(folder, { id: 'a', nowMs: 0 }, disk);
      const refusal = await failing.save(LOCKED).catch((error: unknown) => error);
      expect(isRobotError(refusal, 'not-kept')).to.equal(true);
      isFull = false;
      await clock.advance(3000);
      await failing.close();
      expect(failing.problem).to.equal(undefined);
      expect((await record(folder, { id: 'b', nowMs: 0 }).record.load()).lock).to.deep.equal(LOCKED.lock);
    }));
});
