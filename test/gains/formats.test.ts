import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { systemClock } from '../../src/core/clock.js';
import { isRobotError, type RobotError } from '../../src/core/errors.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { MAX_REVISION } from '../../src/gains/journal-line.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { encodeEntry, foreignLine } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url));
const chassis = defaultGains(unitNamed('chassis'));

async function withStore<T>(folder: string, act: (store: GainsStore) => Promise<T>): Promise<T> {
  const store = await GainsStore.open({ folder, clock: systemClock, disk: realDisk });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

/** A state folder with this journal in it; `act` gets its path too. */
function withJournal(content: string, act: (folder: string, path: string) => Promise<void>): Promise<void> {
  return inTemporaryFolder(async folder => {
    const path = join(folder, JOURNAL_FILE);
    await writeFile(path, content);
    await act(folder, path);
  });
}

const refusal = (saving: Promise<unknown>): Promise<RobotError<'storage-failed'> | undefined> =>
  saving.then(
    () => undefined,
    (error: unknown) => (isRobotError(error, 'storage-failed') ? error : undefined),
  );

describe('a journal of version 0.1.0', () => {
  const fixture = join(FIXTURES, '0.1.0', JOURNAL_FILE);

  it('is read, and its lines stay as they are when it goes on', () =>
    inTemporaryFolder(async folder => {
      const path = join(folder, JOURNAL_FILE);
      await copyFile(fixture, path);
      await withStore(folder, async store => {
        const { revision, savedAt, gains } = store.current('chassis');
        expect([revision, savedAt]).to.deep.equal([3, '2026-09-01T09:04:04.936Z']);
        expect(gains.speed).to.deep.equal({ kp: 42.5, ki: 310, kd: 0 });
        expect(store.revision('chassis', 2).gains.speed).to.deep.equal({ kp: 0.1, ki: 1e-7, kd: -3 });
        expect(store.history('chassis', 9).map(one => one.revision)).to.deep.equal([3, 2, 1]);
        expect(store.current('gimbal').gains.angle_yaw).to.deep.equal({ kp: 280, ki: 250, kd: 7.1 });
        expect(store.report()).to.deep.equal({ ok: true, setAside: [] });
        expect((await store.save('chassis', chassis)).revision).to.equal(4);
      });
      const [before, after] = await Promise.all([readFile(fixture, 'utf8'), readFile(path, 'utf8')]);
      expect(after.startsWith(before)).to.equal(true);
    }));

  it('has lines as this version writes them, so that an older one can read on', async () => {
    const [line = ''] = (await readFile(fixture, 'utf8')).split('\n');
    const { revision, time, unit, gains } = JSON.parse(line);
    expect(encodeEntry({ revision, time, unit, gains })).to.equal(`${line}\n`);
  });
});

describe('a journal of a newer format', () => {
  const old = encodeEntry({ revision: 7, time: 't', unit: 'chassis', gains: chassis });
  const journals: Readonly<Record<string, string>> = {
    'with the checksum of today': foreignLine({
      format: 2,
      revision: 8,
      time: 't',
      unit: 'chassis',
      gains: {},
    }),
    'with another checksum': `${JSON.stringify({ format: 2, kind: 'gains', hash: 'abc' })}\n`,
    'after lines of today': `${old}${foreignLine({ format: 3, anything: [1] })}`,
  };
  for (const [name, content] of Object.entries(journals)) {
    it(`is refused in words and left as it is: ${name}`, () =>
      withJournal(content, async (folder, path) => {
        await withStore(folder, async store => {
          const { ok, detail, cure } = store.report();
          expect(ok).to.equal(false);
          expect(detail).to.match(new RegExp(`^cannot read ${path}: format [23]$`));
          expect(cure).to.contain('A newer version of Trunnion wrote it: install that version, or move');
          expect(() => store.current('chassis')).to.throw('storage-failed');
          expect((await refusal(store.save('chassis', chassis)))?.context.cure).to.equal(cure);
        });
        expect(await readdir(folder)).to.deep.equal([JOURNAL_FILE]);
        expect(await readFile(path, 'utf8')).to.equal(content);
      }));
  }
});

describe('a journal that nobody here wrote', () => {
  const saved = (revision: number, gains: object = chassis) =>
    foreignLine({ revision, time: 't', unit: 'chassis', gains });

  it('is used without the numbers after which there is none, and the next save is found again', () =>
    withJournal(saved(4) + saved(Number.MAX_SAFE_INTEGER), async folder => {
      await withStore(folder, async store => {
        expect(store.current('chassis').revision).to.equal(4);
        expect(store.report().setAside).to.have.length(1);
        expect((await store.save('chassis', chassis)).revision).to.equal(5);
      });
      await withStore(folder, async store => expect(store.current('chassis').revision).to.equal(5));
    }));

  it('refuses a save that would get a number which does not count, and says so', () =>
    withJournal(saved(MAX_REVISION), async folder => {
      await withStore(folder, async store => {
        expect((await refusal(store.save('chassis', chassis)))?.context.errno).to.equal('no number left');
        expect((await store.save('gimbal', defaultGains(unitNamed('gimbal')))).revision).to.equal(1);
        expect(store.current('chassis').revision).to.equal(MAX_REVISION);
      });
      await withStore(folder, async store => expect(store.current('gimbal').revision).to.equal(1));
    }));

  for (const [name, kp] of [
    ['1e300', 1e300],
    ['-1e39', -1e39],
    ['words', 'much'],
  ] as const) {
    it(`is used without gains that no controller can have, and a save mends it: ${name}`, () =>
      withJournal(saved(1) + saved(2, { ...chassis, speed: { kp, ki: 0, kd: 0 } }), async folder => {
        await withStore(folder, async store => {
          expect(store.current('chassis').revision).to.equal(1);
          expect(store.current('chassis').gains).to.deep.equal(chassis);
          expect(store.report()).to.include({ ok: true });
          expect(store.report().setAside).to.have.length(1);
          await store.save('chassis', chassis);
        });
        await withStore(folder, async store => {
          expect(store.current('chassis').revision).to.equal(2);
          expect(store.current('chassis').gains).to.deep.equal(chassis);
        });
      }));
  }

  it('sets aside what was saved twice under one number, and takes the later line', () =>
    withJournal(saved(1) + saved(2) + saved(1, {}), async (folder, path) => {
      const before = await readFile(path);
      await withStore(folder, async store => {
        expect(store.history('chassis', 9).map(one => one.revision)).to.deep.equal([2, 1]);
        const [kept = ''] = store.report().setAside;
        expect(await readFile(join(folder, kept))).to.deep.equal(before);
      });
      expect(await readFile(path, 'utf8')).to.equal(saved(1, {}) + saved(2));
    }));

  it('keeps members, loops and units that this version does not know when it is written anew', () => {
    const lines = [
      foreignLine({
        revision: 1,
        time: 't',
        unit: 'chassis',
        gains: chassis,
        by: 'somebody',
        trial: { of: 3 },
      }),
      foreignLine({ revision: 2, time: 't', unit: 'chassis', gains: { ...chassis, tilt: { kf: 1 } } }),
      foreignLine({
        revision: 3,
        time: 't',
        unit: 'chassis',
        gains: { ...chassis, speed: { kp: 1, ki: 1, kd: 1, kff: 2 } },
      }),
      foreignLine({ revision: 1, time: 't', unit: 'arm', gains: { elbow: { kp: 1e300 } } }),
    ];
    return withJournal(`${lines.join('')}torn`, async (folder, path) => {
      await withStore(folder, async store => {
        expect(store.history('chassis', 9)).to.have.length(3);
        expect(store.current('chassis').gains.speed).to.include({ kp: 1, ki: 1, kd: 1 });
      });
      expect(await readFile(path, 'utf8')).to.equal(lines.join(''));
    });
  });

  it('of 100,000 lines is read a little at a time, and the first save works', () => {
    const lines = Array.from({ length: 100_000 }, (_, index) =>
      encodeEntry({ revision: index + 1, time: 't', unit: `unit ${index % 500}`, gains: {} }),
    );
    return withJournal(lines.join(''), async folder => {
      let turns = 0;
      let whileReading: number | undefined;
      // The folder is listed when all lines have been read.
      const disk: Disk = {
        ...realDisk,
        read: async path => {
          const bytes = await realDisk.read(path);
          turns = 0;
          return bytes;
        },
        list: async path => {
          whileReading ??= turns;
          return realDisk.list(path);
        },
      };
      const clock = new ManualClock();
      const opening = GainsStore.open({ folder, clock, disk });
      await clock.advance(2000);
      const store = await opening;
      await eventually(async () => {
        turns += 1;
        return store.report().ok;
      });
      // One turn of the event loop for a thousand lines, whatever the machine.
      expect(whileReading).to.be.greaterThan(100);
      expect((await store.save('chassis', chassis)).revision).to.equal(1);
      await store.close();
    });
  });
});
