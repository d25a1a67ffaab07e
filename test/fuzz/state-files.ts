import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ROLE_NAMES } from '../../src/access/roles.js';
import { hashOf } from '../../src/access/token.js';
import { decodeTokens, encodeTokens } from '../../src/access/token-file.js';
import { systemClock } from '../../src/core/clock.js';
import { PHASES } from '../../src/core/phases.js';
import { sha256 } from '../../src/core/sha256.js';
import { createFileLog } from '../../src/events/file-log.js';
import { NOTHING_BEFORE, parseLine, wholeLines } from '../../src/events/log-line.js';
import { verifyLog } from '../../src/events/verify-log.js';
import type { MatchState } from '../../src/match/match.js';
import { matchFile } from '../../src/match/match-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { damage, damaged, inFolder, inTime } from './damage.js';

const harms = fc.array(damage, { minLength: 1, maxLength: 3 });

/**
 * Damages a token file. The daemon must read the same tokens, or none that work. Damage must never admit a caller or
 * open the robot.
 */
export const tokens = fc.property(
  fc.array(fc.tuple(fc.constantFrom(...ROLE_NAMES), fc.nat()), { minLength: 1, maxLength: 5 }),
  harms,
  (made, harm) => {
    const list = made.map(([role, number]) => ({
      name: `${role} ${number}`,
      role,
      hash: hashOf(String(number)),
    }));
    const read = decodeTokens(harm.reduce(damaged, encodeTokens(list)));
    if (read !== undefined && JSON.stringify(read) !== JSON.stringify(list)) {
      throw new Error(`${JSON.stringify(list)} became ${JSON.stringify(read)}`);
    }
  },
);

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
    await inFolder(async folder => {
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

/** Damages the record of lock and match. The daemon must read the same lock and phase, or must count as locked. */
export const matchRecord = (hangMs: number) =>
  fc.asyncProperty(
    fc.constantFrom(...PHASES),
    fc.option(fc.record({ id: fc.string(), by: fc.string(), reason: fc.string() }), { nil: null }),
    harms,
    async (phase, lock, harm) => {
      await inFolder(async folder => {
        const boot = { id: 'boot', nowMs: () => 0 };
        const open = () => matchFile({ disk: realDisk, folder, clock: systemClock }, boot);
        const state: MatchState = {
          lock,
          call: { id: 'match', revision: 1, phase, remainingS: null },
          phase,
          endsAtMs: null,
        };
        await open().save(state, 5000);
        const path = join(folder, 'match.json');
        writeFileSync(path, harm.reduce(damaged, readFileSync(path)));
        const found = await inTime('the record of the match', hangMs, () => open().read(5000));
        if (found.lock === null && JSON.stringify(found) !== JSON.stringify(state)) {
          throw new Error(`${JSON.stringify(state)} became ${JSON.stringify(found)}`);
        }
      });
    },
  );

function event(seq: number, what: string) {
  return { seq, t: seq, at: '2026-01-01T00:00:00.000Z', what };
}
