import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

const RUN = new URL('../../src/daemon/run.js', import.meta.url).href;

describe('a command of the daemon', function () {
  // a process each
  this.timeout(30_000);

  /** Of a command that does this, where the package starts it: without an await at the top of the file. */
  function exitCodeOf(command: string, arg = 'look'): number | null {
    const entry = `{ name: 'x', about: '', defaults: { host: '127.0.0.1', state: '/nowhere' }, commands: { look: ${command} } }`;
    const code = `import(${JSON.stringify(RUN)}).then(({ run }) => { void run(${entry}, [${JSON.stringify(arg)}]); });`;
    return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).status;
  }

  it('ends with its own exit code', () => {
    expect(exitCodeOf('async () => 0')).equal(0);
    expect(exitCodeOf('async () => 1')).equal(1);
    expect(exitCodeOf('async () => 0', '--version')).equal(0);
    expect(exitCodeOf('async () => 0', '--nonsense')).equal(2);
    expect(exitCodeOf("async () => { throw new Error('a defect'); }")).equal(1);
  });

  it('does not end as if in order when what it waits for can never come', () => {
    expect(exitCodeOf('() => new Promise(() => {})')).equal(13);
  });
});
