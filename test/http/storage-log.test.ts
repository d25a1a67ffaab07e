import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashOf, newSecret } from '../../src/access/token.js';
import { tokenFile, writeTokens } from '../../src/access/token-file.js';
import { RobotError } from '../../src/core/errors.js';
import { logFileNames } from '../../src/events/log-files.js';
import { verifyLog } from '../../src/events/verify-log.js';
import { type DiskFile, realDisk } from '../../src/storage/disk.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('the log of events when the disk is full', () => {
  let isFull = false;
  const full = () => {
    if (isFull)
      throw new RobotError('storage-failed', { operation: 'write', path: '/state', errno: 'ENOSPC' });
  };
  const limited = (file: DiskFile): DiskFile => ({
    ...file,
    append: async data => {
      full();
      await file.append(data);
    },
  });
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        create: async path => {
          full();
          return limited(await real.create(path));
        },
        openToAppend: async path => limited(await real.openToAppend(path)),
      }),
    },
  );

  const storage = async (): Promise<readonly string[]> =>
    (await daemon.get('/api/log')).body.events
      .filter(({ what }: { what: string }) => what.startsWith('storage-'))
      .map(({ what, detail }: { what: string; detail: Record<string, string> }) =>
        [what, detail.file, detail.errno].filter(Boolean).join(' '),
      );

  it('says of each file that it fails, and that it works again', async () => {
    const { body: gains } = await daemon.get('/api/gimbal/pidconfig');
    expect((await daemon.post('/api/gimbal/pidconfig', gains)).status).to.equal(200);
    expect(await storage()).to.deep.equal([]);
    isFull = true;
    expect((await daemon.post('/api/gimbal/pidconfig', gains)).status).to.equal(503);
    expect((await daemon.post('/api/match/lock', { reason: 'inspection' })).status).to.equal(503);
    const said = (says: (file: string) => string) =>
      eventually(async () => {
        const lines = await storage();
        return ['gains', 'match', 'log'].every(file => lines.includes(says(file)));
      });
    await said(file => `storage-failed ${file} ENOSPC`);
    isFull = false;
    await said(file => `storage-works ${file}`);
    expect((await daemon.get('/api/status')).body.log).to.deep.equal({ ok: true });
  });

  it('says that its own file was moved away, and goes on in another', async () => {
    const newest = async () => join(daemon.folder, logFileNames(await readdir(daemon.folder)).at(-1) ?? '');
    const path = await newest();
    await rename(path, join(daemon.folder, 'moved.jsonl'));
    await daemon.post('/api/stop');
    await eventually(async () => (await storage()).includes('storage-failed log moved'));
    await eventually(async () => (await storage()).at(-1) === 'storage-works log');
    expect((await daemon.get('/api/status')).body.log).to.deep.equal({ ok: true });
    await eventually(async () => (await readFile(await newest(), 'utf8')).includes('"storage-works"'));
    const content = await readFile(await newest());
    expect(await newest()).not.to.equal(path);
    expect(content.toString()).to.include('"what":"stop"');
    expect(verifyLog([{ name: 'next', content }])).to.include({ ok: true });
  });

  it('names the copy of profiles that were damaged', async () => {
    await writeFile(join(daemon.folder, 'profiles.json'), '{');
    await eventually(async () => (await daemon.get('/api/chassis/profiles')).status === 200);
    const { events } = (await daemon.get('/api/log')).body;
    const [found] = events.filter(({ what }: { what: string }) => what === 'set-aside');
    expect(found.detail.file).to.match(/^profiles\.json\.damaged-[0-9a-f]{16}$/);
    expect(await readFile(join(daemon.folder, found.detail.file), 'utf8')).to.equal('{');
  });

  it('says whose tokens hold when they change, and when their file is damaged', async () => {
    const changes = async () =>
      (await daemon.get('/api/log')).body.events.filter(({ what }: { what: string }) => what === 'tokens');
    await writeTokens(realDisk, daemon.folder, [
      { name: 'desk', role: 'referee', hash: hashOf(newSecret()) },
    ]);
    await eventually(async () => (await daemon.get('/api/log')).status === 401);
    await realDisk.create(tokenFile(daemon.folder)).then(file => file.close());
    await eventually(async () => (await daemon.get('/api/log')).status === 200);
    expect((await changes()).map(({ detail }: { detail: object }) => detail)).to.deep.equal([
      { access: 'closed', names: 'desk' },
      { access: 'unavailable', names: '' },
    ]);
    expect(await storage()).to.include('storage-failed tokens');
  });
});

describe('the log of events on a disk that was full from the start', () => {
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        create: async path => {
          if (!path.includes('events')) return real.create(path);
          throw new RobotError('storage-failed', { operation: 'create', path, errno: 'ENOSPC' });
        },
      }),
    },
  );

  it('says of its head that nothing could be kept', async () => {
    const { status, body } = await daemon.get('/api/log/head');
    expect([status, body.code]).to.deep.equal([503, 'storage-failed']);
    expect(body.detail).to.contain('could not be kept on disk');
  });
});
