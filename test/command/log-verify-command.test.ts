import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyCommand } from '../../src/command/log-verify-command.js';
import { createFileLog } from '../../src/events/file-log.js';
import { MemoryLog } from '../../src/events/memory-log.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';

const FIRST = 'events-00000001.jsonl';

/** Writes a log of two files with three events each. */
async function write(folder: string): Promise<void> {
  for (const runId of ['one', 'two']) {
    const clock = new ManualClock();
    const durable = createFileLog({ disk: realDisk, folder, clock, runId, isSynchronised: () => true });
    await durable.open();
    const log = new MemoryLog(clock, { runId, lastSeq: durable.head?.seq });
    log.recorded.add(({ event }) => durable.add(event));
    for (const what of ['start', 'reset', 'end'] as const) log.record({ what });
    await durable.close();
    log.close();
  }
}

describe('“trunnion log verify”', () => {
  it('confirms the last line of the log only if the user gives the number and hash of that line', () =>
    inTemporaryFolder(async folder => {
      await write(folder);
      const { text, exitCode } = await verifyCommand({ path: folder });
      expect(exitCode).to.equal(0);
      expect(text).to.match(
        /^5 of 6 lines are unchanged\. Nothing confirms the last line: .* No head was given/,
      );
      const [, head] = /^Head: (6:[0-9a-f]{64})$/m.exec(text) ?? [];
      const again = await verifyCommand({ path: folder, headText: head });
      expect(again).to.deep.include({ exitCode: 0 });
      expect(again.text).to.match(/^6 of 6 lines are unchanged\. The log contains the head\./);
      await appendFile(join(folder, FIRST), '{"torn');
      const torn = await verifyCommand({ path: folder, headText: head });
      expect(torn.text).to.include(`\n${FIRST}: the last line is torn, as a power cut leaves it.\n`);
      const file = await verifyCommand({ path: join(folder, FIRST) });
      expect(file.text).to.match(/^2 of 3 lines are unchanged.*\n.*\nHead: 3:/);
    }));

  it('fails if the oldest file of the log, or the beginning of that file, was removed', () =>
    inTemporaryFolder(async folder => {
      await write(folder);
      const path = join(folder, FIRST);
      const [, ...rest] = (await readFile(path, 'utf8')).split('\n');
      await writeFile(path, rest.join('\n'));
      expect((await verifyCommand({ path: folder })).text).to.include('begins at number 2');
      await rm(path);
      const { text, exitCode } = await verifyCommand({ path: folder });
      expect([exitCode, text.includes('begins at number 4')]).to.deep.equal([1, true]);
    }));

  it('notices that the last line was changed only if the user gives the number and hash of the original line', () =>
    inTemporaryFolder(async folder => {
      await write(folder);
      const headText = /^Head: (.*)$/m.exec((await verifyCommand({ path: folder })).text)?.[1];
      const path = join(folder, 'events-00000002.jsonl');
      await writeFile(path, (await readFile(path, 'utf8')).replace('"what":"end"', '"what":"stop"'));
      const { text, json } = await verifyCommand({ path: folder });
      expect(text).to.match(/^5 of 6 lines are unchanged\. Nothing confirms the last line/);
      expect(json).to.include({ ok: true, lines: 6, confirmed: 5 });
      expect((await verifyCommand({ path: folder, headText })).exitCode).to.equal(1);
    }));

  it('fails if a line before the last one was changed or cut off, and names the file and line at which the hash chain breaks', () =>
    inTemporaryFolder(async folder => {
      await write(folder);
      const path = join(folder, FIRST);
      const content = await readFile(path, 'utf8');
      await writeFile(path, content.replace('"reset"', '"laser"'));
      const changed = await verifyCommand({ path: folder });
      expect(changed).to.include({
        exitCode: 1,
        text: `${path}:3: It does not follow the line before: one of them was changed, or lines are missing or duplicated.`,
      });
      await writeFile(path, content.slice(0, content.indexOf('\n') + 1));
      const cut = await verifyCommand({ path: folder });
      expect(cut).to.include({
        exitCode: 1,
        text: `${join(folder, 'events-00000002.jsonl')}:1: It follows no line of the files before: the end of one of them, or a whole file, is missing or was changed.`,
      });
    }));

  it('fails with exit code 1 and one sentence if the given path does not exist or is a folder without a log', () =>
    inTemporaryFolder(async folder => {
      expect(await verifyCommand({ path: join(folder, 'none') })).to.deep.equal({
        text: `${join(folder, 'none')} cannot be read: it does not exist`,
        exitCode: 1,
      });
      expect(await verifyCommand({ path: folder })).to.deep.equal({
        text: `${folder} has no log of events`,
        exitCode: 1,
      });
    }));

  it('rejects the value of “--head” if it is not written as SEQ:HASH (the number of a line, a colon and a hash)', async () => {
    const { text, exitCode } = await verifyCommand({ path: 'a', headText: 'five' });
    expect([exitCode, text.includes('SEQ:HASH')]).to.deep.equal([2, true]);
  });
});
