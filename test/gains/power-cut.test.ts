import { expect } from 'chai';
import { Journal } from '../../src/gains/journal.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { parseJournal } from '../../src/gains/journal-line.js';
import { encodeEntry, noLock } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import { everyByte, firstAndLastByte, powerCuts, RecordingDisk } from '../support/recording-disk.js';

const PATH = `/state/${JOURNAL_FILE}`;

/** Runs the daemon on `disk`. Confirmed saves are noted among the operations. */
async function run(disk: RecordingDisk) {
  const journal = new Journal({ folder: '/state', disk, clock: new ManualClock(), lock: noLock });
  await journal.open();
  const save = async (unit: string, kp: number) => {
    const { revision } = await journal.append({ time: 'now', unit, gains: { loop: { kp, ki: 0, kd: 0 } } });
    disk.note(`${unit} ${revision} ${kp}`);
  };
  return { journal, save };
}

/** Parses a file only if it differs from the last one. Most cuts leave the same file as the cut before. */
function remembering(): typeof parseJournal {
  let last: { bytes: Buffer; text: ReturnType<typeof parseJournal> } | undefined;
  return bytes => {
    if (last === undefined || !last.bytes.equals(bytes)) last = { bytes, text: parseJournal(bytes) };
    return last.text;
  };
}
const parse = remembering();

/** For each unit, the journal must contain the last confirmed save. */
function expectKept(...cuts: Parameters<typeof powerCuts>): void {
  for (const { notes, files, when } of powerCuts(...cuts)) {
    const { entries } = parse(files[PATH] ?? Buffer.alloc(0));
    const confirmed = new Map(notes.map(note => [note.split(' ')[0] ?? '', note.split(' ').map(Number)]));
    for (const [unit, [, revision = 0, kp]] of confirmed) {
      const of = entries.filter(entry => entry.unit === unit);
      expect(Math.max(0, ...of.map(one => one.revision)), `${unit} ${when}`).to.be.at.least(revision);
      expect(of.findLast(one => one.revision === revision)?.gains.loop?.kp, `${unit} ${when}`).to.equal(kp);
    }
  }
}

describe('after a power cut, the gains journal', () => {
  it('still has the last confirmed save of each unit, whichever byte was written last, even if another save has failed', async () => {
    const disk = new RecordingDisk();
    const { journal, save } = await run(disk);
    await save('gimbal', 1);
    await Promise.all([save('gimbal', 2), save('chassis', 1)]);
    disk.fail('sync');
    await save('gimbal', 3).catch(() => undefined);
    disk.fail();
    await save('gimbal', 4);
    await save('chassis', 2);
    await journal.close();
    expectKept(disk.operations, everyByte);
  });

  it('still has the last confirmed save of each unit if the power cut came while the daemon rewrote a journal that was too long', async () => {
    const disk = new RecordingDisk();
    const { save } = await run(disk);
    await save('chassis', 1);
    const gains = { loop: { kp: 7, ki: 0, kd: 0 } };
    const lines = Array.from({ length: 40_000 }, (_, index) =>
      encodeEntry({ revision: index + 1, time: 'now', unit: 'gimbal', gains }),
    );
    // The result must be as if the saves had been made one by one.
    const file = await disk.openToAppend(PATH);
    await file.append(Buffer.from(lines.join('')));
    await file.sync();
    disk.note('gimbal 40000 7');
    const second = await run(disk);
    const compacting = disk.operations.length;
    await second.save('chassis', 2);
    await second.save('gimbal', 8);
    expect(disk.operations.slice(compacting).map(({ kind }) => kind)).to.include('rename');
    expectKept(disk.operations, () => [40], compacting);
  });

  it('still has the last confirmed save of each unit even if, before the power cut, the daemon was killed at any disk operation and restarted', async () => {
    const first = new RecordingDisk();
    const work = async (disk: RecordingDisk) => {
      const { save } = await run(disk);
      await save('gimbal', 1);
      disk.fail('sync');
      await save('gimbal', 2).catch(() => undefined);
      disk.fail();
      await save('gimbal', 3);
    };
    await work(first);
    for (let killed = 0; killed <= first.operations.length; killed += 1) {
      const disk = RecordingDisk.replayed(first.operations.slice(0, killed));
      const { save } = await run(disk);
      await save('gimbal', 10);
      await save('chassis', 11);
      expectKept(disk.operations, firstAndLastByte);
    }
  });
});
