import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { Journal } from '../../src/gains/journal.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { parseJournal } from '../../src/gains/journal-line.js';
import { encodeEntry, noLock } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import {
  afterCut,
  type Cut,
  type Operation,
  RecordingDisk,
  unsyncedBytes,
} from '../support/recording-disk.js';

const PATH = `/state/${JOURNAL_FILE}`;

/** A run of the daemon on `disk`; what it confirms is noted among the operations. */
async function run(disk: RecordingDisk) {
  const journal = new Journal({ folder: '/state', disk, clock: new ManualClock(), lock: noLock });
  await journal.open();
  const save = async (unit: string, kp: number) => {
    const { revision } = await journal.append({ time: 'now', unit, gains: { loop: { kp, ki: 0, kd: 0 } } });
    disk.note(`${unit} ${revision} ${kp}`);
  };
  return { journal, save };
}

const fail = async (asked: string) => {
  if (asked === 'sync')
    throw new RobotError('storage-failed', { operation: 'sync', path: '/state', errno: 'EIO' });
};
const well = async () => undefined;

/** The last confirmed revision of each unit among the first `count` operations, and its kp. */
function confirmed(operations: readonly Operation[], count: number) {
  const last = new Map<string, { revision: number; kp: number }>();
  for (const operation of operations.slice(0, count)) {
    if (operation.kind !== 'note') continue;
    const [unit = '', revision, kp] = operation.note.split(' ');
    last.set(unit, { revision: Number(revision), kp: Number(kp) });
  }
  return last;
}

/** Most cuts leave the file that the one before left, and long ones take long to read. */
function remembering(): typeof parseJournal {
  let last: { bytes: Buffer; text: ReturnType<typeof parseJournal> } | undefined;
  return bytes => {
    if (last === undefined || !last.bytes.equals(bytes)) last = { bytes, text: parseJournal(bytes) };
    return last.text;
  };
}
const parse = remembering();

function expectKept(operations: readonly Operation[], count: number, cut: Cut): void {
  const { entries } = parse(afterCut(operations, count, cut)[PATH] ?? Buffer.alloc(0));
  for (const [unit, { revision, kp }] of confirmed(operations, count)) {
    const of = entries.filter(entry => entry.unit === unit);
    const where = `${unit} after ${count} operations, names ${cut.names}, data ${cut.data}`;
    expect(Math.max(0, ...of.map(one => one.revision)), where).to.be.at.least(revision);
    expect(of.findLast(one => one.revision === revision)?.gains.loop?.kp, where).to.equal(kp);
  }
}

function expectKeptEverywhere(operations: readonly Operation[], tears: (unsynced: number) => number[]): void {
  for (let count = 0; count <= operations.length; count += 1) {
    const torn = tears(unsyncedBytes(operations, count));
    for (const data of ['kept', 'lost', ...torn] as Cut['data'][]) {
      for (const names of ['kept', 'lost'] as const) expectKept(operations, count, { names, data });
    }
  }
}

const everyByte = (unsynced: number) => Array.from({ length: unsynced }, (_, bytes) => bytes + 1);

describe('after a power cut the journal has the last confirmed save or a newer one', () => {
  it('with saves of both units and a failed sync, torn at any byte', async () => {
    const disk = new RecordingDisk();
    const { journal, save } = await run(disk);
    await save('gimbal', 1);
    await Promise.all([save('gimbal', 2), save('chassis', 1)]);
    disk.interfere = fail;
    await save('gimbal', 3).catch(() => undefined);
    disk.interfere = well;
    await save('gimbal', 4);
    await save('chassis', 2);
    await journal.close();
    expectKeptEverywhere(disk.operations, everyByte);
  });

  it('in the middle of a compaction', async () => {
    const disk = new RecordingDisk();
    const { save } = await run(disk);
    await save('chassis', 1);
    const gains = { loop: { kp: 7, ki: 0, kd: 0 } };
    const lines = Array.from({ length: 40_000 }, (_, index) =>
      encodeEntry({ revision: index + 1, time: 'now', unit: 'gimbal', gains }),
    );
    // As if they had been saved one by one.
    const file = await disk.openToAppend(PATH);
    await file.append(Buffer.from(lines.join('')));
    await file.sync();
    disk.note('gimbal 40000 7');
    const second = await run(disk);
    const compacting = disk.operations.length;
    await second.save('chassis', 2);
    await second.save('gimbal', 8);
    expect(disk.operations.slice(compacting).map(({ kind }) => kind)).to.include('rename');
    for (let count = compacting; count <= disk.operations.length; count += 1) {
      for (const names of ['kept', 'lost'] as const) {
        for (const data of ['kept', 'lost', 40] as const) {
          expectKept(disk.operations, count, { names, data });
        }
      }
    }
  });

  it('that follows a kill at any operation and a new start', async () => {
    const first = new RecordingDisk();
    const work = async (disk: RecordingDisk) => {
      const { save } = await run(disk);
      await save('gimbal', 1);
      disk.interfere = fail;
      await save('gimbal', 2).catch(() => undefined);
      disk.interfere = well;
      await save('gimbal', 3);
    };
    await work(first);
    for (let killed = 0; killed <= first.operations.length; killed += 1) {
      const disk = RecordingDisk.replayed(first.operations.slice(0, killed));
      const { save } = await run(disk);
      await save('gimbal', 10);
      await save('chassis', 11);
      expectKeptEverywhere(disk.operations, unsynced => (unsynced > 1 ? [1, unsynced - 1] : []));
    }
  });
});
