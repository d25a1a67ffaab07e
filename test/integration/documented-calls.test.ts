import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url);

/** Each `curl` line of the document and the line below it, which shows the answer; … stands for anything. */
async function callsOf(file: string): Promise<readonly { command: string; answer: string }[]> {
  const text = await readFile(new URL(file, root), 'utf8');
  return [...text.matchAll(/^ {4}(curl .*)\n {4}(.*)$/gm)].map(([, command = '', answer = '']) => ({
    command,
    answer,
  }));
}

function matches(answer: string): RegExp {
  const parts = answer.split('…').map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}`, 's');
}

for (const file of ['README.md', 'docs/operating.md']) {
  describe(`the calls in ${file}`, () => {
    const daemon = simulatedDaemon();

    it('answer what stands there', async function () {
      requirePrograms(this, 'curl');
      const calls = await callsOf(file);
      expect(calls.length).to.be.greaterThan(5);
      for (const { command, answer } of calls) {
        const { host } = new URL(daemon.url);
        const shell = command.replace('localhost:8080', host);
        const { stdout } = await run('sh', ['-c', `${shell} || true`]);
        expect(stdout, command).to.match(matches(answer));
        if (!answer.includes('…') && answer.startsWith('{')) expect(stdout).to.equal(answer);
      }
    });
  });
}
