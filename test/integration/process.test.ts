import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { children } from '../support/child.js';
import { call, temporaryFolder } from '../support/daemon.js';
import { endsDark } from '../support/ends-dark.js';
import { requirePrograms } from '../support/programs.js';

const ANOTHER = 'npm start -- --port 0 --state "$(mktemp -d)"';

describe('the program', () => {
  const start = children();
  const run = (...args: string[]) =>
    start('sim/main.js', ['--port', '0', '--state', folder(), ...args], { npm_lifecycle_event: 'start' });

  before(function () {
    requirePrograms(this, 'flock');
  });
  const folder = temporaryFolder();

  it('started as “trunnion doctor --json” reports the line of a mistake in the configuration', async () => {
    const config = join(folder(), 'config.yaml');
    await writeFile(config, 'http:\n  port: eighty\n');
    const child = start('src/main.js', ['doctor', '--json', '--config', config, '--state', folder()]);
    await child.line(/^\]$/);
    expect(await child.exited).to.equal(1);
    const findings: { check: string; state: string; detail: string }[] = JSON.parse(child.lines.join('\n'));
    const found = findings.find(({ check }) => check === 'configuration');
    expect(found?.state).to.equal('wrong');
    expect(found?.detail).to.contain(`${config}:2: http.port: expected`);
    expect(findings.find(({ check }) => check === 'clock')?.state).to.equal('fine');
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`turns the laser off and exits with code 0 on ${signal}, even while a client keeps an idle connection`, async () => {
      // This daemon prints each level of the laser's pin.
      const child = start('test/support/faulty-daemon.js', [folder()]);
      const url = await child.url();
      await call(url, 'POST', '/api/laser', { action: 'on' });
      child.process.kill(signal);
      expect(await child.exited).to.equal(0);
      await endsDark(child);
      expect(child.lines.join('\n')).to.contain('"msg":"stopping"');
    });
  }

  it('starts the daemon without a warning, and prints the URL of the daemon last', async () => {
    const child = run();
    const url = await child.url();
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    const entries = child.lines.map(line => JSON.parse(line));
    // On a busy machine a controller may answer late, or hear no heartbeat for a while.
    expect(entries.filter(({ level, unit }) => level > 30 && unit === undefined)).to.deep.equal([]);
    const listening = entries.findIndex(entry => entry.url === url);
    expect(entries.slice(listening + 1).filter(({ unit }) => unit === undefined)).to.deep.equal([]);
  });

  it('never loads Node’s “fetch”, because loading it blocks a small board for a second', async () => {
    // The hook asks once itself, which shows that it is loaded.
    const hook = `for (const name of ['fetch', 'Headers', 'Request', 'Response']) {
      Object.defineProperty(globalThis, name, { get: () => console.log('asked for ' + name) });
    }
    void fetch;`;
    const preload = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const child = start('sim/main.js', ['--port', '0', '--state', folder()], { NODE_OPTIONS: preload });
    const url = await child.url();
    for (const path of ['/', '/healthz', '/api/status', '/api/laser', '/api/openapi.json', '/api/nowhere']) {
      await call(url, 'GET', path);
    }
    await call(url, 'POST', '/api/laser', { action: 'on' });
    await call(url, 'POST', '/api/stop');
    await child.kill('SIGTERM');
    expect(child.lines.filter(line => line.startsWith('asked for'))).to.deep.equal(['asked for fetch']);
  });

  it('exits with code 1 and a message if another daemon uses the same state folder or port', async () => {
    const { port } = new URL(await run().url());
    const other = join(folder(), 'other');
    for (const [args, code, says] of [
      [[], 'state-in-use', `another daemon keeps its gains in ${folder()}: end that one`],
      [['--port', port, '--state', other], 'cannot-listen', `another program has port ${port}: end that one`],
    ] as const) {
      const second = run(...args);
      expect(await second.exited).to.equal(1);
      const msg = `${says}, or start a second one with ${ANOTHER}`;
      expect(JSON.parse(second.lines[0] ?? '')).to.include({ code, msg });
    }
  });

  it('of the referee desk exits with code 1 if another program already uses the port of the desk', async () => {
    const { port } = new URL(await run().url());
    const file = join(folder(), 'field.yaml');
    await writeFile(file, 'robots: []\n', { mode: 0o600 });
    const desk = start('src/desk/main.js', [file, '--port', port, '--state', join(folder(), 'desk')]);
    expect([await desk.exited, desk.lines]).to.deep.equal([
      1,
      [`The port cannot be opened: another program has port ${port}. Choose another one with --port.`],
    ]);
  });

  it('of the referee desk suggests the most similar command if a user mistypes a command', async () => {
    const desk = start('src/desk/main.js', ['verfiy', 'x']);
    expect([await desk.exited, desk.lines[0]]).to.deep.equal([
      2,
      'trunnion-desk has no command verfiy x: did you mean verify?',
    ]);
  });

  it('of the referee desk, run as “trunnion-desk verify”, exits with code 1 and names the match record if that file is missing', async () => {
    const record = join(folder(), 'none');
    const desk = start('src/desk/main.js', ['verify', record]);
    expect([await desk.exited, desk.lines]).to.deep.equal([
      1,
      [`${record} cannot be read: it does not exist`],
    ]);
  });

  it('exits with code 2 and names the configuration file if that file is missing', async () => {
    const child = run('--config', join(folder(), 'none.yaml'));
    expect(await child.exited).to.equal(2);
    expect(child.lines.join('\n')).to.match(/none\.yaml: it does not exist$/);
  });
});
