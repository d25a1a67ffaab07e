import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { attempt, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';

describe('the real disk', () => {
  it('says that a file is not there only if it sees the folder that does not have it', () =>
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

  it('names the cure of a disk that is full or read-only', async () => {
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
