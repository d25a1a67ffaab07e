import { existsSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { valued } from '../command/arguments.js';
import { command, done, failed, type Program, unreadable } from '../command/command.js';
import { JSON_OPTION } from '../command/output.js';
import { portOf } from '../command/place.js';
import { addToken, listTokens, removeToken, type TokenPlace } from '../command/token-command.js';
import { bootClock } from '../core/boot.js';
import { endedWithin, systemClock } from '../core/clock.js';
import { isRobotError } from '../core/errors.js';
import { endProcess, STOP_MS } from '../daemon/end-process.js';
import { createStdoutLog } from '../events/stdout-log.js';
import { realDisk } from '../storage/disk.js';
import { STATE_HOME } from '../storage/state-home.js';
import { DESK_PORT, readDeskFile } from './desk-file.js';
import { startDesk } from './start.js';
import { timelineOf } from './timeline.js';
import { verifyRecord } from './verify.js';

const STATE = process.env.STATE_DIRECTORY ?? join(STATE_HOME, 'trunnion-desk');

const STATE_OPTION = {
  state: valued('DIR', 'keep state and records in this folder', '~/.local/state/trunnion-desk'),
};

const TOKEN_OPTIONS = { ...STATE_OPTION, ...JSON_OPTION };

export const deskProgram: Program = {
  name: 'trunnion-desk',
  about: 'One page on which a referee runs a field of robots.',
  environment: [['XDG_STATE_HOME', 'the folder in which the state folder is; ~/.local/state by default']],
  commands: [
    command(
      {
        command: 'serve',
        operands: ['FILE'],
        about: 'Serve the page of the field that FILE describes; docs/field.md says what is in FILE',
        options: {
          ...STATE_OPTION,
          port: valued('N', 'listen on this port; 0 = any free one', `${DESK_PORT}`),
        },
      },
      async ({ values, positionals: [file = ''] }) => {
        // Tokens of robots and records of matches are nobody else's business.
        process.umask(0o077);
        const log = createStdoutLog({ level: 'info' });
        const read = readDeskFile(file, STATE);
        const desk = await startDesk({
          file: {
            ...read,
            state: values.state ?? read.state,
            port: portOf(values.port) ?? read.port,
          },
          log,
          clock: bootClock,
        });
        const end = async () => {
          // A hanging disk does not keep the desk from ending.
          await endedWithin(systemClock, STOP_MS, desk.close());
          await endProcess(log, 0);
        };
        for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => void end());
        return undefined;
      },
    ),
    command(
      {
        command: 'verify',
        operands: ['FOLDER'],
        about: `Say whether the record of a match is whole
It needs neither desk nor robots. Exit code 0: desk and every robot are whole.`,
        options: {
          timeline: {
            type: 'boolean',
            about: "print all lines of desk and robots in the desk's time instead",
          },
        },
      },
      async ({ values, positionals: [folder = ''] }) => {
        try {
          // The hash is in the name of the folder, not in that of a link to it.
          const record = existsSync(folder) ? realpathSync(folder) : folder;
          if (values.timeline) {
            const timeline = await timelineOf(realDisk, record);
            return timeline === ''
              ? failed(`${folder} is no record of a match.`)
              : { ...done(timeline), isReport: true };
          }
          const verdicts = await verifyRecord(realDisk, record);
          const text = verdicts.map(({ of, is, why }) => `${of}: ${is}: ${why}\n`).join('');
          const exitCode = verdicts.every(({ is }) => is === 'whole') ? 0 : 1;
          return { text, exitCode, isReport: true };
        } catch (error) {
          if (!isRobotError(error, 'storage-failed')) throw error;
          return unreadable(folder, error.cause, `sudo trunnion-desk verify ${folder}`);
        }
      },
    ),
    command(
      {
        command: 'token add',
        operands: ['NAME'],
        about: 'Make a token for a tablet of a referee or a spectator, and show it once',
        options: { role: valued('referee|spectator', 'what the token allows'), ...TOKEN_OPTIONS },
      },
      ({ values, positionals: [name = ''] }) => addToken(deskTokens(values.state), name, values.role),
    ),
    command({ command: 'token list', about: 'Show who has a token', options: TOKEN_OPTIONS }, ({ values }) =>
      listTokens(deskTokens(values.state)),
    ),
    command(
      {
        command: 'token remove',
        operands: ['NAME'],
        about: 'Remove a token, at once',
        options: TOKEN_OPTIONS,
      },
      ({ values, positionals: [name = ''] }) => removeToken(deskTokens(values.state), name),
    ),
  ],
};

/** The tokens of the desk with this state folder. The command does not read FILE, so it knows neither its host nor its port. */
export function deskTokens(folder = STATE, clock = systemClock): TokenPlace {
  const page = async () => ({
    url: `http://${hostname()}.local:${DESK_PORT}`,
    note: ' (if FILE sets a host for tablets, and no other port)',
  });
  return { program: 'trunnion-desk', folder, clock, isSimulated: false, page };
}
