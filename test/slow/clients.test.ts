import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { writeTokens } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually, portOf } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const CLIENTS: readonly [string, string][] = [
  ['python3', 'docs/clients/trunnion.py'],
  ['node', 'docs/clients/trunnion.mjs'],
];

describe('the example client', function () {
  this.timeout(60_000);
  const daemon = simulatedDaemon();
  let between: Server;
  let asked: string[] = [];
  let trouble: Record<string, ((response: ServerResponse) => void)[]> = {};

  const refuse = (response: ServerResponse) =>
    response
      .writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' })
      .end('{"code":"not-confirmed"}');
  const cut = (response: ServerResponse) => response.destroy();

  /** A proxy between client and daemon that disturbs the first calls of some paths. */
  const pass = (incoming: IncomingMessage, response: ServerResponse) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const act = trouble[incoming.url ?? '']?.shift();
    if (act !== undefined) return act(response);
    const { method, headers } = incoming;
    const onwards = request(new URL(incoming.url ?? '/', daemon.url), { method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    response.on('close', () => onwards.destroy());
    incoming.pipe(onwards);
  };

  before(done => {
    between = createServer(pass).listen(0, '127.0.0.1', done);
  });
  after(() => {
    between.closeAllConnections();
    between.close();
  });

  const client = async (program: string, args: readonly string[], env: Record<string, string> = {}) => {
    asked = [];
    const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, ...env } });
    const [[code], said, failed] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, output: said + failed };
  };
  const url = () => `http://127.0.0.1:${portOf(between)}`;

  for (const [program, path] of CLIENTS) {
    it(`in ${program} repeats a refused mode switch only after the time in \`Retry-After\`, then reads the events, and sends no stop`, async function () {
      requirePrograms(this, program);
      trouble = { '/api/gimbal/mode/switch': [refuse] };
      const toAuto = () => daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
      await eventually(async () => (await toAuto()).status === 200);
      const startMs = performance.now();
      const { code, output } = await client(program, [path, url()]);
      expect(code, output).to.equal(0);
      expect(performance.now() - startMs).to.be.greaterThan(1000);
      expect(output).to.match(/^200 .*auto.*\n.*status .*chassis/s);
      const SWITCH = 'POST /api/gimbal/mode/switch';
      expect(asked).to.deep.equal(['GET /api/status', SWITCH, SWITCH, 'GET /api/events']);
      const { stopped, gimbal } = (await daemon.get('/api/status')).body;
      expect([stopped, gimbal.mode]).to.deep.equal([false, 'auto']);
    });

    it(`in ${program}, run with the argument \`stop\`, retries the stop until the robot confirms it`, async function () {
      requirePrograms(this, program);
      trouble = { '/api/stop': [cut, refuse, refuse] };
      const { code, output } = await client(program, [path, url(), 'stop']);
      expect([code, asked], output).to.deep.equal([0, Array(4).fill('POST /api/stop')]);
      expect(output).to.match(/200.*stopped.*[Tt]rue/s);
      expect((await daemon.get('/api/status')).body.stopped).to.equal(true);
      await daemon.post('/api/resume');
    });

    it(`in ${program}, run with the argument \`stop\`, accepts a page address with a token, and exits with code 1 if the robot refuses the stop`, async function () {
      requirePrograms(this, program);
      trouble = {};
      const stopped = await client(program, [path, `${url()}/#token=x`, 'stop']);
      expect([stopped.code, stopped.output.slice(0, 4)], stopped.output).to.deep.equal([0, '200 ']);
      await daemon.post('/api/resume');
      trouble = { '/api/stop': [response => response.writeHead(401).end('{"code":"token-required"}')] };
      const refused = await client(program, [path, url(), 'stop']);
      expect([refused.code, /NOT STOPPED/.test(refused.output)], refused.output).to.deep.equal([1, true]);
    });

    it(`in ${program} sends the token in \`TRUNNION_TOKEN\`, and fails with a message if the token is missing, no robot answers or the arguments are wrong`, async function () {
      requirePrograms(this, program);
      trouble = {};
      const secret = await daemon.requireToken('x', 'operator');
      // The first token stops a robot that was open to everyone.
      const headers = { authorization: `Bearer ${secret}` };
      await eventually(
        async () => (await call(daemon.url, 'POST', '/api/resume', undefined, headers)).status === 200,
      );
      const known = await client(program, [path, url()], { TRUNNION_TOKEN: secret });
      expect([known.code, known.output.slice(0, 4)], known.output).to.deep.equal([0, '200 ']);
      const unknown = await client(program, [path, url()]);
      expect([unknown.code, unknown.output.includes('TRUNNION_TOKEN')]).to.deep.equal([1, true]);
      const dead = await client(program, [path, 'http://127.0.0.1:1']);
      expect([dead.code, dead.output.slice(0, 17)]).to.deep.equal([1, 'No robot answers.']);
      for (const args of [[], ['--help'], [url(), 'stp']]) {
        const mistyped = await client(program, [path, ...args]);
        expect([mistyped.code, mistyped.output.slice(0, 7)]).to.deep.equal([1, 'usage: ']);
      }
      await writeTokens(realDisk, daemon.folder, []);
      await eventually(async () => (await daemon.get('/api/session')).body.access === 'open');
    });
  }
});
