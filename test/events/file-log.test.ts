import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { recordStorage } from '../../src/events/event-recorder.js';
import { verifyLog } from '../../src/events/verify-log.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { LogRun, linesOf, logFilesOf, runOn } from './log-bench.js';

const names = (disk: RecordingDisk) => logFilesOf(disk.files()).map(({ name }) => name);
const broken = (operation: string) =>
  new RobotError('storage-failed', { operation, path: '/state', errno: 'EIO' });

describe('the event log in files', () => {
  let disk: RecordingDisk;
  beforeEach(() => {
    disk = new RecordingDisk();
  });

  it('begins a new file at each start of the daemon, and continues the hash chain and the line numbers', async () => {
    for (const runId of ['a', 'b', 'c']) await runOn(disk, runId, run => run.resets(4));
    expect(names(disk)).to.deep.equal([1, 2, 3].map(number => `events-0000000${number}.jsonl`));
    const lines = linesOf(disk);
    expect(lines.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(new Set(lines.map(({ boot }) => boot)).size).to.equal(3);
    expect(lines[0]).to.include({ synchronised: false, at: '2030-01-01T00:00:02.000Z' });
  });

  it('continues its line numbers after a restart of the daemon, even if no file can be synced during that restart', async () => {
    await runOn(disk, 'a', run => run.resets(4));
    disk.fail('sync');
    const run = await LogRun.open(disk, 'b');
    run.resets(2);
    disk.fail();
    await run.clock.advance(4000);
    await run.end();
    expect(linesOf(disk).map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it('continues its line numbers after a line of garbage at the end of the newest file', async () => {
    await runOn(disk, 'a', run => run.resets(4));
    const [name = ''] = names(disk);
    const path = `/state/${name}`;
    disk.put(path, Buffer.concat([disk.files()[path] ?? Buffer.alloc(0), Buffer.from('\0\0\0\n')]));
    const run = await LogRun.open(disk, 'b');
    expect(run.file.lastSeq).to.equal(4);
    await run.end();
  });

  it('creates no file if the daemon starts and ends without an event', async () => {
    await runOn(disk, 'a', () => undefined);
    expect(names(disk)).to.deep.equal([]);
  });

  it('reports as its head (newest line) only a line that is synced to the disk, even after a sync has failed', async () => {
    const run = await LogRun.open(disk, 'a');
    expect(run.file.head).to.equal(undefined);
    await run.write(2);
    expect(run.file.head?.seq).to.equal(2);
    disk.fail('sync');
    await run.write(2);
    expect([run.file.head?.seq, run.file.problem?.code]).to.deep.equal([2, 'storage-failed']);
    disk.fail();
    await run.clock.advance(2000);
    expect([run.file.head?.seq, run.file.problem]).to.deep.equal([4, undefined]);
    await run.end();
    const verdict = verifyLog(logFilesOf(disk.files()), run.file.head);
    expect(verdict).to.deep.include({
      ok: true,
      notes: ['events-00000001.jsonl: 2 lines from line 3 on are not confirmed by the next file.'],
    });
    expect(linesOf(disk).map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
  });

  it('makes only one new file while every sync fails, however often it retries', async () => {
    const run = await LogRun.open(disk, 'a');
    await run.write(3);
    disk.fail('sync');
    run.resets(3);
    await run.clock.advance(60_000);
    expect(names(disk)).to.have.length(2);
    disk.fail();
    await run.clock.advance(2000);
    expect(run.file.problem).to.equal(undefined);
    await run.end();
    expect(linesOf(disk)).to.have.length(6);
  });

  it('closes the descriptor of each file whose sync fails', async () => {
    let open = 0;
    const create = disk.create.bind(disk);
    disk.create = async path => {
      open += 1;
      const close = async () => {
        open -= 1;
      };
      return { ...(await create(path)), sync: () => Promise.reject(broken('sync')), close };
    };
    const run = await LogRun.open(disk, 'a');
    run.resets(1);
    await run.clock.advance(60_000);
    expect([run.file.problem?.context.errno, open]).to.deep.equal(['EIO', 0]);
  });

  it('keeps the newest 2,000 events in memory while its folder cannot be read, and later writes them and the number of lost events', async () => {
    disk.fail('list');
    const run = await LogRun.open(disk, 'late');
    run.resets(500);
    run.resets(1990);
    await run.clock.advance(10_000);
    disk.fail();
    await run.clock.advance(2000);
    await run.end();
    const kept = linesOf(disk).map(({ what, detail }) => `${what} ${detail?.index ?? detail?.events}`);
    expect(kept.slice(0, 3)).to.deep.equal(['log-lost 490', 'reset 490', 'reset 491']);
    expect(kept.filter(line => line.startsWith('reset'))).to.have.length(2000);
  });

  it('lets the daemon start within 2 s if the disk hangs, and stores the waiting events when the disk answers again', async () => {
    await runOn(disk, 'a', run => run.resets(3));
    const answerAgain = disk.hang();
    const run = await LogRun.open(disk, 'b');
    expect(run.file.problem?.context.cure).to.include('too slow');
    run.resets(3);
    answerAgain();
    await run.written();
    await run.write(1);
    expect([run.file.problem, run.file.head?.seq]).to.deep.equal([undefined, 4]);
    await run.end();
    const lines = linesOf(disk).map(({ boot, seq }) => `${boot}${seq}`);
    expect(lines.join(' ')).to.equal('a1 a2 a3 b1 b2 b3 b4');
  });

  it('shows a problem while the disk hangs, and writes all waiting events together when the disk answers again', async () => {
    const run = await LogRun.open(disk, 'a');
    const answerAgain = disk.hang();
    run.resets(1);
    await run.clock.advance(500);
    expect(run.file.problem).to.equal(undefined);
    for (let count = 0; count < 50; count += 1) {
      await run.clock.advance(100);
      run.resets(1);
    }
    expect(run.file.problem?.context).to.include({ operation: 'write', errno: 'slow' });
    const { length } = disk.operations;
    answerAgain();
    await run.written();
    expect(run.file.head?.seq).to.equal(51);
    expect(disk.operations.length - length).to.be.lessThan(10);
    await run.write(1);
    expect(run.file.problem).to.equal(undefined);
  });

  it('loses only the events that arrive while 2,000 others wait for the disk, and writes a line with the number of lost events', async () => {
    const run = await LogRun.open(disk, 'a');
    const problems: (string | undefined)[] = [];
    run.file.changed.add(() => problems.push(run.file.problem?.context.errno));
    disk.interfere = operation =>
      operation === 'sync' ? new Promise(resolve => run.clock.after(100, resolve)) : Promise.resolve();
    run.resets(2000);
    await run.clock.advance(150);
    run.resets(2000);
    expect(run.file.problem).to.equal(undefined);
    run.resets(500);
    expect(run.file.problem?.context.errno).to.equal('slow');
    await run.clock.advance(1000);
    run.resets(1);
    await run.clock.advance(1000);
    expect(problems.at(-1)).to.equal(undefined);
    await run.end();
    const lines = linesOf(disk);
    const lost = lines.filter(({ what }) => what === 'log-lost');
    expect(lost.map(({ detail }) => detail)).to.deep.equal([{ events: 500 }]);
    expect(lines).to.have.length(4002);
  });

  it('gets one `storage-failed` line if every sync takes over 1 s for a minute, and one `storage-works` line when syncs are fast again', async () => {
    const run = await LogRun.open(disk, 'a');
    recordStorage({ log: run.file }, run.log);
    disk.interfere = operation =>
      operation === 'sync' ? new Promise(resolve => run.clock.after(1200, resolve)) : Promise.resolve();
    run.resets(1);
    for (let seconds = 0; seconds < 60; seconds += 1) await run.clock.advance(1000);
    const whats = () => run.log.after(0).events.map(({ what }) => what);
    expect(whats()).to.deep.equal(['reset', 'storage-failed']);
    expect(run.file.problem).to.equal(undefined);
    disk.fail();
    run.resets(1);
    await run.clock.advance(10_000);
    expect(whats()).to.deep.equal(['reset', 'storage-failed', 'reset', 'storage-works']);
  });

  it('continues in a new file if its file is moved away, and stays in the new file when the old file is put back', async () => {
    const run = await LogRun.open(disk, 'a');
    const problems: unknown[] = [];
    run.file.changed.add(() => problems.push(run.file.problem?.context.errno));
    await run.write(4);
    await disk.rename('/state/events-00000001.jsonl', '/elsewhere/events-00000001.jsonl');
    await run.write(1);
    expect(problems.slice(-2)).to.deep.equal(['moved', undefined]);
    expect(verifyLog(logFilesOf(disk.files()))).to.include({ ok: true });
    await disk.rename('/elsewhere/events-00000001.jsonl', '/state/events-00000001.jsonl');
    run.resets(1);
    await run.end();
    expect(names(disk)).to.have.length(2);
    expect(linesOf(disk).map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  describe('with a size limit', () => {
    const KEPT = 16_000;
    const bytes = () => logFilesOf(disk.files()).reduce((sum, { content }) => sum + content.length, 0);

    it('removes its oldest files, but first syncs a line about the removal to the disk', async () => {
      for (let day = 0; day < 12; day += 1) await runOn(disk, `${day}`, run => run.resets(20), KEPT);
      expect(bytes()).to.be.within(KEPT / 2, KEPT + 4000);
      const dropped = linesOf(disk).filter(({ what }) => what === 'log-dropped');
      const first = linesOf(disk).find(({ what }) => what === 'reset')?.seq ?? 0;
      expect(dropped.at(-1)?.detail?.last).to.equal(first - 1);
      const said = disk.operations.findIndex(
        ({ kind, ...operation }) =>
          kind === 'append' && String(Object.values(operation)).includes('log-dropped'),
      );
      const synced = disk.operations.findIndex(({ kind }, index) => kind === 'sync' && index > said);
      expect(disk.operations.findIndex(({ kind }) => kind === 'remove')).to.be.greaterThan(synced);
    });

    it('keeps its oldest file if 1,000 crashes have added small files but the total size is below the limit', async () => {
      await runOn(disk, 'match', run => run.resets(20), 8 << 20);
      for (let crash = 0; crash < 1000; crash += 1) {
        const run = await LogRun.open(disk, `${crash}`, 8 << 20);
        await run.write(2);
        await run.file.close();
      }
      expect(names(disk)).to.have.length(1001);
      expect(linesOf(disk)[0]).to.include({ boot: 'match', seq: 1 });
    }).timeout(60_000);

    it('continues to store events if an old file cannot be removed', async () => {
      disk.fail('remove');
      const { interfere } = disk;
      let removals = 0;
      disk.interfere = operation => {
        if (operation === 'remove') removals += 1;
        return interfere(operation);
      };
      const run = await LogRun.open(disk, 'a', KEPT);
      for (let count = 0; count < 30; count += 1) await run.write(20);
      expect(removals).to.be.greaterThan(0);
      expect(run.file.problem).to.equal(undefined);
      expect(run.file.head?.seq).to.equal(600);
      expect(bytes(), 'files that were to be removed are left').to.be.above(KEPT + 4000);
    });
  });
});
