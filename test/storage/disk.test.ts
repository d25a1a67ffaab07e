import { spawnSync } from 'node:child_process';
import { chmod, chown, rename, stat, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { attempt, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { skip } from '../support/programs.js';

describe('the disk module of the daemon', () => {
  it('reports a file as missing only if the folder of the file exists, and otherwise fails with advice to mount the disk', () =>
    inTemporaryFolder(async folder => {
      await symlink(join(folder, 'unmounted'), join(folder, 'link'));
      expect(await realDisk.read(join(folder, 'absent'))).to.equal(undefined);
      for (const path of ['unmounted/file', 'link/file', 'link']) {
        const failure = await realDisk.read(join(folder, path)).catch(error => error);
        expect(failure.context, path)
          .to.include({ errno: path === 'link' ? 'ENOLINK' : 'ENOENT' })
          .and.have.property('cure')
          .that.includes('mount');
      }
    }));

  it('notices that an open file was moved or truncated', () =>
    inTemporaryFolder(async folder => {
      const path = join(folder, 'file');
      for (const open of [realDisk.create, realDisk.openToAppend]) {
        const file = await open(path);
        await file.append(Buffer.from('line\n'));
        expect(await file.isInPlace()).to.equal(true);
        await truncate(path, 3);
        expect(await file.isInPlace()).to.equal(false);
        await file.close();
      }
      const file = await realDisk.openToAppend(path);
      await rename(path, join(folder, 'moved'));
      expect(await file.isInPlace()).to.equal(false);
      await file.close();
    }));

  it('creates a folder and its missing parent folders, or fails at once if that is impossible, as in /proc', () =>
    inTemporaryFolder(async folder => {
      await realDisk.makeFolder(join(folder, 'a/b'));
      await realDisk.makeFolder(join(folder, 'a/b/c'));
      expect((await stat(join(folder, 'a/b/c'))).isDirectory()).to.equal(true);
      const endOf = (path: string) =>
        realDisk.makeFolder(path).then(
          () => 'made',
          error => error.context.errno,
        );
      if (process.platform === 'linux') expect(await endOf('/proc/nothing/here')).to.equal('ENOENT');
    }));

  it("fails with `EACCES`, instead of reporting a file as missing, if the daemon's user is not allowed to write to the folder", async function () {
    await inTemporaryFolder(async folder => {
      await chmod(folder, 0o555);
      const look = `
        import { realDisk } from ${JSON.stringify(new URL('../../src/storage/disk.js', import.meta.url))};
        const failure = await realDisk.read(${JSON.stringify(join(folder, 'absent'))}).catch(error => error);
        console.log(failure?.context.errno);`;
      const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
      const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', look], user);
      if (status !== 0) skip(this, 'only root may read this checkout');
      expect(stdout.toString()).to.equal('EACCES\n');
    });
  });

  it('makes the owner of a folder the owner of each file that root creates in it', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root may give files away');
    await inTemporaryFolder(async folder => {
      await chown(folder, 65534, 65534);
      await (await realDisk.create(join(folder, 'log'))).close();
      expect(await stat(join(folder, 'log'))).to.include({ uid: 65534, gid: 65534 });
    });
  });

  it('reports a full or read-only disk with advice on what to do', async () => {
    for (const [code, cure] of [
      ['ENOSPC', 'free some space'],
      ['EROFS', 'ReadWritePaths='],
    ] as const) {
      const failing = () => Promise.reject(Object.assign(new Error(code), { code }));
      const { context } = await attempt('write', '/state', failing).catch(error => error);
      expect(context.cure).to.contain(cure);
    }
  });
});
