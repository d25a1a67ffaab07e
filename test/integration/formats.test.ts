import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTokens } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import { logFileNames } from '../../src/events/numbered-files.js';
import { verifyLog } from '../../src/events/verify-log.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';
import { RecordingDisk } from '../support/recording-disk.js';

const FIXTURES = 'test/fixtures';
/** The token whose hash is in the fixture of the tokens. */
const REFEREE = { authorization: 'Bearer v7c9-w6ay-sad1-ry8r-kem9-ngp2-tp56-8ekp' };

type Files = Readonly<Record<string, Buffer>>;
type Get = (path: string) => ReturnType<ClockedDaemon['bodyOf']>;

/** Runs a daemon on a state folder with these files. Resolves with the files that it leaves. */
async function onState(
  files: Files,
  act: (get: Get) => Promise<void> = async () => undefined,
): Promise<Files> {
  const daemon = await ClockedDaemon.start({ files });
  await act(path => daemon.bodyOf(`GET ${path}`, undefined, { headers: REFEREE }));
  await daemon.close();
  return daemon.files();
}

async function filesOf(version: string): Promise<Files> {
  const folder = join(FIXTURES, version);
  const names = ['gains.jsonl', 'host-silence.json', 'match.json', 'profiles.json', 'tokens.json'];
  names.push('steps/gimbal-angle_yaw.jsonl', ...logFileNames(await readdir(folder)));
  return Object.fromEntries(
    await Promise.all(names.map(async name => [name, await readFile(join(folder, name))] as const)),
  );
}

function logIn(files: Files) {
  return logFileNames(Object.keys(files)).map(name => ({ name, content: files[name]! }));
}

describe('the current version', () => {
  for (const version of ['0.1.0', '0.2.0', '0.3.0']) {
    it(`accepts a configuration file of version ${version}, and applies its settings`, () => {
      const file = join(FIXTURES, version, 'config.yaml');
      const config = loadConfig(file, {}, { host: '0.0.0.0', state: '/nowhere' });
      expect([config.http.host, config.laser.interlock]).to.deep.equal([
        '127.0.0.1',
        { gpio: 5, activeLow: true },
      ]);
    });
  }

  const folders = [
    {
      version: '0.2.0',
      savedAt: '2026-11-21T17:48:18.810Z',
      logs: ['events.old.jsonl', 'events.jsonl'],
      next: 'events-00000001.jsonl',
    },
    {
      version: '0.3.0',
      savedAt: '2026-11-23T13:09:24.952Z',
      logs: ['events-00000001.jsonl'],
      next: 'events-00000002.jsonl',
    },
  ];
  for (const { version, savedAt, logs, next } of folders)
    it(`reads the state folder of version ${version}, and continues the event log in that folder`, async () => {
      const files = await filesOf(version);
      const before = logIn(files);
      expect(before.map(({ name }) => name)).to.deep.equal(logs);
      const left = await onState(files, async get => {
        const status = await get('/api/status');
        expect(status.access.state).to.equal('closed');
        expect(status.gimbal.gains).to.deep.include({ revision: 1, savedAt });
        expect(status.match.lock).to.deep.include({ by: 'desk', reason: 'crew on the field' });
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
      const silences = JSON.parse(String(left['host-silence.json']));
      // Version 0.3.0 takes whole numbers up to 65535 for units that it does not know.
      expect(silences.check ?? 0).to.be.within(0, 65_535);
      expect(silences).to.deep.include({ gimbal: 500, chassis: 500 });
      const after = logIn(left);
      expect(after.slice(0, logs.length)).to.deep.equal(before);
      expect(after[logs.length]?.name).to.equal(next);
      const verdict = verifyLog(after);
      expect(verdict).to.deep.include({ ok: true, notes: [] });
      const lines = verdict.ok ? verdict.lines : [];
      const end = lines.findIndex(({ what }) => what === 'end');
      expect(lines[end + 1]).to.include({ what: 'start', seq: (lines[end]?.seq ?? 0) + 1 });
    });
});

describe('the daemon', () => {
  it('reports access as “unavailable” if a newer version wrote the list of tokens, and leaves that list unchanged', async () => {
    const newer = Buffer.from('{"format":2,"tokens":{"desk":{"rights":["rule"]}}}\n');
    const left = await onState({ 'tokens.json': newer }, async get => {
      const { access } = await get('/api/status');
      expect(access.state).to.equal('unavailable');
      expect(access.detail).to.include('A newer version of Trunnion wrote the list of tokens');
    });
    expect(left['tokens.json']).to.deep.equal(newer);
    const disk = new RecordingDisk({ '/state/tokens.json': newer });
    const error = await readTokens(disk, '/state').catch((thrown: unknown) => thrown);
    expect(error).to.have.nested.property('context.isNewer', true);
  });

  it('leaves an event log file of a newer version unchanged, and writes its own events to a new file', async () => {
    const newer = Buffer.from('{"format":2,"number":7,"said":"start"}\n');
    const files = logIn(await onState({ 'events-00000003.jsonl': newer }));
    expect(files.map(({ name }) => name)).to.deep.equal(['events-00000003.jsonl', 'events-00000004.jsonl']);
    expect(files[0]?.content).to.deep.equal(newer);
    expect(verifyLog(files)).to.deep.equal({
      ok: false,
      file: 'events-00000003.jsonl',
      line: 1,
      why: 'A newer version of Trunnion wrote it: verify the log with that one.',
    });
  });

  it('locks the robot if a newer version wrote the file “match.json”, and gives that as the reason for the lock', async () => {
    const newer = Buffer.from('{"format":2}\n');
    await onState({ 'match.json': newer }, async get => {
      const { match, stopped } = await get('/api/status');
      expect(match.lock.reason).to.include('a newer version of Trunnion wrote it');
      expect(stopped).to.equal(true);
    });
  });
});
