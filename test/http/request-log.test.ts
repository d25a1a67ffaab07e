import { expect } from 'chai';
import { ClockedDaemon, type Settings } from '../support/clocked-daemon.js';

describe('the log on stdout', () => {
  let daemon: ClockedDaemon;
  const start = async (settings: Settings = {}) => {
    daemon = await ClockedDaemon.start(settings);
  };
  afterEach(() => daemon.close());
  const lines = () =>
    daemon.logged.flatMap(({ msg, path, status, code, repeats }) =>
      ['request', 'unlisted'].includes(String(msg)) ? [[path ?? msg, status, code, repeats]] : [],
    );
  const laser = (action: string, as?: string) =>
    daemon.ask({ ask: 'POST /api/laser', body: { action }, ...(as && { as }) });

  it('has a line for each accepted or refused request to change something, and none for a read', async () => {
    await start();
    await daemon.ask({ ask: 'GET /api/status' });
    await daemon.ask({ ask: 'GET /api/nothing' });
    for (const action of ['on', 'off', 'on', 'off', 'dim']) await laser(action);
    expect(lines()).to.deep.equal([
      ...Array.from({ length: 4 }, () => ['/api/laser', 200, undefined, undefined]),
      ['/api/laser', 400, 'invalid-request', undefined],
    ]);
  });

  it('has two lines for 20 equal requests that change nothing: one for the first and, after a minute, one that counts the other 19', async () => {
    await start();
    for (let count = 0; count < 20; count += 1) await laser('off');
    await daemon.wait(60_000);
    expect(lines()).to.deep.equal([
      ['/api/laser', 200, undefined, undefined],
      ['/api/laser', 200, undefined, 19],
    ]);
  });

  it('has a separate line for a request with a token, while 100 requests without a token share two lines', async () => {
    await start({ tokens: true });
    for (let count = 0; count < 100; count += 1) {
      await daemon.ask({ ask: `POST /api/nothing${count}`, from: `192.0.2.${count}` });
      if (count === 50) await laser('on', 'operator');
    }
    await daemon.wait(60_000);
    expect(lines()).to.deep.equal([
      ['/api/nothing0', 404, 'not-found', undefined],
      ['/api/laser', 200, undefined, undefined],
      ['unlisted', undefined, undefined, 99],
    ]);
  });

  it('has only the first 200 characters of a long path', async () => {
    await start();
    await daemon.ask({ ask: `POST /${'x'.repeat(5000)}` });
    expect(lines()).to.deep.equal([[`/${'x'.repeat(199)}`, 404, 'not-found', undefined]]);
  });
});
