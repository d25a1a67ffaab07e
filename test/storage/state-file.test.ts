import { expect } from 'chai';
import { pause } from '../../src/core/clock.js';
import { stateFile } from '../../src/storage/state-file.js';
import { outcomeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const PATH = '/state/value.json';
const LIMIT_MS = 500;
describe('a state file', () => {
  let clock: ManualClock;
  let disk: RecordingDisk;
  let copies: string[];
  const file = (failSafe?: () => number) =>
    stateFile<number>(
      { disk, clock, folder: '/state', setAside: copy => copies.push(copy) },
      {
        name: 'value.json',
        encode: String,
        decode: text => {
          if (!/^\d+$/.test(text)) throw new Error('damaged');
          return Number(text);
        },
        absent: 0,
        failSafe,
      },
    );
  const onDisk = () => disk.files()[PATH]?.toString();
  /** Lets the longest time for a disk operation pass. Returns the act's promise. */
  const within = async <T>(act: Promise<T>) => {
    act.catch(() => undefined);
    await clock.advance(LIMIT_MS);
    return act;
  };

  beforeEach(() => {
    clock = new ManualClock();
    disk = new RecordingDisk();
    copies = [];
  });

  it('holds the last saved value, and is not written if the same value is saved again', async () => {
    const first = file();
    expect(await first.read(LIMIT_MS)).to.equal(0);
    await first.save(7, LIMIT_MS);
    const { length } = disk.operations;
    await first.save(7, LIMIT_MS);
    expect([await file().read(LIMIT_MS), disk.operations.length]).to.deep.equal([7, length]);
  });

  it('confirms a save only when the new value is on the disk, even if a copy of the damaged old file is still being made', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('x') });
    const create = disk.create.bind(disk);
    disk.create = async path => {
      if (path.includes('damaged')) await pause(clock, LIMIT_MS + 200);
      return create(path);
    };
    const read = file(() => 99);
    expect(await within(read.read(LIMIT_MS))).to.equal(99);
    await within(read.save(7, LIMIT_MS));
    expect(onDisk()).to.equal('7');
  });

  it('without a fail-safe value can be read as soon as the disk works, even if an earlier read failed', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('7') });
    const read = file();
    disk.fail('read');
    expect(await outcomeOf(read.read(LIMIT_MS))).to.equal('storage-failed');
    disk.fail();
    expect([await read.read(LIMIT_MS), read.problem]).to.deep.equal([7, undefined]);
  });

  it('without a fail-safe value is not loaded while the disk hangs, and is loaded as soon as the disk answers', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('7') });
    const read = file();
    const answerAgain = disk.hang();
    expect(await outcomeOf(within(read.read(LIMIT_MS)))).to.equal('storage-failed');
    answerAgain();
    await clock.advance(0);
    expect(read.value).to.equal(7);
  });

  it('without a fail-safe value counts as absent if it is damaged, and its content is kept under another name', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('x') });
    expect(await file().read(LIMIT_MS)).to.equal(0);
    expect([onDisk(), copies.map(copy => disk.files()[copy]?.toString())]).to.deep.equal([undefined, ['x']]);
  });

  it('with a fail-safe value takes that value if the disk hangs when the daemon starts, and keeps it after the disk answers', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('7') });
    const answerAgain = disk.hang();
    const read = file(() => 99);
    expect(await within(read.read(LIMIT_MS))).to.equal(99);
    expect(read.problem?.context.errno).to.equal('slow');
    answerAgain();
    await clock.advance(0);
    expect([read.value, onDisk()]).to.deep.equal([99, '7']);
    await read.save(99, LIMIT_MS);
    expect([read.problem, onDisk()]).to.deep.equal([undefined, '99']);
  });

  it('outlives a power cut after a confirmed save, even if the value was found at the start and its folder had not been synced', async () => {
    disk.hang('syncFolder');
    void file()
      .save(7, LIMIT_MS)
      .catch(() => undefined);
    await clock.advance(LIMIT_MS);
    expect(onDisk()).to.equal('7');
    disk = RecordingDisk.replayed(disk.operations);
    const next = file();
    expect(await within(next.read(LIMIT_MS))).to.equal(7);
    await within(next.save(7, LIMIT_MS));
    disk.cut({ names: 'lost', data: 'lost' });
    expect(onDisk()).to.equal('7');
  });

  it('with a fail-safe value keeps a copy of a file that came too late, before a save replaces it', async () => {
    await file().save(7, LIMIT_MS);
    disk.interfere = async operation => {
      if (operation === 'read') await pause(clock, LIMIT_MS + 100);
    };
    const late = file(() => 1);
    expect(await within(late.read(LIMIT_MS))).to.equal(1);
    await clock.advance(LIMIT_MS);
    expect([onDisk(), copies]).to.deep.equal(['7', []]);
    const saved = late.save(2, LIMIT_MS);
    await clock.advance(LIMIT_MS);
    await saved;
    expect(onDisk()).to.equal('2');
    expect(copies.map(copy => disk.files()[copy]?.toString())).to.deep.equal(['7']);
  });

  it('with a fail-safe value takes that value at every start while the file is damaged, and only one copy of the damaged file is kept', async () => {
    disk = new RecordingDisk({ [PATH]: Buffer.from('x') });
    for (let start = 0; start < 2; start += 1) expect(await file(() => 99).read(LIMIT_MS)).to.equal(99);
    expect([onDisk(), new Set(copies).size]).to.deep.equal(['x', 1]);
    expect(disk.files()[copies[0] ?? '']?.toString()).to.equal('x');
  });

  for (const failing of ['create', 'append', 'sync', 'rename', 'syncFolder'] as const) {
    it(`reports a problem if step “${failing}” of a save fails, and gets the new value when the disk works again`, async () => {
      const saved = file();
      await saved.save(1, LIMIT_MS);
      const problems: boolean[] = [];
      saved.changed.add(() => problems.push(saved.problem !== undefined));
      disk.fail(failing);
      expect(await outcomeOf(saved.save(2, LIMIT_MS))).to.equal('storage-failed');
      expect(saved.value).to.equal(2);
      disk.fail();
      await clock.advance(1000);
      expect([onDisk(), problems]).to.deep.equal(['2', [true, false]]);
    });

    it(`keeps its old value if step “${failing}” of a save fails and the old value is then saved again`, async () => {
      const saved = file();
      await saved.save(1, LIMIT_MS);
      disk.fail(failing);
      await outcomeOf(saved.save(2, LIMIT_MS));
      disk.fail();
      await saved.save(1, LIMIT_MS);
      await clock.advance(5000);
      expect([onDisk(), saved.problem]).to.deep.equal(['1', undefined]);
    });
  }

  it('queues no saves while the disk hangs, and gets the newest value when the disk answers', async () => {
    const saved = file();
    const answerAgain = disk.hang();
    expect(await outcomeOf(within(saved.save(1, LIMIT_MS)))).to.equal('storage-failed');
    expect([saved.isStuck, saved.problem?.context.errno]).to.deep.equal([true, 'slow']);
    const later = Array.from({ length: 1000 }, (_, value) => outcomeOf(saved.save(value, 0)));
    await clock.advance(1);
    expect(new Set(await Promise.all(later))).to.deep.equal(new Set(['storage-failed']));
    answerAgain();
    await clock.advance(0);
    expect(disk.operations.length).to.be.lessThan(20);
    expect([onDisk(), saved.isStuck, saved.problem]).to.deep.equal(['999', false, undefined]);
  });

  it('does not confirm a save while an earlier save of another value hangs, even if the disk already has the value to save', async () => {
    const saved = file();
    await saved.save(1, LIMIT_MS);
    const answerAgain = disk.hang();
    const other = saved.save(2, LIMIT_MS);
    await clock.advance(0);
    let isConfirmed = false;
    const back = saved.save(1, LIMIT_MS).then(() => {
      isConfirmed = true;
    });
    await clock.advance(0);
    expect(isConfirmed).to.equal(false);
    answerAgain();
    await Promise.all([other, back]);
    expect(onDisk()).to.equal('1');
  });

  it("gets the value of a failed save as soon as the disk answers, even if the disk has hung since the daemon's start", async () => {
    const answerAgain = disk.hang();
    const saved = file(() => 99);
    await within(saved.read(LIMIT_MS));
    expect(await outcomeOf(within(saved.save(5, LIMIT_MS)))).to.equal('storage-failed');
    answerAgain();
    await clock.advance(0);
    expect([onDisk(), saved.problem]).to.deep.equal(['5', undefined]);
  });

  it('with a fail-safe value is restored if someone deletes or overwrites the file, and reports a problem until then', async () => {
    const saved = file(() => 99);
    await saved.read(LIMIT_MS);
    await saved.save(7, LIMIT_MS);
    const restarted = file(() => 7);
    disk.put(PATH, Buffer.from('damaged'));
    await restarted.read(LIMIT_MS);
    for (const replace of [() => disk.remove(PATH), () => disk.put(PATH, Buffer.from('3'))]) {
      await replace();
      disk.fail('create');
      await clock.advance(1000);
      const failed = 'storage-failed';
      expect([saved.problem?.code, restarted.problem?.code]).to.deep.equal([failed, failed]);
      disk.fail();
      await clock.advance(1000);
      expect([onDisk(), saved.problem, restarted.problem]).to.deep.equal(['7', undefined, undefined]);
    }
  });

  it('with a fail-safe value refuses a save, even of the same value, while the disk can neither be read nor written', async () => {
    const saved = file(() => 99);
    await saved.read(LIMIT_MS);
    await saved.save(7, LIMIT_MS);
    disk.fail('read', 'create');
    await clock.advance(1000);
    expect(await outcomeOf(within(saved.save(7, LIMIT_MS)))).to.equal('storage-failed');
  });
});
