import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { systemClock } from '../../src/core/clock.js';
import { sha256 } from '../../src/core/sha256.js';
import { createFileLog } from '../../src/events/file-log.js';
import { NOTHING_BEFORE, parseLine, wholeLines } from '../../src/events/log-line.js';
import { verifyLog } from '../../src/events/verify-log.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { damage, damaged, inTime } from './damage.js';

const harms = fc.array(damage, { minLength: 1, maxLength: 3 });

/**
 * Damages an event log. A reader who kept the head of the log must detect every change. New lines must be appended in
 * order, whatever the file holds.
 */
export const eventLog = (hangMs: number) =>
  fc.asyncProperty(fc.array(fc.string(), { minLength: 1, maxLength: 12 }), harms, async (whats, harm) => {
    let prev = NOTHING_BEFORE;
    const lines = whats.map((what, index) => {
      const line = JSON.stringify({ ...event(index + 1, what), boot: 'before', synchronised: true, prev });
      prev = sha256(line);
      return `${line}\n`;
    });
    const name = 'events.jsonl';
    const original = Buffer.from(lines.join(''));
    const file = harm.reduce(damaged, original);
    const whole = file.subarray(0, file.lastIndexOf('\n') + 1);
    const verdict = verifyLog([{ name, content: file }], { seq: whats.length, hash: prev });
    // The log may lack its oldest lines, because the daemon deletes them to make room. It may have more lines after the head.
    const isKept = lines.some((_, first) => whole.indexOf(lines.slice(first).join('')) === 0);
    if (verdict.ok && !isKept) throw new Error(`${JSON.stringify(file.toString())} is said to be whole`);
    await inTemporaryFolder(async folder => {
      writeFileSync(join(folder, name), file);
      const log = createFileLog({
        disk: realDisk,
        folder,
        clock: systemClock,
        runId: 'now',
        isSynchronised: () => true,
      });
      await inTime('the log of events', hangMs, () => log.open());
      log.add(event(whats.length + 1, 'after'));
      await log.close();
      if (!readFileSync(join(folder, name)).equals(file)) throw new Error('an older file was changed');
      const own = wholeLines(readFileSync(join(folder, 'events-00000001.jsonl')));
      const before = wholeLines(file).at(-1);
      const [line] = own.map(text => parseLine(text.toString()));
      if (own.length !== 1 || line?.what !== 'after') throw new Error(`not written: ${log.problem?.message}`);
      if (line.prev !== (before === undefined ? NOTHING_BEFORE : sha256(before)))
        throw new Error(`${own} does not follow ${before}`);
    });
  });

function event(seq: number, what: string) {
  return { seq, t: seq, at: '2026-01-01T00:00:00.000Z', what };
}
