import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DurableLog, LOG_FILE } from '../../src/events/durable-log.js';
import { EventLog } from '../../src/events/event-log.js';
import { logCommand } from '../../src/events/log-command.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';

/** The path of a log of three events. */
async function written(folder: string): Promise<string> {
  const clock = new ManualClock();
  const durable = new DurableLog({ disk: realDisk, folder, clock, runId: 'one', isSynchronised: () => true });
  await durable.open();
  const log = new EventLog(clock, { runId: 'one', lastSeq: durable.lastSeq });
  log.recorded.add(event => durable.add(event));
  for (const what of ['start', 'reset', 'end'] as const) log.record({ what });
  await durable.close();
  log.close();
  return join(folder, LOG_FILE);
}

describe('trunnion log verify', () => {
  it('names the head of a log that stands as it was written, and finds a kept head in it', () =>
    inTemporaryFolder(async folder => {
      const file = await written(folder);
      const { text, exitCode } = await logCommand(['verify', file], undefined);
      expect(exitCode).to.equal(0);
      expect(text).to.match(/^3 lines stand as they were written\. No head was given/);
      const [, head] = /^Head: (3:[0-9a-f]{64})$/m.exec(text) ?? [];
      const again = await logCommand(['verify', file], head);
      expect(again).to.deep.include({ exitCode: 0 });
      expect(again.text).to.include('The head is in it.');
    }));

  it('names the line that was changed, and fails', () =>
    inTemporaryFolder(async folder => {
      const file = await written(folder);
      await writeFile(file, (await readFile(file, 'utf8')).replace('"reset"', '"laser"'));
      const { text, exitCode } = await logCommand(['verify', file], undefined);
      expect(exitCode).to.equal(1);
      expect(text).to.match(/events\.jsonl:3: It does not follow the line before/);
    }));

  it('says in words that there is no such file', () =>
    inTemporaryFolder(async folder => {
      expect(await logCommand(['verify', join(folder, 'none')], undefined)).to.deep.equal({
        text: `${join(folder, 'none')} cannot be read: there is no such file`,
        exitCode: 1,
      });
    }));

  it('asks for what it takes', async () => {
    for (const [operands, head] of [
      [[], undefined],
      [['look', 'file'], undefined],
      [['verify', 'a', 'b'], undefined],
      [['verify', 'a'], 'five'],
    ] as const) {
      const { text, exitCode } = await logCommand(operands, head);
      expect([exitCode, text.includes('SEQ:HASH')], operands.join(' ')).to.deep.equal([2, true]);
    }
  });
});
