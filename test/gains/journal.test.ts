import { expect } from 'chai';
import fc from 'fast-check';
import { Journal } from '../../src/gains/journal.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { type JournalEntry, parseJournal } from '../../src/gains/journal-line.js';
import { outcomeOf } from '../support/code-of.js';
import { encodeEntry, noLock } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const PATH = `/state/${JOURNAL_FILE}`;
const entry = (unit: string, revision: number) => ({
  revision,
  time: '2030-01-01T00:00:00.000Z',
  unit,
  gains: { loop: { kp: revision, ki: 0.1, kd: -1e-7 } },
});
const line = (unit: string, revision: number) => encodeEntry(entry(unit, revision));
const newest = (entries: readonly JournalEntry[], unit: string) =>
  Math.max(0, ...entries.filter(one => one.unit === unit).map(({ revision }) => revision));

async function open(disk = new RecordingDisk()) {
  const clock = new ManualClock();
  const journal = new Journal({ folder: '/state', disk, clock, lock: noLock });
  await journal.open();
  const save = (unit: string, kp: number) =>
    journal.append({ time: 'now', unit, gains: { loop: { kp, ki: 0, kd: 0 } } });
  return { disk, journal, save, clock };
}

describe('if a gains journal file', () => {
  const two = line('gimbal', 1) + line('gimbal', 2);
  const files: readonly [name: string, content: string | Buffer, revision: number, isDamaged: boolean][] = [
    ['is empty', '', 0, false],
    ['contains saves 1 and 2 without damage', two, 2, false],
    ['contains saves 1 and 2 but no newline at its end', two.slice(0, -1), 2, true],
    ['contains save 1 and only the beginning of save 2', two.slice(0, -9), 1, true],
    ['contains garbage between saves 1 and 3', `${line('gimbal', 1)}garbage\n${line('gimbal', 3)}`, 3, true],
    ['contains save 1 and a save 2 with a changed digit', two.replace('"kp":2', '"kp":3'), 1, true],
    ['contains save 7 before save 2', line('gimbal', 7) + line('gimbal', 2), 7, false],
    ['contains only NUL bytes', '\0'.repeat(4096), 0, true],
    ['contains saves 1 and 2 and then NUL bytes', two + '\0'.repeat(100), 2, true],
    [
      'contains saves 1 and 2 after bytes that are not UTF-8',
      Buffer.concat([Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from(two)]),
      2,
      true,
    ],
    ['contains only unrelated JSON', '{"a":1}\n', 0, true],
  ];
  for (const [name, content, revision, damaged] of files) {
    it(`${name}, ${revision > 0 ? `save ${revision} is loaded as the newest` : 'no save is loaded'}, and ${damaged ? 'the damaged file is copied' : 'no copy is made'}`, async () => {
      const bytes = Buffer.from(content);
      const disk = new RecordingDisk({ [PATH]: bytes });
      const { journal, save } = await open(disk);
      expect(journal.revisions.newest('gimbal')).to.equal(revision);
      expect(journal.setAside.length).to.equal(damaged ? 1 : 0);
      expect(journal.problem).to.equal(undefined);
      const [copy] = journal.setAside;
      if (copy !== undefined) expect(disk.files()[`/state/${copy}`]).to.deep.equal(bytes);
      expect((await save('gimbal', 5)).revision).to.equal(revision + 1);
      const again = await open(new RecordingDisk(disk.files()));
      expect(again.journal.revisions.newest('gimbal')).to.equal(revision + 1);
      expect(again.journal.setAside).to.deep.equal(journal.setAside);
    });
  }

  it('is damaged twice in the same way, it is copied only once', async () => {
    const damaged = Buffer.from('garbage\n');
    const disk = new RecordingDisk({ [PATH]: damaged });
    await open(disk);
    const { journal } = await open(new RecordingDisk({ ...disk.files(), [PATH]: damaged }));
    expect(journal.setAside).to.have.length(1);
  });

  it('contains random bytes, no save is loaded, and no error is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
        const { entries, damaged } = parseJournal(Buffer.from(bytes));
        expect(entries).to.deep.equal([]);
        expect(damaged).to.equal(bytes.length > 0);
      }),
    );
  });

  it('is cut off at any byte, all its complete lines are loaded', () => {
    const gain = fc.double({ noNaN: true, noDefaultInfinity: true });
    const gains = fc.dictionary(fc.string(), fc.record({ kp: gain, ki: gain, kd: gain }), { maxKeys: 4 });
    const entries = fc.array(
      fc.record({ revision: fc.integer({ min: 1 }), time: fc.string(), unit: fc.string(), gains }),
    );
    fc.assert(
      fc.property(entries, fc.nat(), (written, where) => {
        const lines = written.map(one => Buffer.from(encodeEntry(one)));
        const whole = Buffer.concat(lines);
        const prefix = whole.subarray(0, where % (whole.length + 1));
        let left = prefix.length;
        const complete = lines.filter(bytes => {
          left -= bytes.length;
          return left >= -1;
        });
        expect(parseJournal(prefix).entries).to.have.length(complete.length);
      }),
    );
  });
});

/** What each operation of the disk does, as words of a title. */
const WORDS: Readonly<Record<string, string>> = {
  makeFolder: 'make the state folder',
  list: 'list the state folder',
  read: 'read the journal',
  openToAppend: 'open the journal for appending',
  create: 'create a file',
  append: 'append to the journal',
  sync: 'sync the journal',
  rename: 'rename a file',
  syncFolder: 'sync the state folder',
};

describe('the gains journal', () => {
  it('is synced only once for several saves that are made at the same time', async () => {
    const { disk, save } = await open();
    const before = disk.operations.length;
    const saved = await Promise.all([save('gimbal', 1), save('chassis', 2), save('gimbal', 3)]);
    expect(saved.map(({ revision }) => revision)).to.deep.equal([1, 1, 2]);
    expect(disk.operations.slice(before).map(({ kind }) => kind)).to.deep.equal(['append', 'sync']);
  });

  for (const operation of ['append', 'sync'])
    it(`refuses a save while the disk cannot ${WORDS[operation]}, and does not contain that save when the disk works again`, async () => {
      const { disk, journal, save } = await open();
      await save('gimbal', 1);
      disk.fail(operation);
      expect(await outcomeOf(save('gimbal', 2))).to.equal('storage-failed');
      expect(journal.revisions.newest('gimbal')).to.equal(1);
      expect(journal.problem?.context.errno).to.equal('EIO');
      disk.fail();
      await journal.open();
      expect(journal.problem).to.equal(undefined);
      expect(parseJournal(disk.files()[PATH]!).entries).to.have.length(1);
      expect((await save('gimbal', 3)).revision).to.equal(2);
    });

  for (const operation of Object.keys(WORDS))
    it(`confirms no save and loses no line if it is opened while the disk cannot ${WORDS[operation]}`, async () => {
      const damaged = Buffer.from(`${line('gimbal', 3)}{"torn`);
      const disk = new RecordingDisk({ [PATH]: damaged });
      disk.fail(operation);
      const { journal, save } = await open(disk);
      expect(await outcomeOf(save('gimbal', 4))).to.equal('storage-failed');
      expect(journal.problem?.context.errno).to.equal('EIO');
      const left = Object.values(disk.files()).map(bytes => newest(parseJournal(bytes).entries, 'gimbal'));
      expect(left).to.include(3);
      disk.fail();
      expect((await save('gimbal', 5)).revision).to.equal(4);
      expect(Object.values(disk.files())).to.deep.include(damaged);
    });

  it('times out a save if the disk is slow, and removes the line of that save when the disk answers', async () => {
    const { disk, journal, save, clock } = await open();
    await save('gimbal', 1);
    const answerAgain = disk.hang('sync');
    const slow = save('gimbal', 2).catch(error => error);
    await clock.advance(500);
    const refused = await slow;
    expect([refused.code, refused.context.mayRemain]).to.deep.equal(['storage-failed', true]);
    expect(journal.problem?.context.errno).to.equal('slow');
    answerAgain();
    await clock.advance(0);
    expect((await save('gimbal', 3)).revision).to.equal(2);
    expect(journal.problem).to.equal(undefined);
    expect(journal.revisions.newest('gimbal')).to.equal(2);
    const { entries } = parseJournal(disk.files()[PATH]!);
    expect(entries.map(({ gains }) => gains.loop?.kp)).to.deep.equal([1, 3]);
  });

  it('refuses saves at once after one save has timed out on a hanging disk, so that no queue grows', async () => {
    const { disk, journal, save, clock } = await open();
    await save('gimbal', 1);
    const answerAgain = disk.hang();
    const first = outcomeOf(save('gimbal', 2));
    await clock.advance(500);
    expect(await first).to.equal('storage-failed');
    for (let count = 0; count < 1000; count += 1)
      expect(await outcomeOf(save('gimbal', count))).to.equal('storage-failed');
    const { length } = disk.operations;
    answerAgain();
    await clock.advance(0);
    expect(disk.operations.length - length).to.be.lessThan(20);
    expect([(await save('gimbal', 3)).revision, journal.problem]).to.deep.equal([2, undefined]);
  });

  for (const operation of ['append', 'sync']) {
    it(`refuses a save if the disk fails once to ${WORDS[operation]}, and keeps no part of that save`, async () => {
      const { disk, journal, save } = await open();
      await save('gimbal', 1);
      disk.failTimes(1, operation);
      const refused = await save('gimbal', 2).catch(error => error);
      expect([refused.code, refused.context.mayRemain]).to.deep.equal(['storage-failed', false]);
      // The state that the next process finds if this one is killed now.
      const { journal: next } = await open(new RecordingDisk(disk.files()));
      expect(next.revisions.of('gimbal').map(({ gains }) => gains.loop?.kp)).to.deep.equal([1]);
      expect([next.setAside, journal.problem]).to.deep.equal([[], undefined]);
    });
  }

  it('refuses a save that the disk cannot sync, warns that a restart may load that save, and removes the save when the disk works again', async () => {
    const { disk, journal, save, clock } = await open();
    await save('gimbal', 1);
    const reports: (string | undefined)[] = [];
    journal.changed.add(() => reports.push(journal.problem?.context.errno));
    disk.fail('sync');
    const refused = await save('gimbal', 2).catch(error => error);
    expect(refused.context.mayRemain).to.equal(true);
    expect(parseJournal(disk.files()[PATH]!).entries).to.have.length(2);
    await clock.advance(5000);
    expect(reports).to.deep.equal(['EIO']);
    disk.fail();
    await clock.advance(1000);
    expect(parseJournal(disk.files()[PATH]!).entries).to.have.length(1);
    expect(reports).to.deep.equal(['EIO', undefined]);
    const before = disk.operations.length;
    await clock.advance(60_000);
    expect(disk.operations).to.have.length(before);
  });

  it('refuses a second save after the sync of the first has failed, and reports that a restart will not load the second', async () => {
    const { disk, save } = await open();
    disk.fail('sync');
    await save('gimbal', 1).catch(error => error);
    const refused = await save('gimbal', 2).catch(error => error);
    expect(refused.code).to.equal('storage-failed');
    expect(refused.context.mayRemain).to.equal(false);
  });

  it('retries every second to open its file while the disk cannot read the file, and notifies its listeners when the file is open', async () => {
    const disk = new RecordingDisk({ [PATH]: Buffer.from(line('gimbal', 9)) });
    disk.fail('read');
    const { journal, clock } = await open(disk);
    let changes = 0;
    journal.changed.add(() => {
      changes += 1;
    });
    await clock.advance(3000);
    expect([journal.problem?.context.errno, changes]).to.deep.equal(['EIO', 0]);
    disk.fail();
    await clock.advance(1000);
    expect([journal.problem, changes]).to.deep.equal([undefined, 1]);
    expect(journal.revisions.newest('gimbal')).to.equal(9);
  });

  it('keeps a line through a power cut that a killed daemon had appended but not synced, because a restart loads that line', async () => {
    const { disk, save } = await open();
    disk.hang('sync');
    void save('gimbal', 1).catch(() => undefined);
    await new Promise(setImmediate);
    expect(disk.files()[PATH]?.length).to.be.above(0);
    const later = RecordingDisk.replayed(disk.operations);
    await open(later);
    later.cut({ names: 'lost', data: 'lost' });
    expect(newest(parseJournal(later.files()[PATH] ?? Buffer.alloc(0)).entries, 'gimbal')).to.equal(1);
  });

  it('is rewritten with at most 2,000 lines of each unit if it exceeds 4 MiB, but keeps the highest revision of each unit', async () => {
    const many = Array.from({ length: 35_000 }, (_, index) => line('gimbal', index + 1)).join('');
    const disk = new RecordingDisk({
      [PATH]: Buffer.from(line('gimbal', 90_000) + line('chassis', 1) + many),
    });
    const { save } = await open(disk);
    expect(many.length).to.be.greaterThan(4 << 20);
    await save('chassis', 2);
    await save('chassis', 3);
    const { entries, damaged } = parseJournal(disk.files()[PATH]!);
    expect(damaged).to.equal(false);
    expect(entries.filter(({ unit }) => unit === 'gimbal')).to.have.length(2000);
    expect([newest(entries, 'gimbal'), newest(entries, 'chassis')]).to.deep.equal([90_000, 3]);
  });

  it('is not written after it was closed', async () => {
    const { disk, journal, save } = await open();
    await save('gimbal', 1);
    await journal.close();
    const before = disk.operations.length;
    expect(await outcomeOf(save('gimbal', 2))).to.equal('storage-failed');
    await journal.open();
    expect(disk.operations).to.have.length(before);
  });
});
