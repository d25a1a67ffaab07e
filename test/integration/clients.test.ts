import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const CLIENTS: readonly [string, string][] = [
  ['python3', 'docs/clients/trunnion.py'],
  ['node', 'docs/clients/trunnion.mjs'],
];

describe('an example of a client', function () {
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

  /** Stands between client and daemon, and makes trouble with the first calls of some paths. */
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

  for (const [program, file] of CLIENTS) {
    it(`in ${program} obeys Retry-After, watches, and stops until it is confirmed`, async function () {
      requirePrograms(this, program);
      asked = [];
      trouble = { '/api/gimbal/mode/switch': [refuse], '/api/stop': [cut, refuse, refuse] };
      await daemon.post('/api/resume');
      const { port } = between.address() as AddressInfo;
      const startMs = performance.now();
      const client = spawn(program, [join(root, file), `http://127.0.0.1:${port}`], { stdio: 'pipe' });
      let output = '';
      client.stdout.setEncoding('utf8').on('data', text => {
        output += text;
      });
      client.stderr.pipe(process.stderr);
      const [code] = await once(client, 'exit');
      expect(code, output).to.equal(0);
      expect(performance.now() - startMs).to.be.greaterThan(1000);
      expect(output).to.match(/^200 .*auto.*\n.*status .*chassis.*\n.*stopped.*[Tt]rue/s);
      expect(asked).to.deep.equal([
        'POST /api/gimbal/mode/switch',
        'POST /api/gimbal/mode/switch',
        'GET /api/events',
        ...Array(4).fill('POST /api/stop'),
      ]);
      expect((await daemon.get('/api/status')).body.stopped).to.equal(true);
    });

    it(`in ${program} has 40 lines at most`, () => {
      expect(readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length).to.be.at.most(40);
    });
  }
});
