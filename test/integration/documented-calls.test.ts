import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { eventually } from '../support/daemon.js';
import { callsOf, documented, sectionOf } from '../support/documented-calls.js';
import { requirePrograms } from '../support/programs.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const run = promisify(execFile);
// The desk in these calls beats only once, and the next calls may be late on a slow machine. A short pause of this process
// would end the documented excitation.
const SETTINGS = { match: { refereeSilenceMs: 60_000 }, supervision: { hostSilenceMs: 2000 } };

async function expectAnswers(url: string, text: string, env: Readonly<Record<string, string>> = {}) {
  const calls = callsOf(text);
  expect(calls.length).to.be.greaterThan(4);
  for (const { command, answer } of calls) {
    const shell = command.replace('localhost:8080', new URL(url).host);
    const { stdout } = await run('sh', ['-c', `${shell} || true`], { env: { ...process.env, ...env } });
    expect(stdout, command).to.match(documented(answer));
  }
}

for (const file of ['README.md', 'docs/install.md', 'docs/api.md']) {
  describe(`the calls in ${file}`, () => {
    const daemon = simulatedDaemon(SETTINGS, { disk: () => new RecordingDisk() });

    it('get the documented answers from a simulated robot', async function () {
      requirePrograms(this, 'curl');
      await expectAnswers(daemon.url, await readFile(file, 'utf8'));
    });
  });
}

describe('the calls in the section “A match” of docs/api.md', () => {
  // The disk of a busy machine may be too slow for a save.
  const disk = new RecordingDisk();
  const daemon = simulatedDaemon(SETTINGS, { disk: () => disk });

  it('get the documented answers from a robot with tokens, even if all calls are made a second time', async function () {
    requirePrograms(this, 'curl');
    const [DESK, DRIVER] = [newSecret(), newSecret()];
    await writeTokens(disk, daemon.folder, [
      { name: 'desk', role: 'referee', hash: hashOf(DESK) },
      { name: 'driver', role: 'operator', hash: hashOf(DRIVER) },
    ]);
    await eventually(async () => (await daemon.get('/api/session')).body.access === 'closed');
    const text = await readFile('docs/api.md', 'utf8');
    for (let time = 0; time < 2; time += 1)
      await expectAnswers(daemon.url, sectionOf(text, '## A match'), { DESK, DRIVER });
  });
});
