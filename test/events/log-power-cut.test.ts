import { expect } from 'chai';
import { verifyLog } from '../../src/events/verify-log.js';
import type { LogHead } from '../../src/schemas/log.js';
import { everyByte, type Operation, powerCuts, RecordingDisk } from '../support/recording-disk.js';
import { LogRun, logFilesOf, runOn } from './log-bench.js';

/** The log must be whole, and must contain the last head that a caller received. The last note has that head. */
function expectWhole(
  files: Readonly<Record<string, Buffer>>,
  { notes, when }: { readonly notes: readonly string[]; readonly when: string },
): void {
  const note = notes.at(-1);
  const head: LogHead | undefined = note === undefined ? undefined : JSON.parse(note);
  const verdict = verifyLog(logFilesOf(files), head);
  expect(verdict.ok, `${when}: ${JSON.stringify({ ...verdict, lines: undefined })}`).to.equal(true);
}

async function acting(run: LogRun, disk: RecordingDisk, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await run.write(2);
    if (run.file.head !== undefined) disk.note(JSON.stringify(run.file.head));
  }
}

/** Two runs that fill, drop and change files. In each run, one operation of the disk fails. */
async function recorded(failures: readonly [string, string]): Promise<RecordingDisk> {
  const disk = new RecordingDisk();
  for (const [index, failing] of failures.entries()) {
    const run = await LogRun.open(disk, `run ${index}`, 4000);
    await acting(run, disk, 3);
    disk.fail(failing);
    await acting(run, disk, 1);
    disk.fail();
    await run.clock.advance(2000);
    await acting(run, disk, 4);
    await run.file.close();
  }
  return disk;
}

describe('after a power cut at any time, the event log on the disk', () => {
  let operations: readonly Operation[];
  before(async () => {
    operations = (await recorded(['sync', 'append'])).operations;
    expect(operations.map(({ kind }) => kind)).to.include('remove');
  });

  it('passes the verification, and still has the newest line whose hash a caller has received', () => {
    for (const cut of powerCuts(operations, everyByte)) expectWhole(cut.files, cut);
  }).timeout(180_000);

  it('still passes the verification after the daemon has restarted and added lines', async () => {
    const some = (unsynced: number) => everyByte(unsynced).filter(byte => byte % 97 === 0);
    for (const cut of powerCuts(operations, some)) {
      const disk = new RecordingDisk(cut.files);
      const { file } = await runOn(disk, 'next', run => run.resets(1), 4000);
      expectWhole(disk.files(), cut);
      expectWhole(disk.files(), { ...cut, notes: [JSON.stringify(file.head)] });
    }
  }).timeout(180_000);

  it('passes the verification even if, before the power cut, the daemon was killed at any disk operation and restarted', async () => {
    // No sync fails here. After a failed sync, the next run would read lines that never reach the disk.
    const { operations: synced } = await recorded(['append', 'append']);
    for (let killed = 0; killed <= synced.length; killed += 1) {
      const disk = RecordingDisk.replayed(synced.slice(0, killed));
      await runOn(disk, 'next', run => acting(run, disk, 2), 4000);
      for (const cut of powerCuts(disk.operations, () => [50], killed))
        expectWhole(cut.files, { ...cut, when: `killed after ${killed}, ${cut.when}` });
    }
  }).timeout(180_000);
});
