import { mkdir, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { askAsRoot, rootSocket } from '../../src/access/root-socket.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { saidOf } from '../../src/command/command.js';
import { boardStatus } from '../../src/command/place.js';
import { type RootAct, rootCommand } from '../../src/command/root-commands.js';
import { systemClock } from '../../src/core/clock.js';
import { openRootSocket } from '../../src/daemon/port.js';
import { realDisk } from '../../src/storage/disk.js';
import { eventually, inTemporaryFolder } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const log = pino({ level: 'silent' });
const say = (act: RootAct, socket: string) => rootCommand(act, { socket, isSimulated: false }).catch(saidOf);

describe('the socket for root', () => {
  describe('of a robot with tokens', () => {
    const daemon = simulatedDaemon();
    before(async () => {
      const token = { name: 'desk', role: 'referee', hash: hashOf(newSecret()) } as const;
      await writeTokens(realDisk, daemon.folder, [token]);
      await eventually(async () => (await daemon.get('/api/status')).status === 401);
    });

    it('stops, unlocks and ends the match without a token, and the event log names root', async () => {
      for (const act of ['stop', 'unlock', 'match end'] as const)
        expect((await say(act, daemon.rootSocket)).exitCode, act).to.equal(0);
      const { body } = await askAsRoot(daemon.rootSocket, 'GET', '/api/log');
      const events = Array.isArray(body.events) ? body.events : [];
      expect(
        events.flatMap(({ what, who, outcome }) => (who === 'root' ? [[what, outcome]] : [])),
      ).to.deep.equal([
        ['stop', 'done'],
        ['unlock', 'done'],
        ['phase', 'done'],
      ]);
    });

    it('answers every call, and the status shows an act of the board', async () => {
      expect((await askAsRoot(daemon.rootSocket, 'GET', '/api/match')).status).to.equal(200);
      const { board, laser } = await boardStatus({ socket: daemon.rootSocket, isSimulated: false }, 'status');
      expect(laser).to.be.an('object');
      expect(board).to.deep.include({ pid: process.pid, tokens: [{ name: 'desk', role: 'referee' }] });
    });

    it('has calls that do not exist on the network', async () => {
      for (const asked of [daemon.get('/api/board'), daemon.post('/api/match/end')])
        expect((await asked).status).to.equal(404);
    });
  });

  const opened = async (folder: string, status = 200, body: unknown = {}) => {
    const path = rootSocket(folder);
    const socket = await openRootSocket(path, { log, clock: systemClock });
    socket.serve((_, response) => response.writeHead(status).end(JSON.stringify(body)));
    return { path, socket };
  };

  it('says that a stop is not confirmed', () =>
    inTemporaryFolder(async folder => {
      const { path, socket } = await opened(folder, 503, { code: 'not-confirmed' });
      const { exitCode, text } = await say('stop', path);
      expect(exitCode).to.equal(1);
      expect(text).to.include('not-confirmed').and.include('cut the power');
      await socket.close();
    }));

  it('belongs to its owner alone, and replaces the socket of a daemon that was killed', () =>
    inTemporaryFolder(async folder => {
      await writeFile(rootSocket(folder), '');
      const { path, socket } = await opened(folder);
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      expect((await say('stop', path)).exitCode).to.equal(0);
      await socket.close();
    }));

  it('answers beside a hundred clients that send a byte now and then, and closes at once', () =>
    inTemporaryFolder(async folder => {
      const { path, socket } = await opened(folder);
      const clients = Array.from({ length: 100 }, () => connect(path).on('error', () => undefined));
      const trickle = setInterval(() => {
        for (const client of clients) client.write('P');
      }, 20);
      expect((await say('stop', path)).exitCode).to.equal(0);
      const startMs = performance.now();
      await socket.close();
      expect(performance.now() - startMs).to.be.lessThan(1000);
      clearInterval(trickle);
    }));

  it('does not keep a daemon from serving if its folder cannot be used', () =>
    inTemporaryFolder(async folder => {
      await mkdir(join(rootSocket(folder), 'x'), { recursive: true });
      const { socket } = await opened(folder);
      await socket.close();
    }));
});

describe('a command of root', () => {
  for (const [act, says, hangs] of [
    ['stop', /^Nothing was stopped: .* cut its power\. For a simulated robot add --simulated\.$/, false],
    ['unlock', /^Nothing was unlocked: no robot's daemon runs here/, false],
    ['match end', /^No match was ended: no robot's daemon runs here/, false],
    ['stop', /does not answer\. Cut the power/, true],
    ['unlock', /does not answer\. Restart it/, true],
  ] as const)
    it(`ends ${act} with a sentence if ${hangs ? 'the daemon hangs' : 'no daemon runs'}`, () =>
      inTemporaryFolder(async folder => {
        const mute = createServer(socket => socket.resume());
        const path = rootSocket(folder);
        if (hangs) await new Promise<void>(resolve => mute.listen(path, resolve));
        const { exitCode, text } = await say(act, path);
        expect([exitCode, says.test(text)], text).to.deep.equal([1, true]);
        mute.close();
      }));
});
