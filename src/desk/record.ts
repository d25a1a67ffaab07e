import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { WorkQueue } from '../core/work-queue.js';
import { createFileLog, type FileLog } from '../events/file-log.js';
import type { LogEvent } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import type { RobotLines } from './state.js';

/** The folder of the robots' lines in a record. */
export const ROBOTS = 'robots';

interface Parts {
  readonly disk: Disk;
  readonly clock: Clock;
  /** The folder of all records. */
  readonly folder: string;
  readonly runId: string;
}

/**
 * The records of matches: a folder for each loaded match, with the desk's chained log and the lines of each robot's log.
 * Nothing waits for the disk. If the disk fails, the match goes on, and `isOk` is false.
 */
export function matchRecords({ disk, clock, folder, runId }: Parts) {
  const queue = new WorkQueue();
  let log: FileLog | undefined;
  let current: string | undefined;
  let seq = 0;
  let hasFailed = false;
  const files = new Map<string, { readonly name: string; count: number }>();

  const append = (robot: string, path: string, bytes: Buffer) =>
    queue
      .add(async () => {
        await disk.makeFolder(join(path, ROBOTS));
        const known = files.get(robot)?.name ?? `${fileName(robot)}.jsonl`;
        const place = join(path, ROBOTS, known);
        const file = await disk.openToAppend(place).catch(() => disk.create(place));
        await file.append(bytes);
        await file.sync();
        await file.close();
        hasFailed = false;
      })
      .catch(() => {
        hasFailed = true;
      });
  return {
    get isOk(): boolean {
      return !hasFailed && log?.problem === undefined;
    },
    /** The folder of the current record. */
    get folder(): string | undefined {
      return current;
    },
    /** Begins or continues the record of a match. */
    begin: async (name: string): Promise<void> => {
      await log?.close();
      const path = join(folder, fileName(name));
      current = path;
      files.clear();
      await queue
        .add(() => disk.makeFolder(path))
        .catch(() => {
          hasFailed = true;
        });
      log = createFileLog({ disk, clock, folder: path, runId, isSynchronised: () => false });
      await log.open();
      seq = log.lastSeq ?? 0;
    },
    add: (event: LogEvent): void => {
      if (log === undefined) return;
      seq += 1;
      log.add({ ...event, seq });
    },
    keep: ({ robot, bytes, follows }: RobotLines): void => {
      if (current === undefined) return;
      if (!follows) {
        const count = (files.get(robot)?.count ?? 1) + 1;
        files.set(robot, { name: `${fileName(robot)}.${count}.jsonl`, count });
      }
      void append(robot, current, bytes);
    },
    close: async (): Promise<void> => {
      await log?.close();
      await queue.add(async () => undefined);
    },
  };
}

/** A name as the name of a file. */
export function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}
