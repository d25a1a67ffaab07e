import { expect } from 'chai';
import { verifyLog } from '../../src/events/verify-log.js';
import type { LogHead } from '../../src/schemas/log.js';
import {
  afterCut,
  type Cut,
  type Operation,
  RecordingDisk,
  unsyncedBytes,
} from '../support/recording-disk.js';
import { LogRun, logFilesOf, runOn } from './log-bench.js';

/** The last head that was given out before the operation of this number; undefined before the first. */
function headGiven(operations: readonly Operation[], count: number): LogHead | undefined {
  const notes = operations
    .slice(0, count)
    .flatMap(operation => (operation.kind === 'note' ? operation.note : []));
  const note = notes.at(-1);
  return note === undefined ? undefined : JSON.parse(note);
}

function expectWhole(files: Readonly<Record<string, Buffer>>, head: LogHead | undefined, when: string): void {
  const verdict = verifyLog(logFilesOf(files), head);
  expect(verdict.ok, `${when}: ${JSON.stringify({ ...verdict, lines: undefined })}`).to.equal(true);
}

async function acting(run: LogRun, disk: RecordingDisk, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    run.resets(2);
    await run.written();
    if (run.durable.head !== undefined) disk.note(JSON.stringify(run.durable.head));
  }
}

/** Two runs that fill, drop and change files. In each, an operation of the disk fails on the way. */
async function recorded(failures: readonly [string, string]): Promise<RecordingDisk> {
  const disk = new RecordingDisk();
  for (const [index, failing] of failures.entries()) {
    const run = await new LogRun(disk, `run ${index}`, 4000).open();
    await acting(run, disk, 3);
    disk.fail(failing);
    await acting(run, disk, 1);
    disk.fail();
    await run.clock.advance(2000);
    await acting(run, disk, 4);
    await run.durable.close();
  }
  return disk;
}

describe('the durable log after a power cut', () => {
  let operations: readonly Operation[];
  before(async () => {
    operations = (await recorded(['sync', 'append'])).operations;
    expect(operations.map(({ kind }) => kind)).to.include('remove');
  });

  const cutsAt = (count: number): readonly Cut[] => [
    ...(['kept', 'lost'] as const).flatMap(names =>
      (['kept', 'lost'] as const).map(data => ({ names, data })),
    ),
    ...Array.from({ length: unsyncedBytes(operations, count) }, (_, data) => ({
      names: 'kept' as const,
      data,
    })),
  ];

  it('verifies, with every head that was given out, at every operation and every byte of a file', () => {
    for (let count = 0; count <= operations.length; count += 1)
      for (const cut of cutsAt(count))
        expectWhole(
          afterCut(operations, count, cut),
          headGiven(operations, count),
          `after ${count} operations, ${JSON.stringify(cut)}`,
        );
  });

  it('goes on in a new run, at every operation and at some bytes of a file', async () => {
    for (let count = 0; count <= operations.length; count += 1) {
      for (const cut of cutsAt(count).filter((_, index) => index < 4 || index % 97 === 0)) {
        const disk = new RecordingDisk(afterCut(operations, count, cut));
        const { durable } = await runOn(disk, 'next', run => run.resets(1), 4000);
        const when = `after ${count} operations, ${JSON.stringify(cut)}`;
        expectWhole(disk.files(), headGiven(operations, count), when);
        expectWhole(disk.files(), durable.head, when);
      }
    }
  }).timeout(60_000);

  it('goes on after a kill, and survives a power cut at every operation of the next run', async () => {
    // Without a failed sync: the next run reads such lines, but they never reach the medium.
    const { operations: synced } = await recorded(['append', 'append']);
    for (let killed = 0; killed <= synced.length; killed += 1) {
      const disk = RecordingDisk.replayed(synced.slice(0, killed));
      await runOn(disk, 'next', run => acting(run, disk, 2), 4000);
      for (let count = killed; count <= disk.operations.length; count += 1)
        for (const cut of [
          { names: 'lost', data: 'lost' },
          { names: 'kept', data: 'lost' },
          { names: 'kept', data: 50 },
        ] as const)
          expectWhole(
            afterCut(disk.operations, count, cut),
            headGiven(disk.operations, count),
            `killed after ${killed}, cut after ${count} operations, ${JSON.stringify(cut)}`,
          );
    }
  }).timeout(60_000);
});
