import { copyFile, cp, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { encodeEntry } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import { requirePrograms } from '../support/programs.js';

const gains = defaultGains(unitNamed('chassis'));
const foreign = encodeEntry({ revision: 90, time: 't', unit: 'chassis', gains });

/** The things that people do to a state folder while the daemon runs. */
const acts: Readonly<Record<string, (state: string, path: string) => Promise<unknown>>> = {
  'is renamed': (_, path) => rename(path, `${path}.old`),
  'is deleted': (_, path) => rm(path),
  'with a second hard link is deleted': async (_, path) => {
    await link(path, `${path}.kept`);
    await rm(path);
  },
  'is replaced by a copy of itself': async (_, path) => {
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
  },
  'is replaced by another journal': async (_, path) => {
    await writeFile(`${path}.other`, foreign);
    await rename(`${path}.other`, path);
  },
  'is replaced by a hard link to another journal': async (_, path) => {
    await writeFile(`${path}.other`, foreign);
    await rm(path);
    await link(`${path}.other`, path);
  },
  'is moved away with its folder': state => rename(state, `${state}.old`),
  'is deleted with its folder': state => rm(state, { recursive: true }),
  'and its folder are moved away and replaced by copies': async state => {
    await rename(state, `${state}.old`);
    await cp(`${state}.old`, state, { recursive: true });
  },
  'and its folder are moved away and replaced by an empty folder': async state => {
    await rename(state, `${state}.old`);
    await mkdir(state);
  },
};

/** No time passes, so that no deadline is missed on a slow disk. */
const open = (folder: string, disk: Disk = realDisk) =>
  GainsStore.open({ folder, clock: new ManualClock(), disk });

/** Saves, and retries as long as the save is refused, as callers do. */
async function save(store: GainsStore): Promise<number> {
  for (;;) {
    const saved = await store.save('chassis', gains).catch(() => undefined);
    if (saved !== undefined) return saved.revision;
  }
}

async function foundAfterRestart(folder: string): Promise<number> {
  const store = await open(folder);
  const { revision } = store.current('chassis');
  await store.close();
  return revision;
}

describe('if the journal file', () => {
  before(function () {
    requirePrograms(this, 'flock');
  });

  for (const [what, act] of Object.entries(acts)) {
    it(`${what} before a save of gains, the save is loaded after a restart of the daemon`, () =>
      inTemporaryFolder(async folder => {
        const state = join(folder, 'a/b/state');
        const store = await open(state);
        await save(store);
        await act(state, join(state, JOURNAL_FILE));
        const { revision } = await store.save('chassis', gains);
        await store.close();
        expect([revision, await foundAfterRestart(state)]).to.deep.equal([2, 2]);
      }));

    it(`${what} during a save of gains, the save is loaded after a restart of the daemon`, () =>
      inTemporaryFolder(async folder => {
        const state = join(folder, 'state');
        let meanwhile: (() => Promise<unknown>) | undefined;
        const store = await open(state, {
          ...realDisk,
          openToAppend: async path => {
            const file = await realDisk.openToAppend(path);
            const append = async (data: Buffer) => {
              await file.append(data);
              await meanwhile?.();
              meanwhile = undefined;
            };
            return { ...file, append };
          },
        });
        await save(store);
        meanwhile = () => act(state, join(state, JOURNAL_FILE));
        const revision = await save(store);
        await store.close();
        expect(meanwhile, 'the file was changed during the save').to.equal(undefined);
        expect(await foundAfterRestart(state)).to.equal(revision);
      }));
  }
});

describe('a save of gains', () => {
  before(function () {
    requirePrograms(this, 'flock');
  });

  it('keeps a foreign file under another name if that file has replaced the journal file', () =>
    inTemporaryFolder(async state => {
      const store = await open(state);
      await save(store);
      await acts['is replaced by another journal']?.(state, join(state, JOURNAL_FILE));
      await save(store);
      const [kept = ''] = store.report().setAside;
      await store.close();
      expect(await readFile(join(state, kept), 'utf8')).to.equal(foreign);
    }));

  it('is refused if the state folder was replaced by a new folder on which another daemon has a file lock', () =>
    inTemporaryFolder(async folder => {
      const state = join(folder, 'state');
      const store = await open(state);
      await save(store);
      await rename(state, `${state}.old`);
      await mkdir(state);
      const other = new PathLock(state);
      await other.hold();
      const refused = await store.save('chassis', gains).catch(error => error.context);
      expect(refused).to.include({ operation: 'lock', errno: 'in use' });
      expect(await readdir(state)).to.deep.equal([]);
      expect(store.current('chassis').revision).to.equal(1);
      await other.release();
      expect(await save(store)).to.equal(2);
      await store.close();
    }));
});
