import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/** What a script ends with where there is no folder for temporary files. */
function run(command: string) {
  const [script = '', ...args] = command.split(' ');
  const program = fileURLToPath(new URL(`../../scripts/${script}.js`, import.meta.url));
  const env = { ...process.env, TMPDIR: '/nonexistent' };
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env });
}

describe('a script', () => {
  for (const command of ['fuzz/main', 'soak/main', 'bench/main --quick --only wire', 'package/licences']) {
    it(`says in one line what it lacks, and the cure (${command})`, () => {
      const { status, stderr } = run(command);
      expect(status).to.equal(1);
      expect(stderr).to.match(/^no room for temporary files, set TMPDIR to .*ENOENT.*\n$/);
    });
  }

  it('says in one line that its picture cannot be written, before it computes it (tune)', () => {
    const { status, stderr } = run('tune/main --pictures /dev/null/pictures');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^E\w+: .*\/dev\/null\/pictures.*\n$/);
  });

  it('ends in one line at a failure, also with things of it still running, and shows where a defect is', () => {
    const { href } = new URL('../../scripts/script.js', import.meta.url);
    const failing = (error: string) => {
      const work = `async () => { setInterval(() => undefined, 1000); throw new ${error}('no disk\\nand more'); }`;
      const code = `import { script } from '${href}'; await script(${work});`;
      return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    };
    const { status, stderr } = failing('Error');
    expect([status, stderr]).to.deep.equal([1, 'no disk\n']);
    for (const kind of ['TypeError', 'RangeError', 'SyntaxError']) {
      const defect = failing(kind);
      expect(defect.status).to.equal(1);
      expect(defect.stderr).to.match(/\n +at /);
    }
  });

  for (const command of [
    'walk/main --steps x',
    'walk/main --steps 0',
    'walk/main --steps 5 --seed x',
    'fuzz/main --seconds x',
    'fuzz/main --seed 0.5',
    'soak/main --minutes x',
    'soak/main --requests x',
    'soak/main --streams=-1',
    'tune/main --seed x',
  ]) {
    it(`refuses in one line what is no number, or too small a one (${command})`, () => {
      const { status, stdout, stderr } = run(command);
      expect(status).to.equal(2);
      expect(stderr).to.match(/^--\w+ takes a .*number .*\n$/);
      expect(stdout).to.equal('');
    });
  }
});
