import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { expect } from 'chai';
import { urlOf } from '../../src/daemon/port.js';
import { RobotClient } from '../../src/desk/client.js';
import type { Ask, Robot } from '../../src/desk/state.js';

const HEALTH: Ask = {
  robot: 'Red',
  kind: 'health',
  path: '/healthz',
  isFresh: true,
  withToken: false,
  sentMs: 0,
};
const STATUS: Ask = { ...HEALTH, kind: 'status', path: '/api/status', isFresh: false, withToken: true };

describe('the HTTP client of the desk', () => {
  const client = new RobotClient(() => performance.now());
  let server: Server;
  let robot: Robot;
  let listener: RequestListener;
  let tokens: (string | undefined)[];
  beforeEach(async () => {
    tokens = [];
    server = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      listener(request, response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    robot = { name: `Red ${bound.port}`, address: urlOf(bound), token: 'secret' };
    listener = (_, response) => response.end('{"status":"ok","id":"0123456789abcdef"}');
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
    server.closeAllConnections();
    server.close();
  });
  after(() => client.close());

  it('sends a token to an address only after that address has answered a request without a token', async () => {
    expect(await client.send(robot, STATUS)).to.deep.include({ isMoved: true });
    expect(tokens).to.deep.equal([]);
    await client.send(robot, HEALTH);
    await client.send(robot, STATUS);
    expect(tokens).to.deep.equal([undefined, 'Bearer secret']);
  });

  it('reports a failure and throws no exception if the path of a request contains a space', async () => {
    const outcome = await client.send(robot, { ...HEALTH, path: '/api/log/lines?after=a b' });
    expect(outcome).to.have.property('failure');
  });

  it('retries a request at once on a new connection if the robot resets the old connection without an answer', async () => {
    await client.send(robot, HEALTH);
    await client.send(robot, STATUS);
    let asked = 0;
    listener = (request, response) => {
      asked += 1;
      if (asked === 1) request.socket.resetAndDestroy();
      else response.end('{}');
    };
    expect(await client.send(robot, STATUS)).to.deep.equal({ status: 200, body: {} });
    expect(asked).to.equal(2);
  });

  it('does not retry a request if the robot resets the connection in the middle of its answer', async () => {
    await client.send(robot, HEALTH);
    await client.send(robot, STATUS);
    let asked = 0;
    listener = (request, response) => {
      asked += 1;
      response.write('{', () => request.socket.resetAndDestroy());
    };
    expect(await client.send(robot, STATUS)).to.have.property('failure');
    expect(asked).to.equal(1);
  });

  it('does not follow a redirect, and returns only the status code if an answer is not JSON', async () => {
    await client.send(robot, HEALTH);
    listener = (_, response) => response.writeHead(302, { Location: '/healthz' }).end();
    expect(await client.send(robot, STATUS)).to.deep.include({ status: 302 });
    listener = (_, response) => response.end('<html>');
    expect(await client.send(robot, STATUS)).to.deep.equal({ status: 200, body: undefined });
  });

  it('rejects an answer of more than 64 KiB that arrives in parts', async () => {
    await client.send(robot, HEALTH);
    listener = (_, response) => {
      const part = Buffer.alloc(40_000, ' ');
      response.write(part);
      response.write(part);
    };
    const answer = await client.send(robot, STATUS);
    expect(answer).to.have.property('failure').that.includes('too long');
  });

  it('reports “Its daemon does not run” if the port is closed, and “not one of a robot” if the answer is not HTTP', async () => {
    const gone = { ...robot, name: 'gone', address: 'http://127.0.0.1:1' };
    expect(await client.send(gone, HEALTH)).to.deep.equal({
      failure: 'Its daemon does not run.',
      isMoved: true,
    });
    listener = (_, response) => response.socket?.end('garbage');
    expect(await client.send(robot, HEALTH))
      .to.have.property('failure')
      .that.includes('not one of a robot');
  });

  it('gets the answer of a robot within 1.5 s even if the DNS lookups of twenty other hosts never end', async () => {
    const { mock: lookup } = mock.method(dns, 'lookup', () => new Promise(() => undefined));
    syncBuiltinESMExports();
    const absent = Array.from({ length: 20 }, (_, index) => ({
      ...robot,
      name: `${index}`,
      address: `http://absent-${index}.local`,
    }));
    const since = performance.now();
    const answers = await Promise.all(absent.map(one => client.send(one, HEALTH)));
    expect(answers.every(answer => 'failure' in answer)).to.equal(true);
    expect(lookup.callCount()).to.equal(20);
    expect(await client.send(robot, HEALTH)).to.deep.include({ status: 200 });
    expect(performance.now() - since).to.be.lessThan(1500);
  });
});
