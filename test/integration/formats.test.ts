import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import { logFileNames } from '../../src/events/log-files.js';
import { verifyLog } from '../../src/events/verify-log.js';
import { Child } from '../support/child.js';
import { call, inTemporaryFolder } from '../support/daemon.js';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url));
/** The token whose hash is in the fixture of the tokens. */
const REFEREE = { authorization: 'Bearer v7c9-w6ay-sad1-ry8r-kem9-ngp2-tp56-8ekp' };

async function onState(folder: string, act: (get: Get, daemon: Child) => Promise<void>): Promise<void> {
  const daemon = new Child('sim/main.js', ['--port', '0', '--state', folder]);
  try {
    const url = await daemon.url();
    // biome-ignore lint/suspicious/noExplicitAny: answers whose shape the test asserts.
    await act(async (path): Promise<any> => (await call(url, 'GET', path, undefined, REFEREE)).body, daemon);
  } finally {
    await daemon.kill('SIGTERM');
  }
}
// biome-ignore lint/suspicious/noExplicitAny: answers whose shape the test asserts.
type Get = (path: string) => Promise<any>;

async function logIn(folder: string) {
  const names = logFileNames(await readdir(folder));
  return Promise.all(names.map(async name => ({ name, content: await readFile(join(folder, name)) })));
}

describe('files of earlier versions', function () {
  this.timeout(60_000);

  for (const version of ['0.1.0', '0.2.0']) {
    it(`a configuration of ${version} is taken with every setting in it`, () => {
      const file = join(FIXTURES, version, 'config.yaml');
      const config = loadConfig(file, {}, { host: '0.0.0.0', state: '/nowhere' });
      expect([config.http.host, config.laser.interlock]).to.deep.equal([
        '127.0.0.1',
        { gpio: 5, activeLow: true },
      ]);
    });
  }

  it('a state folder of 0.2.0 is read, and goes on', () =>
    inTemporaryFolder(async folder => {
      await cp(join(FIXTURES, '0.2.0'), folder, { recursive: true });
      const before = await logIn(folder);
      expect(before.map(({ name }) => name)).to.deep.equal(['events.old.jsonl', 'events.jsonl']);
      await onState(folder, async get => {
        const status = await get('/api/status');
        expect(status.access.state).to.equal('closed');
        expect(status.gimbal.gains).to.deep.include({ revision: 1, savedAt: '2026-11-21T17:48:18.810Z' });
        expect(status.match.lock).to.deep.equal({ by: 'desk', reason: 'crew on the field' });
        expect(status.match).to.deep.include({ id: 'final', revision: 5, phase: 'pause' });
        expect(status.stopped).to.equal(true);
        expect(status.storage).to.deep.equal({ ok: true, setAside: [] });
        expect((await get('/api/gimbal/profiles'))[0].profile).to.deep.include({
          name: 'Final',
          note: 'dry floor',
        });
        const [step] = await get('/api/gimbal/steps?loop=angle_yaw');
        expect(step.gains).to.deep.equal({ kp: 300, ki: 300, kd: 7.5 });
      });
      const silences = JSON.parse(await readFile(join(folder, 'host-silence.json'), 'utf8'));
      expect(silences).to.deep.equal({ gimbal: 500, chassis: 500 });
      const after = await logIn(folder);
      expect(after.slice(0, 2)).to.deep.equal(before);
      expect(after[2]?.name).to.equal('events-00000001.jsonl');
      const verdict = verifyLog(after);
      expect(verdict).to.deep.include({ ok: true, notes: [] });
      expect(
        verdict.ok && verdict.lines.slice(42, 44).map(({ seq, what }) => `${seq} ${what}`),
      ).to.deep.equal(['43 end', '44 start']);
    }));
});

describe('files of newer versions', function () {
  this.timeout(60_000);

  it('a list of tokens lets nobody in, says why, and is left alone by everyone', () =>
    inTemporaryFolder(async folder => {
      const path = tokenFile(folder);
      const newer = '{"format":2,"tokens":{"desk":{"rights":["rule"]}}}\n';
      await writeFile(path, newer);
      await onState(folder, async get => {
        const { access } = await get('/api/status');
        expect(access.state).to.equal('unavailable');
        expect(access.detail).to.include('A newer version of Trunnion wrote the list of tokens');
      });
      const add = new Child('src/main.js', ['token', 'add', 'new', '--role', 'referee', '--state', folder]);
      expect(await add.exited).to.equal(1);
      expect(add.lines.join('\n')).to.include('A newer version of Trunnion wrote the list of tokens');
      expect(await readFile(path, 'utf8')).to.equal(newer);
    }));

  it('a log of events is left alone and followed, and is not said to be changed by somebody', () =>
    inTemporaryFolder(async folder => {
      const newer = '{"format":2,"number":7,"said":"start"}\n';
      await writeFile(join(folder, 'events-00000003.jsonl'), newer);
      await onState(folder, async () => undefined);
      const files = await logIn(folder);
      expect(files.map(({ name }) => name)).to.deep.equal(['events-00000003.jsonl', 'events-00000004.jsonl']);
      expect(files[0]?.content.toString()).to.equal(newer);
      expect(verifyLog(files)).to.deep.equal({
        ok: false,
        file: 'events-00000003.jsonl',
        line: 1,
        why: 'A newer version of Trunnion wrote it: verify the log with that one.',
      });
    }));

  it('a record of lock and match counts as a lock, and is kept', () =>
    inTemporaryFolder(async folder => {
      await writeFile(join(folder, 'match.json'), '{"format":2}\n');
      await onState(folder, async get => {
        const { match, stopped } = await get('/api/status');
        expect(match.lock.reason).to.include('a newer version of Trunnion wrote it');
        expect(stopped).to.equal(true);
      });
    }));
});
