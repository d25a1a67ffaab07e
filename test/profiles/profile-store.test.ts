import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { ProfileStore } from '../../src/profiles/profile-store.js';
import { MOST_PROFILES } from '../../src/schemas/profile.js';
import { outcomeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const GAINS = defaultGains(unitNamed('chassis'));

describe('profiles', () => {
  let clock: ManualClock;
  let disk: RecordingDisk;
  let copies: string[];
  let store: ProfileStore;
  const open = () => new ProfileStore({ folder: '/state', disk, clock, setAside: copy => copies.push(copy) });
  const keep = (name: string, replace = false) =>
    store.keep('chassis', name, () => ({ note: `on ${name}`, starred: false, gains: GAINS }), { replace });
  /** Lets time pass for the disk. Resolves with `done`, or with the code of the refusal. */
  const codeOf = async (act: Promise<unknown>) => {
    const code = outcomeOf(act);
    await clock.advance(500);
    return code;
  };
  const names = async (of = open()) => (await of.list('chassis')).map(({ name }) => name);

  beforeEach(() => {
    clock = new ManualClock();
    disk = new RecordingDisk();
    copies = [];
    store = open();
  });

  it('keep their names, notes and stars when the daemon restarts', async () => {
    await keep('carpet');
    await keep('__proto__');
    expect(await store.star('chassis', 'carpet', true)).include({ name: 'carpet', starred: true });
    expect(await store.list('gimbal')).deep.equal([]);
    const found = await open().list('chassis');
    expect(found).deep.equal(await store.list('chassis'));
    expect(found.map(({ name, note, starred }) => [name, note, starred])).deep.equal([
      ['carpet', 'on carpet', true],
      ['__proto__', 'on __proto__', false],
    ]);
    await open().remove('chassis', 'carpet');
    expect(await names()).deep.equal(['__proto__']);
  });

  it('report each change for the log, but not a repeated call that changes nothing', async () => {
    let changes = 0;
    store.changed.add(() => {
      changes += 1;
    });
    await keep('carpet');
    for (let count = 0; count < 2; count += 1) await store.star('chassis', 'carpet', true);
    await store.remove('chassis', 'carpet');
    await keep('carpet');
    expect(changes).to.equal(4);
  });

  it('are not changed by a call that times out while it waits for a slow disk', async () => {
    await store.list('chassis');
    disk.interfere = async operation => {
      if (operation === 'sync') await new Promise<void>(resolve => clock.after(200, resolve));
    };
    const asked = [...Array.from({ length: 10 }, (_, index) => keep(`p${index}`)), store.list('chassis')];
    const ends = asked.map(outcomeOf);
    await clock.advance(1000);
    const codes = await Promise.all(ends);
    expect(codes.lastIndexOf('done')).within(1, 3);
    expect(new Set(codes.slice(4))).deep.equal(new Set(['storage-failed']));
    expect(await names(store)).deep.equal(['p0', 'p1', 'p2', 'p3'].slice(0, codes.lastIndexOf('done') + 1));
  });

  it('cannot exceed the allowed number, and a save overwrites a profile only if the caller asks for a replacement', async () => {
    await Promise.all(['match', 'a', 'b'].map(name => keep(name)));
    expect(await names()).deep.equal(['match', 'a', 'b']);
    expect(await codeOf(keep('match'))).equal('profile-exists');
    expect(await codeOf(keep('match', true))).equal('done');
    for (let count = 4; count <= MOST_PROFILES; count += 1) await keep(`p${count}`);
    expect(await codeOf(keep('one more'))).equal('too-many-profiles');
    expect(await codeOf(keep('match', true))).equal('done');
    expect(await names()).length(MOST_PROFILES);
    expect(await codeOf(store.star('chassis', 'none', true))).equal('unknown-profile');
    expect(await codeOf(store.remove('chassis', 'none'))).equal('unknown-profile');
  });

  it('stay unchanged if the disk cannot create a file, and the error says that nothing has changed', async () => {
    await keep('carpet');
    disk.fail('create');
    expect(await keep('match').catch(error => error.context)).include({ mayRemain: false });
    expect(await names()).deep.equal(['carpet']);
  });

  describe('whose change fails at the final sync of the folder', () => {
    /** Lets this many operations fail, beginning with the next sync of the folder. */
    const failAtFolder = (operations: number) => {
      let isReached = false;
      let left = operations;
      disk.interfere = async operation => {
        isReached ||= operation === 'syncFolder';
        if (!isReached || left === 0) return;
        left -= 1;
        throw new RobotError('storage-failed', { operation: 'sync', path: '/state', errno: 'EIO' });
      };
    };
    const mayRemain = (act: Promise<unknown>): Promise<unknown> =>
      act.catch(error => error.context.mayRemain);
    beforeEach(() => keep('carpet'));

    it('get their old content back if the disk then works again, and are reported as unchanged', async () => {
      for (const act of [() => keep('match'), () => store.remove('chassis', 'carpet')]) {
        failAtFolder(1);
        expect(await mayRemain(act())).equal(false);
        expect([await names(store), await names()]).deep.equal([['carpet'], ['carpet']]);
      }
    });

    it('are reported as possibly changed if the disk keeps failing', async () => {
      failAtFolder(Number.POSITIVE_INFINITY);
      expect(await mayRemain(keep('match'))).equal(true);
      disk.fail();
      expect([await names(store), await names()]).deep.equal([['carpet'], ['carpet', 'match']]);
      await keep('tiles');
      expect(await names()).deep.equal(['carpet', 'tiles']);
    });
  });

  for (const [operation, does, mayRemain] of [
    ['read', 'reads the old profiles', false],
    ['append', 'writes the new profiles', true],
    ['syncFolder', 'syncs the folder', true],
  ] as const)
    it(`are reported as ${mayRemain ? 'possibly changed' : 'unchanged'} if the disk hangs while a save ${does}`, async () => {
      disk.hang(operation);
      const refused = keep('match').catch(error => error.context);
      await clock.advance(500);
      expect(await refused).include({ errno: 'slow', mayRemain });
    });

  it('cannot be saved while the disk hangs, and each further save is refused at once', async () => {
    await keep('carpet');
    const answerAgain = disk.hang();
    expect(await codeOf(keep('match'))).equal('storage-failed');
    const later = Array.from({ length: 1000 }, (_, count) => outcomeOf(keep(`p${count}`)));
    expect(new Set(await Promise.all(later))).deep.equal(new Set(['storage-failed']));
    answerAgain();
    await clock.advance(0);
    expect(await codeOf(keep('tiles'))).equal('done');
    expect(await names(store)).deep.equal(['carpet', 'tiles']);
  });

  it('are confirmed as starred even if the disk hangs right after the star is stored', async () => {
    await keep('carpet');
    let isKept = false;
    disk.interfere = operation => {
      if (isKept) return new Promise(() => undefined);
      isKept = operation === 'syncFolder';
      return Promise.resolve();
    };
    const starred = store.star('chassis', 'carpet', true);
    expect(await codeOf(keep('match'))).equal('storage-failed');
    expect((await starred).starred).equal(true);
  });

  it('keep their star if a save overwrites them while the star is still being stored', async () => {
    await keep('carpet');
    const answerAgain = disk.hang();
    const starred = store.star('chassis', 'carpet', true);
    const again = { note: '', starred: false, gains: {} };
    const kept = store.keep('chassis', 'carpet', found => ({ ...again, ...found }), { replace: true });
    answerAgain();
    await starred;
    expect((await kept).replaced?.starred).equal(true);
    expect((await store.named('chassis', 'carpet')).starred).equal(true);
  });

  it('are an empty list if their file is damaged, and a copy of the damaged file is kept', async () => {
    const damages = ['{"format":"trunnion profiles 1","chassis":[{"name":', '{'];
    for (const damaged of damages) {
      disk.put('/state/profiles.json', Buffer.from(damaged));
      expect(await names()).deep.equal([]);
    }
    expect(copies.map(copy => String(disk.files()[copy]))).deep.equal(damages);
  });
});
