import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { openCase } from '../../src/doctor/case.js';
import { errorCode } from '../../src/doctor/finding.js';
import { linuxSystem } from '../../src/doctor/linux-system.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { requirePrograms, skip } from '../support/programs.js';
import { CONFIG } from './scripted-system.js';

describe('“trunnion doctor” on a real Linux system', () => {
  it('measures how long the disk takes to sync a file in a folder, and leaves no file there', () =>
    inTemporaryFolder(async folder => {
      expect(await linuxSystem.trySync(folder)).to.be.least(0);
      expect(await readdir(folder)).to.deep.equal([]);
    }));

  it('reports a port as in use while a server listens on it, and as free after the server has closed', async () => {
    const server = createServer((_, response) => response.end('{"version":"1"}'));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const url = `http://127.0.0.1:${port}`;
    const taken = await linuxSystem.tryPort('127.0.0.1', port).catch(errorCode);
    expect(taken).to.equal('EADDRINUSE');
    expect(await linuxSystem.getJson(url)).to.deep.equal({ version: '1' });
    await new Promise(resolve => {
      server.close(resolve);
      server.closeAllConnections();
    });
    await linuxSystem.tryPort('127.0.0.1', port);
    expect(await linuxSystem.getJson(url)).to.equal(undefined);
  });

  it('gets the output of a program that succeeds, the exit code of a program that fails, and ENOENT for a missing program', async () => {
    expect(await linuxSystem.run('no-such-program').catch(errorCode)).to.equal('ENOENT');
    expect(await linuxSystem.run('sh', '-c', 'exit 3').catch(errorCode)).to.equal('3');
    expect(await linuxSystem.run('sh', '-c', 'echo said')).to.equal('said\n');
  });

  it('finds a running daemon by its file lock on the state folder, even if nothing answers at the configured port', async function () {
    if (process.platform !== 'linux') skip(this, 'no /proc/locks here');
    requirePrograms(this, 'flock');
    await inTemporaryFolder(async folder => {
      const config = { ...CONFIG, http: { ...CONFIG.http, host: '127.0.0.1', port: 1 }, state: { folder } };
      const system = { ...linuxSystem, run: () => Promise.reject(new Error('no systemd')) };
      expect((await openCase(system, { config })).daemonRuns).to.equal(false);
      const lock = new PathLock(folder);
      await lock.hold();
      const { ino } = await stat(folder);
      if (!(await readFile('/proc/locks', 'utf8')).includes(`:${ino} `)) {
        await lock.release();
        skip(this, 'a container does not see who has a lock');
      }
      expect((await openCase(system, { config })).daemonRuns).to.equal(true);
      await lock.release();
      expect((await openCase(system, { config })).daemonRuns).to.equal(false);
    });
  });
});
