import { expect } from 'chai';
import { sha256 } from '../../src/core/sha256.js';
import { outcomeOf } from '../support/code-of.js';
import { settle } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { LogRun, logFilesOf, runOn } from './log-bench.js';

describe('a request for the log lines after a given hash', () => {
  let disk: RecordingDisk;
  beforeEach(() => {
    disk = new RecordingDisk();
  });
  const hashOf = (line: string) => sha256(line);
  const linesIn = (bytes: Buffer) => bytes.toString().split('\n').slice(0, -1);
  const whole = () =>
    logFilesOf(disk.files())
      .map(({ content }) => content.toString())
      .join('');

  it('returns all later lines of all log files, byte for byte, and is refused with the code `unknown-head` if no line has that hash', async () => {
    for (const runId of ['a', 'b']) await runOn(disk, runId, run => run.resets(3));
    const run = await LogRun.open(disk, 'c');
    await run.write(2);
    const all = await run.file.linesAfter(undefined);
    expect(all.toString()).to.equal(whole());
    const lines = linesIn(all);
    expect(lines.length).to.equal(8);
    for (const [index, line] of lines.entries())
      expect(linesIn(await run.file.linesAfter(hashOf(line)))).to.deep.equal(lines.slice(index + 1));
    expect(await outcomeOf(run.file.linesAfter('1'.repeat(64)))).to.equal('unknown-head');
  });

  it('returns only lines that are synced to the disk, and none while the log is empty', async () => {
    const run = await LogRun.open(disk, 'a');
    expect((await run.file.linesAfter(undefined)).length).to.equal(0);
    await run.write(2);
    const synced = await run.file.linesAfter(undefined);
    disk.fail('sync');
    await run.write(2);
    expect(await run.file.linesAfter(undefined)).to.deep.equal(synced);
    disk.fail();
    await run.clock.advance(2000);
    const lines = linesIn(await run.file.linesAfter(undefined));
    expect(lines.map(line => JSON.parse(line).seq)).to.deep.equal([1, 2, 3, 4]);
    for (const [index, line] of lines.slice(1).entries())
      expect(JSON.parse(line).prev).to.equal(hashOf(lines[index] ?? ''));
  });

  it('returns at most 256 KiB; requests that continue after the last received line return the rest of the log', async () => {
    for (const runId of ['a', 'b']) await runOn(disk, runId, run => run.resets(1500));
    const run = await LogRun.open(disk, 'c');
    let text = '';
    let after: string | undefined;
    for (let parts = 0; parts < 20; parts += 1) {
      const part = await run.file.linesAfter(after);
      expect(part.length).to.be.at.most(256 * 1024);
      if (part.length === 0) break;
      text += part.toString();
      after = hashOf(linesIn(part).at(-1) ?? '');
    }
    expect(text.length).to.be.greaterThan(512 * 1024);
    expect(text).to.equal(whole());
  });

  it('returns the same lines to 20 callers at once, and reads one file at a time', async () => {
    await runOn(disk, 'a', run => run.resets(3));
    const run = await LogRun.open(disk, 'b');
    let [open, most] = [0, 0];
    disk.read = async path => {
      open += 1;
      most = Math.max(most, open);
      await settle();
      open -= 1;
      return RecordingDisk.prototype.read.call(disk, path);
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => run.file.linesAfter(undefined)));
    expect([most, new Set(answers.map(String)).size]).to.deep.equal([1, 1]);
  });

  it('fails while the disk hangs (the first request after 2 s, later requests at once), and succeeds when the disk answers again', async () => {
    await runOn(disk, 'a', run => run.resets(3));
    const run = await LogRun.open(disk, 'b');
    const answerAgain = disk.hang();
    const code = () => outcomeOf(run.file.linesAfter(undefined));
    const first = code();
    await run.clock.advance(500);
    const second = code();
    await run.clock.advance(2000);
    expect(await first).to.equal('storage-failed');
    expect(await code()).to.equal('storage-failed');
    // A request that waited behind the first one ends later, and changes nothing of that.
    expect(await second).to.equal('storage-failed');
    expect(await code()).to.equal('storage-failed');
    answerAgain();
    await run.clock.advance(100);
    expect(linesIn(await run.file.linesAfter(undefined)).length).to.equal(3);
  });

  it('that are none, because the caller has the newest line, is answered even while the disk hangs', async () => {
    await runOn(disk, 'a', run => run.resets(3));
    const run = await LogRun.open(disk, 'b');
    const answerAgain = disk.hang();
    expect((await run.file.linesAfter(run.file.head?.hash)).length).to.equal(0);
    answerAgain();
  });

  it('of 64 zeros returns the whole log, but is refused after the log has removed its oldest lines', async () => {
    const zeros = '0'.repeat(64);
    const run = await LogRun.open(disk, 'a', 16_000);
    await run.write(3);
    expect(linesIn(await run.file.linesAfter(zeros)).length).to.equal(3);
    for (let part = 0; part < 20; part += 1) await run.write(10);
    expect(await outcomeOf(run.file.linesAfter(zeros))).to.equal('unknown-head');
  });
});
