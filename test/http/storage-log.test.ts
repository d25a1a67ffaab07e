import { expect } from 'chai';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';

describe('the log of events', () => {
  let daemon: ClockedDaemon;
  beforeEach(async () => {
    daemon = await ClockedDaemon.start();
  });
  afterEach(() => daemon.close());

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  const ask = async (ask: string, body?: unknown): Promise<any> => daemon.ask({ ask, body });
  /** The events of these names, each with its details. */
  const events = async (names: RegExp): Promise<string[]> =>
    (await ask('GET /api/log')).body.events
      .filter(({ what }: { what: string }) => names.test(what))
      .map(({ what, detail }: { what: string; detail: object }) =>
        [what, ...Object.values(detail)].join(' '),
      );

  it('has a line when a file fails, and one when it works again', async () => {
    const { body: gains } = await ask('GET /api/gimbal/pidconfig');
    expect((await ask('POST /api/gimbal/pidconfig', gains)).status).to.equal(200);
    expect(await events(/^storage-/)).to.deep.equal([]);
    daemon.diskFails(['append']);
    expect((await ask('POST /api/gimbal/pidconfig', gains)).status).to.equal(503);
    expect((await ask('POST /api/match/lock', { reason: 'inspection' })).status).to.equal(503);
    const files = ['gains', 'log', 'match'];
    expect((await events(/^storage-/)).sort()).to.deep.equal(
      files.map(file => `storage-failed ${file} append EIO`),
    );
    daemon.diskFails([]);
    await daemon.wait(3000);
    expect((await events(/^storage-works/)).sort()).to.deep.equal(files.map(file => `storage-works ${file}`));
    expect((await ask('GET /api/status')).body.log).to.deep.equal({ ok: true });
  });

  it('names the copy of a damaged file of profiles', async () => {
    daemon.put('profiles.json', '{');
    await ask('GET /api/chassis/profiles');
    const [found = ''] = await events(/^set-aside/);
    expect(found).to.match(/^set-aside profiles\.json\.damaged-[0-9a-f]{16}$/);
    expect(String(daemon.files()[found.slice('set-aside '.length)])).to.equal('{');
  });

  it('has a line when the tokens change, and one when their file is damaged', async () => {
    daemon.put('tokens.json', encodeTokens([{ name: 'desk', role: 'referee', hash: hashOf('secret') }]));
    await daemon.wait(1000);
    expect((await ask('GET /api/log')).status).to.equal(401);
    daemon.put('tokens.json', '');
    await daemon.wait(1000);
    expect(await events(/^tokens/)).to.deep.equal(['tokens closed desk', 'tokens unavailable ']);
    expect((await events(/^storage-failed/)).join()).to.include('storage-failed tokens');
  });

  it('reports no kept head on a disk that was full from the start', async () => {
    await daemon.close();
    daemon = await ClockedDaemon.start({ diskFails: ['append'] });
    const { status, body } = await ask('GET /api/log/head');
    expect([status, body.code]).to.deep.equal([503, 'storage-failed']);
    expect(body.detail).to.contain('could not be kept on disk');
  });
});
