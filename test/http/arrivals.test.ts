import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { expect } from 'chai';
import { Arrivals, sinceMs } from '../../src/http/arrivals.js';
import { ManualClock, settle } from '../support/manual-clock.js';

const CALLERS = 30;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Sends a request on each of many new connections, and ends. */
const CROWD = `
  const { connect } = require('node:net');
  let left = ${CALLERS};
  const sent = () => { left -= 1; if (left === 0) process.exit(); };
  for (let count = 0; count < ${CALLERS}; count += 1) {
    const socket = connect(Number(process.argv[1]), '127.0.0.1');
    socket.write(${JSON.stringify(REQUEST)}, sent);
  }
`;
const DUE_MS = 20;
const PAUSE_MS = 1000;

describe('a request', () => {
  let server: Server;
  let clock: ManualClock;
  let arrivals: Arrivals;
  let seen: number[];

  beforeEach(async () => {
    clock = new ManualClock();
    arrivals = new Arrivals(clock);
    arrivals.timerRan(DUE_MS);
    seen = [];
    server = createServer(({ socket }, response) => {
      seen.push(arrivals.read(socket, false).receivedMs);
      response.end();
    });
    server.on('connection', arrivals.accepting());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await settle(2);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const port = () => (server.address() as AddressInfo).port;
  const pauseWithCallers = (pauseMs = PAUSE_MS) => {
    execFileSync(process.execPath, ['-e', CROWD, String(port())]);
    clock.late(pauseMs);
  };
  const allSeen = async () => {
    while (seen.length < CALLERS) await settle(1);
  };

  for (const when of ['before', 'after']) {
    it(`sent on a new connection in a daemon pause counts as received near the start of the pause (overdue timer ${when} the read)`, async () => {
      pauseWithCallers();
      if (when === 'before') arrivals.timerRan(clock.nowMs() + DUE_MS);
      await allSeen();
      expect(new Set(seen)).to.deep.equal(new Set([DUE_MS]));
    });

    it(`sent on an old connection in a daemon pause counts as received near the start of the pause (overdue timer ${when} the read)`, async () => {
      const client = connect(port(), '127.0.0.1');
      client.write(REQUEST);
      await once(client, 'data');
      // Node gives these bytes to the kernel at once.
      client.write(REQUEST);
      clock.late(PAUSE_MS);
      if (when === 'before') arrivals.timerRan(clock.nowMs() + DUE_MS);
      await once(client, 'data');
      expect(seen).to.deep.equal([0, DUE_MS]);
      client.destroy();
    });
  }

  it('on one of 30 new connections in a row counts as received when the first of the 30 was accepted', async () => {
    arrivals.timerRan(10 * PAUSE_MS);
    pauseWithCallers(0);
    await new Promise<void>(resolve => server.once('connection', () => resolve()));
    clock.late(PAUSE_MS);
    await allSeen();
    expect(new Set(seen)).to.deep.equal(new Set([0]));
  });

  it('read just after the server began to accept connections has an unknown time of receipt', async () => {
    const accepted = arrivals.accepting();
    const socket = new Socket();
    accepted(socket);
    expect(arrivals.read(socket, false).receivedMs).to.equal(Number.NEGATIVE_INFINITY);
    await settle(2);
    expect(arrivals.read(socket, false).receivedMs).to.equal(clock.nowMs());
  });

  it('counts as received at most three rounds of the event loop ago, even after 20 slow rounds of 100 ms', async () => {
    const turnMs = 100;
    for (let count = 0; count < 20; count += 1) {
      clock.late(turnMs);
      arrivals.timerRan(clock.nowMs() + DUE_MS);
      await settle(1);
    }
    expect(arrivals.read(new Socket(), false).receivedMs).to.be.within(
      clock.nowMs() - 3 * turnMs,
      clock.nowMs() - turnMs + DUE_MS,
    );
  });

  it('that waited 3 s behind new connections of strangers counts as possibly older than any act read in these 3 s', async () => {
    const accepted = arrivals.accepting();
    await settle(2);
    let socket = new Socket();
    for (let count = 0; count < 30; count += 1) {
      socket = new Socket();
      accepted(socket);
      clock.late(100);
      arrivals.timerRan(clock.nowMs() + DUE_MS);
      await settle(1);
    }
    const arrival = arrivals.read(socket, false);
    expect(sinceMs(arrival, clock.nowMs())).to.equal(0);
    // A lease does not begin before that: a stranger could make it expire.
    expect(clock.nowMs() - arrival.unreadSinceMs).to.be.at.most(300);
  });

  it('that waited behind an earlier request on its connection counts as received at the same time as that request', async () => {
    const socket = new Socket();
    arrivals.accepting()(socket);
    await settle(2);
    const first = arrivals.read(socket, false);
    clock.late(PAUSE_MS);
    expect([arrivals.read(socket, true), arrivals.read(socket, true)]).to.deep.equal([first, first]);
  });

  it('whose body took 6 s to arrive counts as possibly older than any act read in these 6 s', async () => {
    arrivals.timerRan(100 * PAUSE_MS);
    const arrival = arrivals.read(new Socket(), false);
    clock.late(6000);
    expect(sinceMs(arrival, clock.nowMs())).to.equal(0);
  });

  it('sent after a pause of the daemon does not count as received during the pause', async () => {
    pauseWithCallers();
    arrivals.timerRan(clock.nowMs() + DUE_MS);
    await allSeen();
    const url = `http://127.0.0.1:${port()}`;
    for (let count = 0; count < 3; count += 1) await (await fetch(url)).text();
    expect(seen.slice(CALLERS)).to.deep.equal([PAUSE_MS, PAUSE_MS, PAUSE_MS]);
  });
});
