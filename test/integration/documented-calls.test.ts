import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { callsOf, documented } from '../support/documented-calls.js';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url);

for (const file of ['README.md', 'docs/install.md', 'docs/api.md']) {
  describe(`the calls in ${file}`, () => {
    // The desk of these calls beats once, and a slow machine takes its time for the next ones.
    const daemon = simulatedDaemon({ match: { refereeSilenceMs: 60_000 } });

    it('answer what stands there', async function () {
      requirePrograms(this, 'curl');
      const calls = callsOf(await readFile(new URL(file, root), 'utf8'));
      expect(calls.length).to.be.greaterThan(4);
      for (const { command, answer } of calls) {
        const { host } = new URL(daemon.url);
        const shell = command.replace('localhost:8080', host);
        const { stdout } = await run('sh', ['-c', `${shell} || true`]);
        expect(stdout, command).to.match(documented(answer));
      }
    });
  });
}
