import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));

/** Runs a script in this folder. There is no folder for temporary files. */
function run(command: string, cwd = '.') {
  const [script = '', ...args] = command.split(' ');
  const env = { ...process.env, TMPDIR: '/nonexistent' };
  return spawnSync(process.execPath, [join(scripts, `${script}.js`), ...args], {
    encoding: 'utf8',
    env,
    cwd,
  });
}

/** The scripts that read their arguments with argumentsOf, below scripts and without `.ts`. */
const TYPED = readdirSync('scripts', { recursive: true, encoding: 'utf8' })
  .filter(
    file => /^\w+\/.*\.ts$/.test(file) && /\bargumentsOf\(/.test(readFileSync(join('scripts', file), 'utf8')),
  )
  .map(file => file.replace(/\.ts$/, ''));

/** scripts/dev prints the help of the simulator. */
const SHELL = [
  '.ci/run',
  'docs/clients/ci.sh',
  ...programsIn('scripts'),
  ...programsIn('scripts/firmware'),
].filter(file => file !== 'scripts/dev');

function programsIn(folder: string): string[] {
  const files = readdirSync(folder).map(name => join(folder, name));
  return files.filter(file => statSync(file).isFile() && readFileSync(file, 'utf8').startsWith('#!'));
}

describe('a script', () => {
  for (const script of TYPED) {
    it(`prints its help for --help, and does nothing else (${script})`, () => {
      const empty = mkdtempSync(join(tmpdir(), 'trunnion-help-'));
      const { status, stdout, stderr } = run(`${script} --help`, empty);
      expect({ status, stderr, files: readdirSync(empty) }).to.deep.equal({
        status: 0,
        stderr: '',
        files: [],
      });
      expect(stdout).to.match(/^Usage: npm run [\s\S]+\n\n[A-Z]/);
      rmSync(empty, { recursive: true });
    });
  }

  for (const script of SHELL) {
    it(`prints its help for --help, and does nothing else (${script})`, () => {
      // A shell that finds no program can do nothing else.
      const env = { PATH: '/nonexistent' };
      const { status, stdout, stderr } = spawnSync('/bin/bash', [script, '--help'], {
        encoding: 'utf8',
        env,
      });
      expect([status, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(/^[\w./-]+ .+\n$/);
    });
  }

  it('refuses an unknown option in one line, and names --help', () => {
    const { status, stdout, stderr } = run('walk/main --step 5');
    expect([status, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.equal(
      'npm run walk has no option --step: did you mean --steps?\nnpm run walk -- --help shows what it takes.\n',
    );
  });

  it('says in one line that there is no folder for temporary files', () => {
    const { status, stderr } = run('soak/main');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^no room for temporary files, set TMPDIR to .*ENOENT.*\n$/);
  });

  it('ends with one line after a failure, even with timers left, and shows where a defect is', () => {
    const { href } = new URL('../../scripts/script.js', import.meta.url);
    const failing = (error: string) => {
      const work = `async () => { setInterval(() => undefined, 1000); throw new ${error}('no disk\\nand more'); }`;
      const code = `import { script } from '${href}'; await script(${work});`;
      return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    };
    const { status, stderr } = failing('Error');
    expect([status, stderr]).to.deep.equal([1, 'no disk\n']);
    const defect = failing('TypeError');
    expect(defect.status).to.equal(1);
    expect(defect.stderr).to.match(/\n +at /);
  });

  for (const command of ['walk/main --steps 0', 'soak/main --minutes x']) {
    it(`refuses a wrong number in one line (${command})`, () => {
      const { status, stdout, stderr } = run(command);
      expect([status, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.match(/^--\w+ takes a .*number .*\n$/);
    });
  }
});
