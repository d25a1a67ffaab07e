import { expect } from 'chai';
import { eventually } from '../support/daemon.js';
import { RawClient } from '../support/raw-client.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const OF_ALL = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const OF_THE_PAGE = {
  ...OF_ALL,
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

describe('security headers', () => {
  const daemon = simulatedDaemon();

  /** Sends these bytes on a connection of their own. Returns the status and the headers of the answer. */
  const answerTo = async (bytes: string) => {
    const client = new RawClient(daemon.port, bytes);
    await eventually(async () => client.text.includes('\r\n\r\n'));
    client.socket.destroy();
    const [first = '', ...lines] = (client.text.split('\r\n\r\n')[0] ?? '').split('\r\n');
    const headers = lines.map(line => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    });
    return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers) };
  };
  const request = (ask: string, ...headers: readonly string[]) =>
    [`${ask} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

  const answers: Readonly<Record<string, readonly [status: number, bytes: string]>> = {
    'a request for JSON': [200, request('GET /api/status')],
    'a HEAD request': [200, request('HEAD /api/status')],
    'a request that stops the robot': [200, request('POST /api/stop', 'Content-Length: 0')],
    'an OPTIONS request': [204, request('OPTIONS /api/status')],
    'a request for an event stream': [200, request('GET /api/events')],
    'a request for an unknown path': [404, request('GET /api/nothing')],
    'a request with a wrong method': [405, request('DELETE /api/stop')],
    'a request whose body has no content type': [
      415,
      request('POST /api/laser', 'Content-Length: 1', '', 'x'),
    ],
    'a request from a foreign page': [403, request('GET /api/status', 'Sec-Fetch-Site: cross-site')],
    'a request whose target is not a path': [400, request('GET status')],
    'a request with an unknown transfer encoding': [
      501,
      request('POST /api/stop', 'Transfer-Encoding: gzip, chunked', '', '0', ''),
    ],
    'a request whose headers are too large': [431, request('GET /api/status', `X: ${'x'.repeat(9000)}`)],
    'bytes that are not HTTP': [400, 'what?\r\n\r\n'],
  };
  for (const [kind, [status, bytes]] of Object.entries(answers)) {
    it(`are in the answer to ${kind}`, async () => {
      const answer = await answerTo(bytes);
      expect(answer.status).to.equal(status);
      expect(answer.headers).to.include(OF_ALL);
    });
  }

  it('against foreign scripts are in the answer to a request for the page, even if the page is unchanged (304)', async () => {
    const { status, headers } = await answerTo(request('GET /'));
    expect(status).to.equal(200);
    expect(headers).to.include(OF_THE_PAGE);
    const unchanged = await answerTo(request('GET /', `If-None-Match: ${headers.etag}`));
    expect(unchanged.status).to.equal(304);
    expect(unchanged.headers).to.include(OF_THE_PAGE);
  });
});
