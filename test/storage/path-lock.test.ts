import { spawnSync } from 'node:child_process';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PathLock } from '../../src/storage/path-lock.js';
import { outcomeOf } from '../support/code-of.js';
import { temporaryFolder } from '../support/daemon.js';
import { requirePrograms, skip } from '../support/programs.js';

const hold = (lock: PathLock) => outcomeOf(lock.hold());

/** Another process that tries to lock the folder. */
function holdIn(namespace: readonly string[], folder: string) {
  const module = JSON.stringify(new URL('../../src/storage/path-lock.js', import.meta.url).href);
  const script =
    `const { PathLock } = await import(${module});` +
    `const held = new PathLock(${JSON.stringify(folder)}).hold().then(() => 'done', error => error.code);` +
    'console.log(await held);';
  const [program = process.execPath, ...before] = [...namespace, process.execPath];
  const ran = spawnSync(program, [...before, '--input-type=module', '-e', script], { encoding: 'utf8' });
  return ran.status === 0 ? ran.stdout.trim() : undefined;
}

describe('the file lock of a state folder', () => {
  before(function () {
    requirePrograms(this, 'flock');
  });
  const locks: PathLock[] = [];
  afterEach(() => Promise.all(locks.splice(0).map(lock => lock.release())));
  const folder = temporaryFolder();

  const lockOf = (path = folder()) => {
    const lock = new PathLock(path);
    locks.push(lock);
    return lock;
  };

  it('has only one holder at a time, and can be taken by another holder after its release', async () => {
    const [one, other] = [lockOf(), lockOf()];
    expect([await hold(one), await hold(other)]).to.deep.equal(['done', 'state-in-use']);
    expect(await hold(one)).to.equal('done');
    await one.release();
    expect(await hold(other)).to.equal('done');
  });

  it('is granted to exactly one of 12 attempts that start at the same time', async () => {
    const all = Array.from({ length: 12 }, () => lockOf());
    const results = await Promise.all(all.map(hold));
    expect(results.filter(result => result === 'done')).to.have.length(1);
    expect(results.filter(result => result === 'state-in-use')).to.have.length(11);
  });

  it('is refused to a process in another network namespace until the holder releases the lock', async function () {
    const elsewhere = ['unshare', '--map-root-user', '--net'];
    const lock = lockOf();
    await lock.hold();
    const refused = holdIn(elsewhere, folder());
    await lock.release();
    if (refused === undefined) skip(this, 'no network namespaces here');
    expect(refused).to.equal('state-in-use');
    expect(holdIn(elsewhere, folder())).to.equal('done');
  });

  it('adds no file to the folder, and ignores old lock files in the folder', async () => {
    for (const name of ['lock', 'lock.new']) await writeFile(join(folder(), name), Buffer.alloc(64));
    expect(await hold(lockOf())).to.equal('done');
    expect((await readdir(folder())).sort()).to.deep.equal(['lock', 'lock.new']);
  });

  it('that was replaced by a new folder moves to the new folder when its holder takes the lock again', async () => {
    const state = join(folder(), 'state');
    await mkdir(state);
    const lock = lockOf(state);
    await lock.hold();
    await rename(state, `${state}.old`);
    await mkdir(state);
    expect(await hold(lock)).to.equal('done');
    expect(await hold(lockOf(state))).to.equal('state-in-use');
    expect(await hold(lockOf(`${state}.old`))).to.equal('done');
  });

  it('fails with `storage-failed` if the folder or the program `flock` is missing', async () => {
    expect(await hold(lockOf(join(folder(), 'none')))).to.equal('storage-failed');
    const { PATH } = process.env;
    process.env.PATH = folder();
    try {
      const refused = await lockOf()
        .hold()
        .catch(error => error);
      expect(refused.code).to.equal('storage-failed');
      expect(refused.context).to.include({ operation: 'lock', errno: 'ENOENT' });
      expect(refused.context.cure).to.contain('util-linux');
    } finally {
      process.env.PATH = PATH;
    }
  });
});
