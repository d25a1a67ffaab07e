import { basename, dirname } from 'node:path';
import { createFileLog, type FileLog } from '../../src/events/file-log.js';
import { MemoryLog } from '../../src/events/memory-log.js';
import { logFileNames } from '../../src/events/numbered-files.js';
import { type LogFile, verifyLog } from '../../src/events/verify-log.js';
import { ManualClock } from '../support/manual-clock.js';
import type { RecordingDisk } from '../support/recording-disk.js';

const FOLDER = '/state';

/** One run of the daemon, with only its event log. */
export class LogRun {
  readonly clock = new ManualClock();
  readonly file: FileLog;
  readonly #runId: string;
  log: MemoryLog;

  constructor(disk: RecordingDisk, runId: string, keptBytes?: number) {
    const { clock } = this;
    this.#runId = runId;
    this.file = createFileLog({
      disk,
      folder: FOLDER,
      clock,
      runId,
      isSynchronised: () => false,
      keptBytes,
    });
    this.log = this.#listened();
  }

  static async open(...settings: ConstructorParameters<typeof LogRun>): Promise<LogRun> {
    const run = new LogRun(...settings);
    const opened = run.file.open();
    await run.clock.advance(2000);
    await opened;
    run.log = run.#listened();
    return run;
  }

  #listened(): MemoryLog {
    const log = new MemoryLog(this.clock, { runId: this.#runId, lastSeq: this.file.lastSeq });
    log.recorded.add(({ event }) => this.file.add(event));
    return log;
  }

  /** Records events of the robot itself. */
  resets(count: number): void {
    for (let index = 0; index < count; index += 1) this.log.record({ what: 'reset', detail: { index } });
  }

  /** Records events, and resolves when they are on the disk, if the disk works. */
  async write(count: number): Promise<void> {
    this.resets(count);
    await this.written();
  }

  /** Resolves when the recorded events are on the disk, if the disk works. */
  async written(): Promise<void> {
    await this.clock.advance(200);
  }

  async end(): Promise<void> {
    this.log.close();
    await this.file.close();
  }
}

export async function runOn(
  disk: RecordingDisk,
  runId: string,
  act: (run: LogRun) => void | Promise<void>,
  keptBytes?: number,
): Promise<LogRun> {
  const run = await LogRun.open(disk, runId, keptBytes);
  await act(run);
  await run.end();
  return run;
}

/** The files of the log, oldest first. */
export function logFilesOf(files: Readonly<Record<string, Buffer>>): readonly LogFile[] {
  const names = Object.keys(files)
    .filter(path => dirname(path) === FOLDER)
    .map(path => basename(path));
  return logFileNames(names).map(name => ({ name, content: files[`${FOLDER}/${name}`] ?? Buffer.alloc(0) }));
}

/** The lines of the whole log. Throws if it does not verify. */
export function linesOf(disk: RecordingDisk) {
  const verdict = verifyLog(logFilesOf(disk.files()));
  if (!verdict.ok) throw new Error(JSON.stringify(verdict));
  return verdict.lines;
}
