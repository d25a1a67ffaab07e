import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { completionCommand, SHELLS } from '../../src/command/completion-command.js';
import { robotProgram } from '../../src/command/robot-commands.js';
import { requirePrograms } from '../support/programs.js';

const none = () => Promise.reject(new Error('opens no hardware'));
const program = robotProgram({ open: none, openBus: none });

describe('“trunnion completion”', () => {
  it('prints, for each known shell, a script that contains every command and option', () => {
    for (const shell of SHELLS) {
      const { text } = completionCommand(program, shell);
      for (const { command, options } of program.commands) {
        for (const word of command.split(' ')) expect(text, shell).to.include(word);
        for (const name of Object.keys(options))
          expect(text, shell).to.match(new RegExp(`(--|-l )${name}\\b`));
      }
    }
  });

  it('exits with code 2 for an unknown shell', () => {
    expect(completionCommand(program, 'csh').exitCode).to.equal(2);
  });

  for (const [line, completes] of [
    ['trunnion s', ['serve', 'status', 'stop']],
    ['trunnion match ', ['end', 'clear']],
    ['trunnion match end --s', ['--simulated', '--state']],
    ['trunnion token add x --role ', ['referee', 'operator', 'spectator']],
    ['trunnion completion ', ['bash', 'zsh', 'fish', '--help']],
    ['trunnion log v', ['verify']],
    ['trunnion status --url x --w', ['--watch']],
  ] as const)
    it(`makes bash suggest "${completes.join('", "')}" after "${line}"`, function () {
      requirePrograms(this, 'bash');
      const words = line.split(' ');
      const script = `${completionCommand(program, 'bash').text}
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_trunnion; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
      expect(stdout.trim().split('\n')).to.deep.equal(completes);
    });
});
