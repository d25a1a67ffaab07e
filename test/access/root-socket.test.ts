import { once } from 'node:events';
import { mkdir, rename, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { askAsRoot, rootSocket } from '../../src/access/root-socket.js';
import { hashOf } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { saidOf } from '../../src/command/command.js';
import { boardStatus } from '../../src/command/place.js';
import { type RootAct, rootCommand } from '../../src/command/root-commands.js';
import { systemClock } from '../../src/core/clock.js';
import { openRootSocket } from '../../src/daemon/port.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually, inTemporaryFolder, temporaryFolder } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const log = pino({ level: 'silent' });
const say = (act: RootAct, socket: string) => rootCommand(act, { socket, isSimulated: false }).catch(saidOf);

describe('the local socket for root', () => {
  describe('on a robot with tokens', () => {
    const daemon = simulatedDaemon();
    let secret = '';
    const set = async (match: object) => {
      const headers = { authorization: `Bearer ${secret}` };
      const { status } = await call(daemon.url, 'POST', '/api/match', match, headers);
      return { exitCode: status === 200 ? 0 : 1, text: '' };
    };
    before(async () => {
      secret = await daemon.requireToken('desk', 'referee');
    });

    it('lets root stop, resume and unlock the robot, and end and clear the match, and the event log names root as the caller', async () => {
      const refused = await say('match end', daemon.rootSocket);
      const text = 'This needs a match. No match runs, so none was ended.';
      expect(refused).to.include({ exitCode: 3, text });
      const pre = { id: 'M', revision: 1, phase: 'pre' };
      for (const [act, code, says] of [
        ['stop', 0, 'Stopped'],
        ['resume', 0, 'Resumed'],
        ['unlock', 0, 'Unlocked'],
        [pre, 0, ''],
        ['match end', 0, 'has ended'],
        ['resume', 3, 'The phase ended of the match forbids this.'],
        ['match clear', 0, 'stays stopped'],
      ] as const) {
        const said = typeof act === 'string' ? await say(act, daemon.rootSocket) : await set(act);
        expect([said.exitCode, said.text.includes(says)], said.text).to.deep.equal([code, true]);
      }
      const { body: match } = await askAsRoot(daemon.rootSocket, 'GET', '/api/match');
      expect([match.phase, match.id, match.revision]).to.deep.equal(['none', 'M', 1]);
      expect((await askAsRoot(daemon.rootSocket, 'GET', '/api/status')).body.stopped).to.equal(true);
      const { body } = await askAsRoot(daemon.rootSocket, 'GET', '/api/log');
      const events = Array.isArray(body.events) ? body.events : [];
      expect(
        events.flatMap(({ what, who, outcome }) => (who === 'root' ? [[what, outcome]] : [])),
      ).to.deep.equal([
        ['phase', 'wrong-phase'],
        ['stop', 'done'],
        ['resume', 'done'],
        ['unlock', 'done'],
        ['phase', 'done'],
        ['resume', 'wrong-phase'],
        ['phase', 'done'],
      ]);
    });

    it('lets root keep the referee lease when the list of tokens changes', async () => {
      const headers = { 'content-type': 'application/json' };
      const path = '/api/match/lease';
      const asked = request({ socketPath: daemon.rootSocket, method: 'POST', path, headers });
      const beat = { holder: 'board', ttlMs: 60_000 };
      const [answer] = await once(asked.end(JSON.stringify(beat)), 'response');
      expect(answer.resume().statusCode).to.equal(200);
      const tokens = ['desk', 'another'].map(
        name => ({ name, role: 'referee', hash: hashOf(secret + name) }) as const,
      );
      await writeTokens(realDisk, daemon.folder, tokens);
      const old = { authorization: `Bearer ${secret}` };
      await eventually(
        async () => (await call(daemon.url, 'GET', '/api/match', undefined, old)).status === 401,
      );
      const { body } = await askAsRoot(daemon.rootSocket, 'GET', '/api/match');
      expect(body.lease).to.deep.equal({ holder: 'board', by: 'root' });
    });

    it('lets root read the match, the process id of the daemon, and the names and roles of all tokens', async () => {
      expect((await askAsRoot(daemon.rootSocket, 'GET', '/api/match')).status).to.equal(200);
      const { body } = await boardStatus({ socket: daemon.rootSocket, isSimulated: false }, 'status');
      expect(body.laser).to.be.an('object');
      expect(body.board).to.deep.include({
        pid: process.pid,
        tokens: [
          { name: 'desk', role: 'referee' },
          { name: 'another', role: 'referee' },
        ],
      });
    });

    it('is the only way to call /api/board, /api/match/end and /api/match/clear, which answer 404 over the network', async () => {
      const asks = [daemon.get('/api/board'), daemon.post('/api/match/end'), daemon.post('/api/match/clear')];
      for (const asked of asks) expect((await asked).status).to.equal(404);
    });
  });

  const sockets: Awaited<ReturnType<typeof openRootSocket>>[] = [];
  const endSockets = () => Promise.all(sockets.splice(0).map(socket => socket.close()));
  afterEach(endSockets);
  const folder = temporaryFolder();
  const path = () => rootSocket(folder());
  const open = async (status = 200, body: unknown = { stopped: true }) => {
    const socket = await openRootSocket(path(), { log, clock: systemClock });
    sockets.push(socket);
    socket.serve((_, response) => response.writeHead(status).end(JSON.stringify(body)));
    return socket;
  };

  /** Leaves a socket on which nobody listens, as a killed process does. */
  const leaveSocket = async (path: string) => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(path, resolve));
    await rename(path, `${path}.left`);
    await new Promise(resolve => server.close(resolve));
    await rename(`${path}.left`, path);
    expect((await stat(path)).isSocket()).to.equal(true);
  };

  it('reports an unconfirmed stop to `trunnion stop`, which then fails and advises to cut the power', async () => {
    await open(503, { code: 'not-confirmed' });
    const { exitCode, text } = await say('stop', path());
    expect(exitCode).to.equal(1);
    expect(text).to.include('not-confirmed').and.include('cut the power');
  });

  it('replaces the socket that a killed daemon left behind, and only the owner of the socket file has access', async () => {
    await leaveSocket(path());
    await open();
    expect((await stat(path())).mode & 0o777).to.equal(0o600);
    expect((await say('stop', path())).exitCode).to.equal(0);
  });

  it('answers a stop and closes within 1 s even while 100 clients send unfinished requests byte by byte', async () => {
    await open();
    const clients = Array.from({ length: 100 }, () => connect(path()).on('error', () => undefined));
    const trickle = setInterval(() => {
      for (const client of clients) client.write('P');
    }, 20);
    expect((await say('stop', path())).exitCode).to.equal(0);
    const startMs = performance.now();
    await endSockets();
    expect(performance.now() - startMs).to.be.lessThan(1000);
    clearInterval(trickle);
  });

  it('still reaches the first daemon after a second daemon has tried to open the same path and has exited', async () => {
    await open();
    const second = await open(503);
    await second.close();
    expect((await say('stop', path())).exitCode).to.equal(0);
  });

  it('is missing if a folder occupies its path: opening it does not fail, and `trunnion stop` ends with exit code 4', async () => {
    await mkdir(join(path(), 'x'), { recursive: true });
    await open();
    expect((await say('stop', path())).exitCode).to.equal(4);
  });
});

describe('the command', () => {
  for (const [act, says, hangs] of [
    ['stop', /^Nothing was stopped\. .* cut its power\. No daemon has the local socket/, false],
    ['unlock', /^Nothing was unlocked\. No daemon has .* For a simulated robot add --simulated\.$/, false],
    ['match clear', /^No match was cleared\. No daemon has the local socket/, false],
    ['stop', /does not answer\. Cut the power/, true],
    ['unlock', /does not answer\. Restart it/, true],
  ] as const)
    it(`\`trunnion ${act}\` fails with exit code 4 and says why if ${hangs ? 'the daemon hangs' : 'no daemon runs'}`, () =>
      inTemporaryFolder(async folder => {
        const mute = createServer(socket => socket.resume());
        const path = rootSocket(folder);
        if (hangs) await new Promise<void>(resolve => mute.listen(path, resolve));
        const { exitCode, text } = await say(act, path);
        expect([exitCode, says.test(text)], text).to.deep.equal([4, true]);
        mute.close();
      }));
});
