import { ROLE_NAMES } from '../access/roles.js';
import { badConfig } from '../config/config-file.js';
import { systemClock } from '../core/clock.js';
import { UNIT_LIST } from '../core/units.js';
import type { Entry } from '../daemon/run.js';
import { type Options, valued } from './arguments.js';
import { benchCommand, LASER_OFFS, MOST_SECONDS } from './bench-command.js';
import { type Command, command, type Program, wrong } from './command.js';
import { completionCommand, SHELLS } from './completion-command.js';
import { checkConfig } from './config-command.js';
import {
  agreesToMove,
  conformanceCommand,
  type OpenBus,
  simulatedConformance,
} from './conformance-command.js';
import { doctorCommand } from './doctor-command.js';
import { followLog, logCommand } from './log-command.js';
import { verifyCommand } from './log-verify-command.js';
import { JSON_OPTION } from './output.js';
import {
  configOf,
  homeOf,
  type PlaceOptions,
  placeOf,
  ROBOT,
  reachedBy,
  SIMULATOR,
  USUAL_URL,
} from './place.js';
import { ACTS, type RootAct, rootCommand, type Words } from './root-commands.js';
import { serveCommand } from './serve-command.js';
import { statusCommand, watchStatus } from './status-command.js';
import { addToken, listTokens, removeToken, robotTokens } from './token-command.js';

const CONFIG_OPTION = {
  config: valued('FILE', 'read this configuration file', `${ROBOT.configFile}, if it exists`),
};
/** The options that say which robot is meant: the one of this board, or a simulated one. */
const PLACE_OPTIONS = {
  simulated: { type: 'boolean', about: 'use the simulated robot of npm start or trunnion-sim' },
  state: valued(
    'DIR',
    'the state folder of the robot',
    `${ROBOT.state}; with --simulated ${SIMULATOR.usualState}`,
  ),
} as const;
const TOKEN_OPTION = { token: valued('TOKEN', 'a token of the robot', '$TRUNNION_TOKEN') };
/** The options that reach a daemon over HTTP. */
const REMOTE_OPTIONS = {
  url: valued('URL', 'ask this daemon over HTTP', `the daemon of this board; with --token ${USUAL_URL}`),
  ...TOKEN_OPTION,
};
const ROOT_ACTS: readonly RootAct[] = ['stop', 'resume', 'unlock', 'match end', 'match clear'];
const BOARD_OPTIONS = { ...JSON_OPTION, ...PLACE_OPTIONS };
const FOLDER_OPTIONS = { ...BOARD_OPTIONS, ...CONFIG_OPTION };
const ON_THE_BOARD = 'On the board it needs root, and no token';

/** The commands of `trunnion`. Help, man page, completion, documents and tests derive from this table. */
export function robotProgram(entry: Entry & { readonly openBus: OpenBus }): Program {
  const program: Program = {
    name: 'trunnion',
    about:
      'The daemon of a competition robot, and the commands for its board.\nWithout a command, trunnion serves the robot.',
    environment: [
      ['TRUNNION_TOKEN', 'the token that --url and bench send, if --token is not given'],
      ['XDG_STATE_HOME', 'where a simulated robot keeps its state, in place of ~/.local/state'],
      ['NO_COLOR', 'no colours'],
    ],
    commands: [
      serveCommand(ROBOT, entry),
      command(
        {
          command: 'status',
          about: `Say whether the robot is safe, who may do what, and what is wrong
${ON_THE_BOARD}. With --url or --token it asks over HTTP.`,
          options: {
            watch: { type: 'boolean', short: 'w', about: 'show it again every second' },
            ...BOARD_OPTIONS,
            ...REMOTE_OPTIONS,
          },
          examples: [
            ['sudo trunnion status --watch', 'watch the robot of this board'],
            ['trunnion status --url robot.local:8080 --token TOKEN', 'ask from another machine'],
          ],
        },
        ({ values }) =>
          values.watch
            ? watchStatus(reachedBy(values), values.json === true)
            : statusCommand(reachedBy(values)),
      ),
      ...ROOT_ACTS.map(actCommand),
      command(
        {
          command: 'log',
          about: `Show what callers asked and what the robot did by itself
${ON_THE_BOARD}. With --url or --token it asks over HTTP. With --follow and --json it prints one line of JSON for each event.`,
          options: {
            follow: { type: 'boolean', short: 'f', about: 'print new events too, until Ctrl-C' },
            ...BOARD_OPTIONS,
            ...REMOTE_OPTIONS,
          },
          examples: [['sudo trunnion log --follow', 'see each event as it happens']],
        },
        ({ values }) =>
          values.follow ? followLog(reachedBy(values), values.json === true) : logCommand(reachedBy(values)),
      ),
      command(
        {
          command: 'log verify',
          operands: ['[PATH]'],
          about: `Check whether the event log was changed
PATH is a state folder or one file. Without PATH it is the state folder.`,
          options: {
            head: valued('SEQ:HASH', 'fail unless the log contains this head, which a desk has kept'),
            ...FOLDER_OPTIONS,
          },
          examples: [['sudo trunnion log verify --head 812:HASH', 'check it against the head of a match']],
        },
        ({ values, positionals: [path] }) => {
          const { state } = configOf(homeOf(values), values);
          const isSimulated = values.simulated === true;
          return verifyCommand({ path: path ?? state.folder, headText: values.head, isSimulated });
        },
      ),
      command(
        {
          command: 'token add',
          operands: ['NAME'],
          about: `Make a token and show it once
The first token closes the robot to everyone without one, darkens the laser and stops the robot.`,
          options: {
            role: valued(ROLE_NAMES.join('|'), 'what the token allows'),
            qr: { type: 'boolean', about: 'print a QR code of the link too, for a dark terminal' },
            ...FOLDER_OPTIONS,
          },
          examples: [
            ['sudo trunnion token add desk --role referee', "the token of the referee's desk"],
            ['sudo trunnion token add ann --role operator --qr', 'a driver whose phone reads the link'],
          ],
        },
        ({ values, positionals: [name = ''] }) => addToken(tokensOf(values), name, values.role, values.qr),
      ),
      command(
        { command: 'token list', about: 'Show who has a token', options: FOLDER_OPTIONS },
        ({ values }) => listTokens(tokensOf(values)),
      ),
      command(
        {
          command: 'token remove',
          operands: ['NAME'],
          about: 'Remove a token, at once',
          options: FOLDER_OPTIONS,
        },
        ({ values, positionals: [name = ''] }) => removeToken(tokensOf(values), name),
      ),
      command(
        {
          command: 'config check',
          operands: ['[FILE]'],
          about: `Check a configuration file, with the line of each mistake
It starts nothing. Without FILE it is ${ROBOT.configFile}.`,
          options: JSON_OPTION,
          examples: [['trunnion config check new.yaml', 'check a file before it replaces the old one']],
        },
        async ({ positionals: [file = ROBOT.configFile] }) => checkConfig(file),
      ),
      command(
        {
          command: 'doctor',
          about: `Find what is wrong with the board, and name the cure
It changes nothing. Root sees more.`,
          options: {
            ...FOLDER_OPTIONS,
            host: valued('ADDRESS', 'expect the daemon at this address'),
            port: valued('N', 'expect the daemon at this port'),
          },
        },
        ({ values }) => doctorCommand(values),
      ),
      ...UNIT_LIST.map(unit =>
        command(
          {
            command: `conformance ${unit.name}`,
            about: `Check the firmware of the ${unit.name} against docs/motor-protocol.md
Stop the daemon first. At the end the controller is latched, so the daemon then starts stopped.`,
            options: {
              move: {
                type: 'boolean',
                about: 'run the checks that need torque too: the wheels must be off the floor',
              },
              ...JSON_OPTION,
              simulated: { type: 'boolean', about: 'check the simulated firmware instead, without --move' },
              ...CONFIG_OPTION,
            },
          },
          async ({ values: { simulated, move, json, ...asked } }) => {
            const agrees = move ? agreesToMove : undefined;
            if (!simulated) return conformanceCommand(unit, entry.openBus, configOf(ROBOT, asked), agrees);
            if (asked.config !== undefined)
              return wrong('the simulated firmware has no configuration: leave out --config');
            if (move) return wrong('--move needs gains, which only a daemon gives: leave out --simulated');
            return simulatedConformance([unit.name, ...(json ? ['--json'] : [])]);
          },
        ),
      ),
      command(
        {
          command: 'bench',
          about: `Measure the running daemon: idle, memory, start, laser off, poll
It moves nothing. It switches a dark laser off ${LASER_OFFS} times, unless the robot is in use or a match runs.`,
          options: {
            seconds: { type: 'string', value: 'N', about: 'measure for this long', default: '10' },
            ...TOKEN_OPTION,
            ...BOARD_OPTIONS,
          },
        },
        async ({ values }) => {
          const { token = process.env.TRUNNION_TOKEN, ...place } = values;
          const seconds = Number(values.seconds);
          if (!(seconds >= 1 && seconds <= MOST_SECONDS))
            throw badConfig([`--seconds takes a number from 1 to ${MOST_SECONDS}`]);
          return benchCommand(reachedBy(place), seconds, token);
        },
      ),
      command(
        {
          command: 'completion',
          operands: [SHELLS.join('|')],
          about: `Print a script that completes commands and options in a shell
The Debian package installs it for all three shells.`,
          options: {},
          examples: [['source <(trunnion completion bash)', 'complete in this bash']],
        },
        async ({ positionals: [shell = ''] }) => completionCommand(program, shell),
      ),
    ],
  };
  return program;
}

function actCommand(act: RootAct): Command {
  const { about, isOfBoard }: Words = ACTS[act];
  const options: Options = isOfBoard ? BOARD_OPTIONS : { ...BOARD_OPTIONS, ...REMOTE_OPTIONS };
  const how = isOfBoard ? '' : ' With --url or --token it asks over HTTP.';
  const shape = { command: act, about: `${about}\n${ON_THE_BOARD}.${how}`, options };
  return command(shape, ({ values }) => rootCommand(act, reachedBy(values)));
}

function tokensOf(asked: PlaceOptions) {
  return robotTokens(placeOf(asked), configOf(homeOf(asked), asked), systemClock);
}
