import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { sha256 } from '../core/sha256.js';
import { WorkQueue } from '../core/work-queue.js';
import { createFileLog, type FileLog } from '../events/file-log.js';
import type { LogEvent } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import type { RobotLines } from './state.js';

/** The folder of the robots' lines in a record. */
export const ROBOTS = 'robots';
const HASH_DIGITS = 16;

interface Parts {
  readonly disk: Disk;
  readonly clock: Clock;
  /** The folder of all records. */
  readonly folder: string;
  readonly runId: string;
}

export type MatchRecords = ReturnType<typeof matchRecords>;

/**
 * The records of matches: a folder for each match, with the desk's chained log and the lines of each robot's log. A finished
 * record is sealed: its name ends with its hash. Nothing waits for the disk. If the disk fails, `isOk` is false.
 */
export function matchRecords({ disk, clock, folder, runId }: Parts) {
  const queue = new WorkQueue();
  let current:
    | {
        readonly path: string;
        readonly log: FileLog;
        /** The robots whose newest file this run has begun, and appended to without a failure. */
        readonly continued: Set<string>;
      }
    | undefined;
  let seq = 0;
  let hasFailed = false;

  /** Adds work to the queue. A failure is shown until later work succeeds. */
  const later = (work: () => Promise<void>) =>
    queue.add(work).then(
      () => {
        hasFailed = false;
      },
      () => {
        hasFailed = true;
      },
    );
  const sealed = async ({ path, log }: NonNullable<typeof current>) => {
    await log.close();
    if (log.problem === undefined) await disk.rename(path, `${path}-${await hashOf(disk, path)}`);
    await disk.syncFolder(folder);
  };
  /** Ends the record. It gets its hash as the end of its name. */
  const seal = async (): Promise<void> => {
    const ended = current;
    current = undefined;
    if (ended !== undefined) await later(() => sealed(ended));
  };
  return {
    get isOk(): boolean {
      return !hasFailed && current?.log.problem === undefined;
    },
    /** Begins the record of this name, or continues it after a restart. What comes from now on is in it. */
    begin: async (name: string): Promise<void> => {
      void seal();
      const path = join(folder, name);
      const log = createFileLog({ disk, clock, folder: path, runId, isSynchronised: () => false });
      current = { path, log, continued: new Set() };
      seq = 0;
      await later(() => disk.makeFolder(join(path, ROBOTS)));
      await log.open();
    },
    seal,
    add: (event: LogEvent): void => {
      if (current === undefined) return;
      seq += 1;
      current.log.add({ ...event, seq });
    },
    /**
     * Keeps lines of a robot. A new file begins with lines that do not follow the ones before, and after a restart or a
     * failure, because the end of the older file may be torn.
     */
    keep: ({ robot, bytes, follows }: RobotLines): void => {
      if (current === undefined) return;
      const { path: record, continued } = current;
      const place = join(record, ROBOTS);
      void later(async () => {
        const names = await disk.list(place);
        const count = names.filter(name => robotOfFile(name) === robot).length;
        const isNew = !follows || !continued.delete(robot);
        const path = join(place, `${encodeURIComponent(robot)}.${isNew ? count + 1 : count}.jsonl`);
        const file = await (isNew ? disk.create(path) : disk.openToAppend(path));
        await file.append(bytes);
        await file.sync();
        await file.close();
        continued.add(robot);
      });
    },
    close: async (): Promise<void> => {
      await current?.log.close();
      await queue.add(async () => undefined);
    },
  };
}

/** The robot whose lines a file of a record has. Undefined for other files. */
export function robotOfFile(name: string): string | undefined {
  const [, robot] = /^(.+)\.\d+\.jsonl$/.exec(name) ?? [];
  try {
    return robot === undefined ? undefined : decodeURIComponent(robot);
  } catch {
    return undefined;
  }
}

/** The hash of all files of a record with their names. */
export async function hashOf(disk: Disk, path: string): Promise<string> {
  const names = [...(await disk.list(path)).filter(name => name !== ROBOTS)];
  for (const name of await disk.list(join(path, ROBOTS))) names.push(join(ROBOTS, name));
  const lines: string[] = [];
  for (const name of names.sort())
    lines.push(`${sha256((await disk.read(join(path, name))) ?? '')}  ${name}\n`);
  return sha256(lines.join('')).slice(0, HASH_DIGITS);
}
