import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { saidOf } from '../../src/command/command.js';
import { reachedBy } from '../../src/command/place.js';
import { type RootAct, rootCommand } from '../../src/command/root-commands.js';
import { watchStatus } from '../../src/command/status-command.js';
import { eventually, portOf } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const say = async (act: RootAct, url: string, token?: string) =>
  rootCommand(act, reachedBy({ url, token })).catch(saidOf);

describe('over the network (with “--url”),', () => {
  const daemon = simulatedDaemon();
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  /** A server that gives this answer to every request, or none. */
  const serve = (status?: number | 'breaks' | 'no HTTP', body?: unknown) =>
    new Promise<string>(resolve => {
      const opened = createServer(({ socket }, response) => {
        if (status === 'breaks') socket.destroy();
        else if (status === 'no HTTP') socket.end('hello\r\n\r\n');
        else if (status !== undefined) response.writeHead(status).end(JSON.stringify(body));
      });
      server = opened.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${portOf(opened)}`));
    });

  it('“trunnion stop” stops the robot even if the token has a character that HTTP headers forbid', async () => {
    for (const token of ['\u2026', 'secret\u201c', 'a b\n']) {
      expect(await say('stop', daemon.url, token)).to.include({ exitCode: 0 });
      expect((await daemon.get('/api/status')).body.stopped).to.equal(true);
      await daemon.post('/api/resume');
    }
  });

  it('“trunnion resume” accepts the link that “trunnion token add” prints, and uses the token in that link', async () => {
    const secret = await daemon.requireToken('tab', 'operator');
    const ask = () => say('resume', `${daemon.url}/#token=${secret}`);
    // The first token stops the robot, and that stop refuses a resume that comes before it.
    await eventually(async () => (await ask()).exitCode === 0);
    expect((await say('resume', daemon.url)).exitCode).to.equal(3);
  });

  it('“trunnion stop” accepts the address of any page of the robot, but says “Nothing was stopped” if the robot has no such page', async () => {
    for (const url of [`${daemon.url}/`, `${daemon.url}/#match`, `${daemon.url}/?x=1`]) {
      expect(await say('stop', url)).to.include({ exitCode: 0 });
      await daemon.post('/api/resume');
    }
    const { exitCode, text } = await say('stop', `${daemon.url}/foo`);
    expect([exitCode, text.startsWith('Nothing was stopped. ')]).to.deep.equal([3, true]);
    expect(() => reachedBy({ url: daemon.url.replace('//', '//user:secret@') })).to.throw();
  });

  it('“trunnion stop” fails with exit code 4 if the answer to the stop request does not confirm that the robot is stopped', async () => {
    for (const body of [{ hello: 1 }, { stopped: false }]) {
      const { exitCode, text } = await say('stop', await serve(200, body));
      expect([exitCode, text.startsWith('Nothing was stopped.')]).to.deep.equal([4, true]);
    }
    const { exitCode, text } = await say('stop', await serve(504, { message: 'timeout' }));
    // A proxy may have passed the stop on.
    expect([exitCode, text.includes('Nothing'), text.endsWith('Cut the power.')]).to.deep.equal([
      4,
      false,
      true,
    ]);
  });

  it('“trunnion status --watch” ends with exit code 1 if a program other than the daemon answers with JSON', async () => {
    const place = reachedBy({ url: await serve(200, { hello: 'world' }) });
    expect(await watchStatus(place, true)).to.include({
      exitCode: 1,
      text: 'What answers there is no daemon of this version.',
    });
  });

  it('if the daemon does not answer, “trunnion stop” says “Cut the power” and not “Nothing was stopped”', async () => {
    const { exitCode, text } = await say('stop', await serve());
    expect([exitCode, text.includes('Nothing was stopped')]).to.deep.equal([4, false]);
    expect(text).to.match(/does not answer\. Cut the power\.$/);
  });

  for (const how of ['breaks', 'no HTTP'] as const)
    it(`if the connection fails after the request (${how}), “trunnion stop” says “Cut the power” and not “Nothing was stopped”`, async () => {
      const { exitCode, text } = await say('stop', await serve(how));
      expect([exitCode, text.includes('Nothing was stopped')]).to.deep.equal([4, false]);
      expect(text).to.match(/failed \(\w+\)\. Cut the power\.$/);
    });

  it('“trunnion stop” rejects “--simulated”, and its JSON does not say whether the robot is simulated', async () => {
    const { json } = await say('stop', daemon.url);
    expect(Object.keys(JSON.parse(JSON.stringify(json)))).to.deep.equal(['ok', 'detail']);
    expect(() => reachedBy({ url: daemon.url, simulated: true })).to.throw();
  });
});

describe('on the board (without “--url”),', () => {
  it('“trunnion stop” rejects “--state” unless “--simulated” is given too, because the user may mean a simulator', () => {
    expect(() => reachedBy({ state: '/nonexistent' })).to.throw();
    expect(reachedBy({ state: '/nonexistent', simulated: true }).isSimulated).to.equal(true);
  });
});
