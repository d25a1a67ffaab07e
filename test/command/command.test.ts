import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { answer, type Program } from '../../src/command/command.js';
import { printable } from '../../src/command/output.js';
import { robotProgram } from '../../src/command/robot-commands.js';
import { isRobotError } from '../../src/core/errors.js';

const RUN = new URL('../../src/command/command.js', import.meta.url).href;

const none = () => Promise.reject(new Error('opens no hardware'));
const program = robotProgram({ open: none, openBus: none });

/** The command's output, or the reason for which its arguments are refused. */
async function said(line: string, asked: Program = program): Promise<string> {
  try {
    return (await answer(asked, line.split(' ').filter(Boolean)))?.text ?? '';
  } catch (error) {
    if (!isRobotError(error, 'bad-config')) throw error;
    return error.context.reason;
  }
}

describe('trunnion', () => {
  for (const { command, operands = [], options } of program.commands) {
    describe(`"${command}"`, () => {
      it(`prints its options and their defaults after "trunnion ${command} --help", "trunnion help ${command}" or "trunnion -h ${command}"`, async () => {
        const text = await said(`${command} --help`);
        expect(text).to.match(/^Usage: trunnion .*\n\n[A-Z]/);
        for (const [name, { usual, default: given }] of Object.entries(options))
          expect(text.replace(/\s+/g, ' '))
            .to.match(new RegExp(`--${name}\\b`))
            .and.include(usual ?? given ?? name);
        for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(80);
        expect(await said(`help ${command}`)).to.equal(text);
        expect(await said(`-h ${command} x y`)).to.equal(text);
      });

      it('is listed by "trunnion --help"', async () => {
        expect(await said('--help')).to.match(new RegExp(`^  ${command}\\b.*  [A-Z]`, 'm'));
      });

      it('refuses a wrong or missing argument with a message that names the argument', async () => {
        const given = operands.map(() => 'x').join(' ');
        const help = `\ntrunnion ${command} --help shows what it takes.`;
        expect(await said(`${command} --nonsense ${given}`)).to.equal(
          `trunnion ${command} has no option --nonsense${help}`,
        );
        for (const [name, { type, value }] of Object.entries(options)) {
          const wrong =
            type === 'string' ? [`--${name}`, `--${name} --help=`, `--${name}=`] : [`--${name}=1`];
          const why = type === 'string' ? `takes a value: --${name} ${value}` : 'takes no value';
          for (const one of wrong)
            expect(await said(`${command} ${given} ${one}`)).to.equal(`--${name} ${why}${help}`);
        }
        expect(await said(`${command} ${given} over`)).to.equal(`trunnion ${command} takes no over${help}`);
        if (operands.some(name => !name.startsWith('[')))
          expect(await said(command)).to.equal(`trunnion ${command} needs ${operands[0]}${help}`);
      });
    });
  }

  for (const [line, says] of [
    ['statsu', 'has no command statsu: did you mean status?'],
    ['tokne add', 'did you mean token add?'],
    ['token lsit', 'did you mean token list?'],
    ['help dcotor', 'did you mean doctor?'],
    ['help token nope', 'the commands are: trunnion token add'],
    ['token nope --help', 'the commands are: trunnion token add'],
    ['token rm desk', 'the commands are: trunnion token add, trunnion token list, trunnion token remove'],
    ['match', 'the commands are: trunnion match end, trunnion match clear'],
    ['stop -v', 'trunnion stop has no option -v'],
    ['stop --jsno', 'has no option --jsno: did you mean --json?'],
    ['--prot 1', 'trunnion serve has no option --prot: did you mean --port?'],
    ['lock', 'has no command lock\n'],
    ['--port x', '--port takes a number from 0 to 65535, not x'],
    ['bench --seconds -1', '--seconds takes a number from 1 to 86400'],
    ['bench --seconds 3000000', '--seconds takes a number from 1 to 86400'],
  ] as const) {
    it(`answers the command line "trunnion ${line}" with "${says.trim()}"`, async () => {
      expect(await said(line)).to.include(says);
    });
  }

  it('shows the options of its command after "--help" if the program has only one command', async () => {
    const [only] = program.commands;
    if (only === undefined) throw new Error('no command');
    const text = await said('--help', { name: 'npm start --', about: '', commands: [only] });
    expect(text)
      .to.match(/^Usage: npm start -- \[OPTIONS\]\n/)
      .and.include('--port');
  });

  it('answers "trunnion token --help" with a list of only the commands that begin with “token”', async () => {
    const text = await said('token --help');
    expect(text).to.include('token add NAME').and.not.include('doctor');
  });

  it('answers "version", "--version", "-V" and "doctor --version" with the version', async () => {
    for (const line of ['version', '--version', '-V', 'doctor --version'])
      expect(await said(line)).to.match(/^\d+\.\d+\.\d+$/);
  });
});

describe('the output of a command', () => {
  it('escapes control characters except line breaks', () => {
    const text = 'a\u001b[2J\u007f\u0085\u061c\nb\u2066\ttäb\n';
    expect(printable(text)).to.equal('a\\u001b[2J\\u007f\\u0085\\u061c\nb\\u2066\\u0009täb');
    expect(JSON.parse(printable(JSON.stringify({ text }, undefined, 2)))).to.deep.equal({ text });
  });

  it('colours a word such as “wrong” only at the beginning of a line', () => {
    expect(printable('constructor: whole', { wrong: 'red' })).to.equal('constructor: whole');
    const coloured = printable('wrong  port  wrong', { wrong: 'red' });
    expect(coloured).to.equal('\u001b[31mwrong\u001b[39m  port  wrong');
  });
});

describe('the process of a command', function () {
  // Each test starts a process.
  this.timeout(30_000);

  /** The exit code of a command that runs this code, in a file without a top-level await, as in the package. */
  function exitCodeOf(run: string, arg = 'look'): number | null {
    const code = `import(${JSON.stringify(RUN)}).then(({ command, runProgram }) => {
      const look = command({ command: 'look', about: 'Look', options: {} }, ${run});
      void runProgram({ name: 'x', about: '', commands: [look] }, [${JSON.stringify(arg)}]);
    });`;
    return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).status;
  }

  it('exits with the code of the command, or with 0 after “--version”, 2 after an unknown option, and 1 after an exception', () => {
    expect(exitCodeOf("async () => ({ text: '', exitCode: 0 })")).equal(0);
    expect(exitCodeOf("async () => ({ text: '', exitCode: 1 })")).equal(1);
    expect(exitCodeOf('async () => undefined', '--version')).equal(0);
    expect(exitCodeOf('async () => undefined', '--nonsense')).equal(2);
    expect(exitCodeOf("async () => { throw new Error('a defect'); }")).equal(1);
  });

  it('fails with exit code 1 and one sentence on stderr if its output goes to a full disk', () => {
    const line = `${process.execPath} dist/src/main.js help > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: 'The output could not be written: ENOSPC\n',
    });
  });

  it('fails with exit code 1 and no message if the reader of its output has closed the pipe', async () => {
    const child = spawn(process.execPath, ['dist/src/main.js', 'help']);
    child.stdout.destroy();
    expect(await text(child.stderr)).to.equal('');
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).to.equal(1);
  });

  it('fails with exit code 13 if it waits for a promise that never settles', () => {
    expect(exitCodeOf('() => new Promise(() => {})')).equal(13);
  });
});
