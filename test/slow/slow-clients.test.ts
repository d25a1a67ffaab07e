import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const HEAD = 'POST /api/laser HTTP/1.1\r\nHost: localhost\r\n';
const SLOW = {
  'slow headers': `${HEAD}X-Slow: `,
  'bodies that never end': `${HEAD}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{`,
  'connections that say nothing': '',
  'requests whose answers nobody reads': 'GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(
    200,
  ),
};

/** This waits for the real timeouts of the server. */
describe('400 slow clients', function () {
  this.timeout(20_000);
  const daemon = simulatedDaemon();
  const sockets: Socket[] = [];

  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  it('delay `laser off` by less than 1 s, and the daemon closes all their connections', async () => {
    const { hostname, port } = new URL(daemon.url);
    const ended = Object.values(SLOW).flatMap((text, kind) =>
      Array.from({ length: 100 }, (_, index) => {
        const socket = connect({
          port: Number(port),
          host: hostname,
          localAddress: `127.0.${kind}.${1 + index}`,
        });
        sockets.push(socket.on('error', () => undefined).pause());
        socket.write(text);
        return new Promise(resolve => socket.on('close', resolve));
      }),
    );
    const before = performance.eventLoopUtilization();
    const off = { action: 'off' };
    const { status } = await call(daemon.url, 'POST', '/api/laser', off, { connection: 'close' });
    expect(status).to.equal(200);
    // The server times out the others after 3 s. A busy machine may need long for the work itself, so this counts only
    // the time in which neither server nor client had work.
    expect(performance.eventLoopUtilization(before).idle).to.be.lessThan(1000);
    for (const socket of sockets) socket.resume();
    await Promise.all(ended);
  });
});
