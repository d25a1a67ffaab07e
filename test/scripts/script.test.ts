import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { inTemporaryFolder } from '../support/daemon.js';

const compiled = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a script in the folder `cwd`. It has no folder for temporary files. */
function run(command: string, cwd = '.') {
  const [script = '', ...args] = command.split(' ');
  const env = { ...process.env, TMPDIR: '/nonexistent' };
  return spawnSync(process.execPath, [join(compiled, `${script}.js`), ...args], {
    encoding: 'utf8',
    env,
    cwd,
  });
}

/** The programs that read their arguments with argumentsOf, without `.ts`. */
const TYPED = ['scripts', 'test']
  .flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(file => join(folder, file)),
  )
  .filter(file => /\w+\/\w+\/[\w-]+(?<!\.test)\.ts$/.test(file))
  .filter(file => /\bargumentsOf\(/.test(readFileSync(file, 'utf8')))
  .map(file => file.replace(/\.ts$/, ''));

const isProgram = (file: string) => statSync(file).isFile() && readFileSync(file, 'utf8').startsWith('#!');
/** scripts/dev prints the help of the simulator. */
const SHELL = ['.ci', 'docs/clients', 'scripts', 'scripts/firmware']
  .flatMap(folder => readdirSync(folder).map(name => join(folder, name)))
  .filter(file => !/\.\w+$|scripts\/dev$/.test(file) || file.endsWith('.sh'))
  .filter(isProgram);

describe('the program', () => {
  for (const script of TYPED)
    it(`${script} prints its help for --help, and does nothing else`, () =>
      inTemporaryFolder(async empty => {
        const { status, stdout, stderr } = run(`${script} --help`, empty);
        expect([status, stderr, readdirSync(empty)]).to.deep.equal([0, '', []]);
        expect(stdout).to.match(/^Usage: npm run [\s\S]+\n\n[A-Z]/);
      }));

  for (const script of SHELL)
    it(`${script} prints its help for --help, and does nothing else`, () => {
      // If a script ignores --help, it finds no program to run.
      const env = { PATH: '/nonexistent' };
      const { status, stdout, stderr } = spawnSync('/bin/bash', [script, '--help'], {
        encoding: 'utf8',
        env,
      });
      expect([status, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(/^[\w./-]+ .+\n$/);
    });

  for (const [command, why, code, says] of [
    [
      'test/walk/main --step 5',
      'the program has no option --step',
      2,
      /^.*--step.*\nnpm run walk -- --help .*\n$/,
    ],
    ['test/walk/main --steps 0', '0 is too small', 2, /^--\w+ takes a .*number .*\n$/],
    ['test/soak/main --minutes x', 'x is no number', 2, /^--\w+ takes a .*number .*\n$/],
    [
      'test/soak/main',
      'there is no folder for temporary files',
      1,
      /^no room for temporary files, set TMPDIR to .*ENOENT.*\n$/,
    ],
  ] as const)
    it(`\`${command}\` fails with exit code ${code} and a short message without a stack trace, because ${why}`, () => {
      const { status, stdout, stderr } = run(command);
      expect([status, stdout]).to.deep.equal([code, '']);
      expect(stderr).to.match(says);
    });

  it('that scripts/script.ts runs exits with code 1 at any error, and prints a stack trace only for a defect such as a TypeError', () => {
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
});
