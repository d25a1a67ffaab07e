import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BREAK_GLASS_ACTS, RUNTIME_FOLDER } from '../access/break-glass.js';
import { breakGlassCommand } from '../access/break-glass-command.js';
import { tokenCommand } from '../access/token-command.js';
import { configProblem, loadConfig } from '../config/config.js';
import { isRobotError, messageOf } from '../core/errors.js';
import type { Said } from '../core/said.js';
import { logCommand } from '../events/log-command.js';
import { problemOf } from '../http/problems.js';

export const FIELD_HELP = `  token add NAME --role referee|operator|spectator
                   make a token, show it once, and close the robot to everyone without one
  token list       show who has a token
  token remove NAME
                   take a token away, at once
  stop             stop the robot, on the board and without a token
  unlock           take away the match lock, on the board and without a token
  match end        end the match, on the board and without a token
  log verify PATH [--head SEQ:HASH]
                   check whether the log of events was changed; PATH is the state folder or one
                   file, the head is what a desk kept`;

/** Runs one of these commands while the daemon runs. Resolves with undefined for any other command. */
export async function fieldCommand(
  args: readonly string[],
  defaults: { readonly configFile: string; readonly state: string },
): Promise<Said | undefined> {
  const [command] = args;
  const act = BREAK_GLASS_ACTS.find(known => known.split(' ')[0] === command);
  if (act === undefined && command !== 'token' && command !== 'log') return undefined;
  try {
    const { values, positionals } = parse(args);
    if (values.help) return { text: `Usage: trunnion …\n\n${FIELD_HELP}`, exitCode: 0 };
    const operands = positionals.slice(1);
    if (act !== undefined) {
      if (positionals.join(' ') !== act) return wrong(`the command is: trunnion ${act}`);
      return await breakGlassCommand(act, RUNTIME_FOLDER);
    }
    if (command === 'log') return await logCommand(operands, values.head);
    const file = values.config ?? (existsSync(defaults.configFile) ? defaults.configFile : undefined);
    const given = values.state === undefined ? {} : { state: values.state };
    const config = loadConfig(file, given, { host: '0.0.0.0', state: defaults.state });
    return await tokenCommand({ operands, role: values.role, config });
  } catch (error) {
    if (isRobotError(error, 'bad-config')) return wrong(configProblem(error));
    if (isRobotError(error)) return { text: problemOf(error).problem.detail, exitCode: 1 };
    return wrong(messageOf(error));
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      state: { type: 'string' },
      role: { type: 'string' },
      head: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

function wrong(text: string): Said {
  return { text, exitCode: 2 };
}
