import { expect } from 'chai';
import { RawClient } from '../support/raw-client.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('a request target', () => {
  const daemon = simulatedDaemon();
  const answerTo = async (line: string) => {
    const head = `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const client = new RawClient(daemon.port, head);
    await client.closed;
    return client.text;
  };

  for (const target of [
    'http://[',
    'http://localhost:99999/',
    'ftp://localhost/healthz',
    '//a@[#x',
    '/healthz#x',
    '*x',
  ]) {
    it(`"${target}" is refused with the code "bad-http", and the daemon then answers the next request`, async () => {
      for (const method of ['POST', 'GET', 'OPTIONS'])
        expect(await answerTo(`${method} ${target}`)).to.match(/^HTTP\/1\.1 400 .*"code":"bad-http"/s);
      expect((await daemon.get('/healthz')).status).to.equal(200);
    });
  }

  it('"http://xn--/", which only some versions of Node can parse, is refused, and the daemon then answers the next request', async () => {
    for (const method of ['POST', 'GET', 'OPTIONS'])
      expect(await answerTo(`${method} http://xn--/`)).to.match(/^HTTP\/1\.1 4(00|21) /);
    expect((await daemon.get('/healthz')).status).to.equal(200);
  });
});
