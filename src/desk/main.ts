#!/usr/bin/env node
import { homedir } from 'node:os';
import { join } from 'node:path';
import { valued } from '../command/arguments.js';
import { command, type Program, runProgram } from '../command/command.js';
import { systemClock } from '../core/clock.js';
import { createStdoutLog } from '../events/stdout-log.js';
import { readDeskFile } from './desk-file.js';
import { startDesk } from './start.js';

const stateHome = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
const STATE = process.env.STATE_DIRECTORY ?? join(stateHome, 'trunnion-desk');

const program: Program = {
  name: 'trunnion-desk',
  about: 'One page on which a referee runs a field of robots.',
  commands: [
    command(
      {
        command: 'serve',
        operands: ['FILE'],
        about: 'Serve the page of the field that FILE describes; docs/field.md says what is in FILE',
        options: { state: valued('DIR', 'keep state and records in this folder', STATE) },
      },
      async ({ values, positionals: [file = ''] }) => {
        // Tokens of robots and records of matches are nobody else's business.
        process.umask(0o077);
        const log = createStdoutLog({ level: 'info' });
        const read = readDeskFile(file, STATE);
        const desk = await startDesk({
          file: { ...read, state: values.state ?? read.state },
          log,
          clock: systemClock,
        });
        const end = () => {
          void desk.close().finally(() => {
            log.flush();
            process.exit(0);
          });
        };
        for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end);
        return undefined;
      },
    ),
  ],
};

// No top-level await: the package is CommonJS. A command line that begins with no command means `serve`.
const [first = '', ...others] = process.argv.slice(2);
const names = [...program.commands.map(({ command }) => command.split(' ')[0]), 'help', 'version'];
const isFile = first !== '' && !first.startsWith('-') && !names.includes(first);
void runProgram(program, isFile ? ['serve', first, ...others] : process.argv.slice(2));
