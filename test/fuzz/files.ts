import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { defaultConfig } from '../../scripts/generate/default-config.js';
import { configProblem, loadConfig } from '../../src/config/config.js';
import type { Config } from '../../src/config/settings.js';
import { systemClock } from '../../src/core/clock.js';
import { isRobotError } from '../../src/core/errors.js';
import { defaultGains, UNIT_LIST } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { journalEntry } from '../../src/gains/journal-line.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { noLock } from '../support/journal-lines.js';
import { damage, damaged, inTime } from './damage.js';

const saves = fc.array(
  fc.record({ unit: fc.constantFrom(...UNIT_LIST), kp: fc.double({ min: -1e6, max: 1e6, noNaN: true }) }),
  { minLength: 1, maxLength: 12 },
);

/**
 * Damages a journal. Every undamaged line must count, the newest line of each unit must be in force, and nothing may
 * fail.
 */
export const journal = (hangMs: number) =>
  fc.asyncProperty(saves, fc.array(damage, { maxLength: 4 }), async (made, harms) => {
    const revisions = new Map<string, number>();
    const lines = made.map(({ unit, kp }) => {
      const revision = (revisions.get(unit.name) ?? 0) + 1;
      revisions.set(unit.name, revision);
      const gains = Object.fromEntries(
        Object.entries(defaultGains(unit)).map(([loop, triple]) => [loop, { ...triple, kp }]),
      );
      const { line } = journalEntry({ revision, time: '2026-01-01T00:00:00.000Z', unit: unit.name, gains });
      return { unit, revision, line };
    });
    const file = harms.reduce(damaged, Buffer.from(lines.map(({ line }) => `${line}\n`).join('')));
    const left = new Set(file.toString('latin1').split('\n'));
    await inTemporaryFolder(async folder => {
      writeFileSync(join(folder, JOURNAL_FILE), file);
      const store = await inTime('the journal', hangMs, () =>
        GainsStore.open({ folder, clock: systemClock, disk: realDisk, lock: noLock }),
      );
      try {
        for (const unit of UNIT_LIST) {
          const whole = lines.filter(
            its => its.unit === unit && left.has(Buffer.from(its.line).toString('latin1')),
          );
          const newest = Math.max(0, ...whole.map(({ revision }) => revision));
          const { revision } = store.current(unit.name);
          if (revision !== newest)
            throw new Error(`${unit.name}: revision ${revision} in force, ${newest} in the file`);
        }
      } finally {
        await store.close();
      }
    });
  });

/** The lines of the default configuration, with all settings uncommented. */
const settings = defaultConfig()
  .split('\n')
  .map(line => line.replace(/^( *)# (\w+:)/, '$1$2'));
const oddLines = [
  '  - ',
  'a: &a [*a]',
  '!!binary x',
  '? {}',
  '  x: |',
  '%YAML 9.9',
  '---',
  '...',
  '\t',
  '  port: 0o17',
  '<<: *a',
  'http: {',
  '"',
];
const line = fc.oneof(
  { arbitrary: fc.constantFrom(...settings), weight: 6 },
  fc.constantFrom(...oddLines),
  fc
    .tuple(fc.constantFrom(...settings), fc.jsonValue())
    .map(([text, value]) => `${text} ${JSON.stringify(value)}`),
);

/** Loads a random configuration. It must be accepted, or rejected with the line of every problem. */
export const configuration = (hangMs: number) =>
  fc.asyncProperty(
    fc.array(line, { maxLength: 40 }),
    fc.array(damage, { maxLength: 2 }),
    async (text, harms) => {
      await inTemporaryFolder(async folder => {
        const path = join(folder, 'config.yaml');
        writeFileSync(path, harms.reduce(damaged, Buffer.from(text.join('\n'))));
        await inTime('the configuration', hangMs, async () => {
          const said = problemOf(path);
          if (said !== undefined && !said.split('\n').every(each => each.startsWith(path))) {
            throw new Error(
              `no place for a problem of ${JSON.stringify(readFileSync(path, 'utf8'))}: ${said}`,
            );
          }
        });
      });
    },
  );

function problemOf(path: string): string | undefined {
  try {
    const config: Config = loadConfig(path, {}, { host: '127.0.0.1', state: '/tmp' });
    if (!Number.isInteger(config.http.port)) throw new TypeError(`a port of ${config.http.port}`);
    return undefined;
  } catch (error) {
    if (!isRobotError(error, 'bad-config')) throw error;
    return configProblem(error);
  }
}
