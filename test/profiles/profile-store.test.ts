import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRobotError, RobotError } from '../../src/core/errors.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { ProfileStore } from '../../src/profiles/profile-store.js';
import { MOST_PROFILES } from '../../src/schemas/profile.js';
import { realDisk } from '../../src/storage/disk.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const GAINS = defaultGains(unitNamed('chassis'));

describe('profiles', () => {
  let folder: string;
  let copies: string[];
  const setAside = (copy: string) => copies.push(copy);
  const open = () => new ProfileStore({ folder, disk: realDisk, clock: new ManualClock(), setAside });
  const keep = (store: ProfileStore, name: string, replace = false) =>
    store.keep('chassis', name, () => ({ note: `on ${name}`, starred: false, gains: GAINS }), { replace });
  const codeOf = (act: Promise<unknown>) =>
    act.then(
      () => 'done',
      error => (isRobotError(error) ? error.code : error),
    );
  const names = async (store: ProfileStore) => (await store.list('chassis')).map(({ name }) => name);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
    copies = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('outlive the daemon, with note and star, those of one unit apart from those of the other', async () => {
    const store = open();
    await keep(store, 'carpet');
    await keep(store, '__proto__');
    expect(await store.star('chassis', 'carpet', true)).include({ name: 'carpet', starred: true });
    expect(await store.list('gimbal')).deep.equal([]);
    const found = await open().list('chassis');
    expect(found).deep.equal(await store.list('chassis'));
    expect(found.map(({ name, note, starred }) => [name, note, starred])).deep.equal([
      ['carpet', 'on carpet', true],
      ['__proto__', 'on __proto__', false],
    ]);
    await open().remove('chassis', 'carpet');
    expect(await names(open())).deep.equal(['__proto__']);
  });

  it('are refused if their turn comes too late, whatever the caller asked for', async () => {
    const clock = new ManualClock();
    const disk = new RecordingDisk();
    const store = new ProfileStore({ folder: '/state', disk, clock, setAside });
    await store.list('chassis');
    disk.interfere = async operation => {
      if (operation === 'sync') await new Promise<void>(resolve => clock.after(200, resolve));
    };
    const kept = Array.from({ length: 10 }, (_, index) => codeOf(keep(store, `p${index}`)));
    const listed = codeOf(store.list('chassis'));
    await clock.advance(1000);
    const codes = await Promise.all([...kept, listed]);
    expect(codes.lastIndexOf('done')).within(1, 3);
    expect(new Set(codes.slice(4))).deep.equal(new Set(['storage-failed']));
    expect(await names(store)).deep.equal(['p0', 'p1', 'p2', 'p3'].slice(0, codes.lastIndexOf('done') + 1));
  });

  it('are replaced only when that is asked for, and are so many and no more', async () => {
    const store = open();
    await keep(store, 'match');
    expect(await codeOf(keep(store, 'match'))).equal('profile-exists');
    expect(await codeOf(keep(store, 'match', true))).equal('done');
    for (let count = 2; count <= MOST_PROFILES; count += 1) await keep(store, `p${count}`);
    expect(await codeOf(keep(store, 'one more'))).equal('too-many-profiles');
    expect(await codeOf(keep(store, 'match', true))).equal('done');
    expect(await names(open())).length(MOST_PROFILES);
    expect(await codeOf(store.star('chassis', 'none', true))).equal('unknown-profile');
    expect(await codeOf(store.remove('chassis', 'none'))).equal('unknown-profile');
  });

  it('are all kept that were asked for at once', async () => {
    const store = open();
    await Promise.all(['a', 'b', 'c'].map(name => keep(store, name)));
    expect(await names(open())).deep.equal(['a', 'b', 'c']);
  });

  describe('of a disk that renames and then fails', () => {
    let failing: RecordingDisk;
    let store: ProfileStore;
    const open = () =>
      new ProfileStore({ folder: '/state', disk: failing, clock: new ManualClock(), setAside });
    /** The folder's next sync fails, and so does whatever follows it, this many operations in all. */
    const failAtFolder = (operations: number) => {
      let isReached = false;
      let left = operations;
      failing.interfere = async operation => {
        isReached ||= operation === 'syncFolder';
        if (!isReached || left === 0) return;
        left -= 1;
        throw new RobotError('storage-failed', { operation: 'sync', path: '/state', errno: 'EIO' });
      };
    };
    const mayRemain = (act: Promise<unknown>): Promise<unknown> =>
      act.catch(error => error.context.mayRemain);

    beforeEach(async () => {
      failing = new RecordingDisk();
      store = open();
      await keep(store, 'carpet');
    });

    it('are taken back where it works again', async () => {
      for (const act of [() => keep(store, 'match'), () => store.remove('chassis', 'carpet')]) {
        failAtFolder(1);
        expect(await mayRemain(act())).equal(false);
        expect(await names(store)).deep.equal(['carpet']);
        expect(await names(open())).deep.equal(['carpet']);
      }
    });

    it('are said to stand perhaps where it goes on failing', async () => {
      failAtFolder(Number.POSITIVE_INFINITY);
      expect(await mayRemain(keep(store, 'match'))).equal(true);
      failing.interfere = async () => undefined;
      expect(await names(store)).deep.equal(['carpet']);
      expect(await names(open())).deep.equal(['carpet', 'match']);
      await keep(store, 'tiles');
      expect(await names(open())).deep.equal(['carpet', 'tiles']);
    });
  });

  it('are said to stand perhaps only where a disk hangs that has begun to write them', async () => {
    for (const [operation, mayRemain] of [
      ['read', false],
      ['append', true],
      ['syncFolder', true],
    ] as const) {
      const clock = new ManualClock();
      const slow = new RecordingDisk();
      slow.interfere = asked => (asked === operation ? new Promise(() => undefined) : Promise.resolve());
      const store = new ProfileStore({ folder: '/state', disk: slow, clock, setAside });
      const refused = keep(store, 'match').catch(error => error.context);
      await clock.advance(500);
      const { errno, mayRemain: found } = await refused;
      expect([operation, errno, found]).deep.equal([operation, 'slow', mayRemain]);
    }
  });

  it('are refused at once while a disk hangs, so that nothing piles up', async () => {
    const clock = new ManualClock();
    const slow = new RecordingDisk();
    const store = new ProfileStore({ folder: '/state', disk: slow, clock, setAside });
    await keep(store, 'carpet');
    const answerAgain = slow.hang();
    const first = codeOf(keep(store, 'match'));
    await clock.advance(500);
    expect(await first).equal('storage-failed');
    for (let count = 0; count < 1000; count += 1)
      expect(await codeOf(keep(store, `p${count}`))).equal('storage-failed');
    answerAgain();
    await clock.advance(0);
    expect(await codeOf(keep(store, 'tiles'))).equal('done');
    expect(await names(store)).deep.equal(['carpet', 'tiles']);
  });

  it('say that a star was kept which the disk has, although it hangs right after it', async () => {
    const clock = new ManualClock();
    const slow = new RecordingDisk();
    const store = new ProfileStore({ folder: '/state', disk: slow, clock, setAside });
    await keep(store, 'carpet');
    let isKept = false;
    slow.interfere = operation => {
      if (isKept) return new Promise(() => undefined);
      isKept = operation === 'syncFolder';
      return Promise.resolve();
    };
    const starred = store.star('chassis', 'carpet', true);
    const next = codeOf(keep(store, 'match'));
    await clock.advance(500);
    expect(await next).equal('storage-failed');
    expect((await starred).starred).equal(true);
  });

  it('are kept anew from what stands when their turn comes', async () => {
    const slow = new RecordingDisk();
    const store = new ProfileStore({ folder: '/state', disk: slow, clock: new ManualClock(), setAside });
    await keep(store, 'carpet');
    const answerAgain = slow.hang();
    const starred = store.star('chassis', 'carpet', true);
    const kept = store.keep(
      'chassis',
      'carpet',
      found => ({ note: '', starred: false, ...found, gains: {} }),
      {
        replace: true,
      },
    );
    answerAgain();
    await starred;
    expect((await kept).replaced?.starred).equal(true);
    expect((await store.named('chassis', 'carpet')).starred).equal(true);
  });

  it('begin anew where the file is damaged, whose copy is said and outlives another damage', async () => {
    for (const damaged of ['{"format":"trunnion profiles 1","chassis":[{"name":', '{']) {
      await writeFile(join(folder, 'profiles.json'), damaged);
      expect(await names(open())).deep.equal([]);
    }
    expect(copies).length(2);
    const kept = await Promise.all(copies.map(copy => readFile(copy, 'utf8')));
    expect(kept).deep.equal(['{"format":"trunnion profiles 1","chassis":[{"name":', '{']);
  });
});
