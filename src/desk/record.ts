import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { withoutControls } from '../core/control-characters.js';
import { isRobotError, succeeds } from '../core/errors.js';
import { sha256 } from '../core/sha256.js';
import { WorkQueue } from '../core/work-queue.js';
import { createFileLog, type FileLog } from '../events/file-log.js';
import { logFileNames } from '../events/numbered-files.js';
import type { LogFile } from '../events/verify-log.js';
import type { LogEvent } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import type { RobotLines } from './take.js';

/** The folder of the robots' lines in a record. */
const ROBOTS = 'robots';
const HASH_DIGITS = 16;
/** The longest part of a match's id in the name of its record, in bytes. A file's name has at most 255, with time and hash. */
const LONGEST_ID = 200;
/** If the disk fails, a record is sealed again after this time. */
const SEAL_AGAIN_MS = 10_000;
/** The name of a record without a hash. */
const UNSEALED = /-\d{8}T\d{9}Z$/;

interface RecordParts {
  readonly disk: Disk;
  readonly clock: Clock;
  /** The folder of all records. */
  readonly folder: string;
  readonly runId: string;
}

interface OpenRecord {
  readonly path: string;
  readonly log: FileLog;
  /** Whether its name has the hash. */
  isNamed: boolean;
  /** The robots whose newest file this run has begun, and appended to without a failure. */
  readonly continued: Set<string>;
}

/**
 * The records of matches: a folder for each match, with the desk's chained log and the lines of each robot's log. A finished
 * record is sealed: its name ends with its hash. Nothing waits for the disk. If the disk fails, `isOk` is false.
 */
export function matchRecords({ disk, clock, folder, runId }: RecordParts) {
  const queue = new WorkQueue();
  let current: OpenRecord | undefined;
  let seq = 0;
  let hasFailed = false;

  /** Adds work to the queue. Resolves with whether it succeeded. A failure is shown until later work succeeds. */
  const later = async (work: () => Promise<void>): Promise<boolean> => {
    hasFailed = !(await succeeds(queue.add(work)));
    return !hasFailed;
  };
  const sealed = async (record: OpenRecord): Promise<void> => {
    const { path, log, isNamed } = record;
    // The disk may have been full when the record began.
    if (!isNamed) await disk.makeFolder(join(path, ROBOTS));
    await log.close();
    if (log.problem !== undefined) throw log.problem;
    if (!isNamed) await addHash(path);
    record.isNamed = true;
    await disk.syncFolder(folder);
  };
  const addHash = async (path: string) => disk.rename(path, `${path}-${await hashOf(disk, path)}`);
  const seal = async (record: OpenRecord): Promise<void> => {
    if (!(await later(() => sealed(record)))) clock.after(SEAL_AGAIN_MS, () => void seal(record));
  };
  /** Ends the record. It gets its hash as the end of its name. */
  const end = async (): Promise<void> => {
    const ended = current;
    current = undefined;
    if (ended !== undefined) await seal(ended);
  };
  /** Begins the record of this name, or continues it after a restart. What comes from now on is in it. */
  const begin = async (name: string): Promise<void> => {
    const path = join(folder, name);
    // Before the seal of the older record, which takes its time: the log writes its first lines soon.
    const made = later(() => disk.makeFolder(join(path, ROBOTS)));
    void end();
    const log = createFileLog({ disk, clock, folder: path, runId, isSynchronised: () => false });
    current = { path, log, isNamed: false, continued: new Set() };
    seq = 0;
    await made;
    await log.open();
  };
  return {
    get isOk(): boolean {
      return !hasFailed && current?.log.problem === undefined;
    },
    begin,
    /** Continues the record of this name after a restart, unless it is sealed, or another one has begun meanwhile. */
    resume: async (name: string): Promise<void> => {
      const isThere = await succeeds(disk.list(join(folder, name)));
      if (isThere && current === undefined) await begin(name);
    },
    /** Seals the records that an earlier run has left without a hash, except the one of this name. */
    sealLeft: async (name: string | undefined): Promise<void> => {
      const names = await disk.list(folder).catch(() => []);
      for (const left of names.filter(one => UNSEALED.test(one) && one !== name))
        await queue
          .add(async () => {
            await addHash(join(folder, left));
            await disk.syncFolder(folder);
          })
          .catch(() => undefined);
    },
    /** Resolves when the disk has what was added before, or has failed. */
    kept: async (): Promise<void> => current?.log.kept(),
    /** Ends the record of this name, if it is the one that is written. */
    seal: async (name: string): Promise<void> => {
      if (current?.path === join(folder, name)) await end();
    },
    add: (event: LogEvent): void => {
      if (current === undefined) return;
      seq += 1;
      current.log.add({ ...event, seq });
    },
    /**
     * Keeps lines of a robot. Resolves with false if the disk fails, and with undefined if no record is open. A new file begins with lines that do not follow the ones
     * before, and after a restart or a failure, because the end of the older file may be torn.
     */
    keep: async ({
      robot,
      bytes,
      follows,
    }: Omit<RobotLines, 'after' | 'head'>): Promise<boolean | undefined> => {
      if (current === undefined) return undefined;
      const { path: record, continued } = current;
      const place = join(record, ROBOTS);
      return later(async () => {
        await disk.makeFolder(place);
        const names = await disk.list(place);
        const count = names.filter(name => robotOfFile(name) === robot).length;
        const isNew = !follows || !continued.delete(robot);
        const path = join(place, `${fileName(robot)}.${isNew ? count + 1 : count}.jsonl`);
        const file = await (isNew ? disk.create(path) : disk.openToAppend(path));
        try {
          await file.append(bytes);
          await file.sync();
        } catch (error) {
          // Each attempt on a full disk would leave a file.
          if (isNew) await disk.remove(path).catch(() => undefined);
          throw error;
        } finally {
          await file.close().catch(() => undefined);
        }
        continued.add(robot);
      });
    },
    close: async (): Promise<void> => {
      await current?.log.close();
      await queue.add(async () => undefined);
    },
  };
}

/** A name that people read, as a part of a file's name. */
function fileName(text: string): string {
  return withoutControls(text).replace(/[%/ ]/g, encodeURIComponent);
}

/** A name under which the folder of a record sorts by time. */
export function recordName(id: string, at: Date): string {
  const text = fileName(id);
  // No character is cut in two.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST_ID));
  return `${text.slice(0, read)}-${at.toISOString().replaceAll(/[-:.]/g, '')}`;
}

/** The robot whose lines a file of a record has. Undefined for other files. */
function robotOfFile(name: string): string | undefined {
  const [, robot] = /^(.+)\.\d+\.jsonl$/.exec(name) ?? [];
  return robot?.replace(/%(25|2F|20)/g, decodeURIComponent);
}

/** The names of the files with robots' lines. A record may have lost their folder. */
async function robotFileNames(disk: Disk, folder: string): Promise<readonly string[]> {
  return disk.list(join(folder, ROBOTS)).catch(error => {
    if (isRobotError(error, 'storage-failed') && error.context.errno === 'ENOENT') return [];
    throw error;
  });
}

/** The files of a record, oldest first: the desk's own, and those of each robot by its name. */
export async function recordFiles(disk: Disk, folder: string) {
  const read = async (...names: readonly string[]): Promise<LogFile> => ({
    name: names.join('/'),
    content: (await disk.read(join(folder, ...names))) ?? Buffer.alloc(0),
  });
  const own = await Promise.all(logFileNames(await disk.list(folder)).map(name => read(name)));
  const robots = new Map<string, LogFile[]>();
  const names = await robotFileNames(disk, folder);
  // File 10 comes after file 9.
  for (const name of names.toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1))) {
    const robot = robotOfFile(name);
    if (robot !== undefined) robots.set(robot, [...(robots.get(robot) ?? []), await read(ROBOTS, name)]);
  }
  return { own, robots };
}

/** The hash of all files of a record with their names. */
export async function hashOf(disk: Disk, path: string): Promise<string> {
  const names = [...(await disk.list(path)).filter(name => name !== ROBOTS)];
  for (const name of await robotFileNames(disk, path)) names.push(join(ROBOTS, name));
  const lines: string[] = [];
  for (const name of names.sort())
    lines.push(`${sha256((await disk.read(join(path, name))) ?? '')}  ${name}\n`);
  return sha256(lines.join('')).slice(0, HASH_DIGITS);
}
