import { ROLE_NAMES } from '../access/roles.js';
import { badConfig } from '../config/config-file.js';
import { systemClock } from '../core/clock.js';
import { UNIT_LIST } from '../core/units.js';
import type { Entry } from '../daemon/run.js';
import { type Options, valued } from './arguments.js';
import { benchCommand, LASER_OFFS, MOST_SECONDS } from './bench-command.js';
import { command, type Program } from './command.js';
import { agreesToMove, conformanceCommand, type OpenBus } from './conformance-command.js';
import { doctorCommand } from './doctor-command.js';
import { verifyCommand } from './log-command.js';
import { type Asked, configOf, homeOf, placeOf, ROBOT, reachedBy, USUAL_URL } from './place.js';
import { ACTS, type RootAct, rootCommand, type Words } from './root-commands.js';
import { serveCommand } from './serve-command.js';
import { statusCommand } from './status-command.js';
import { addToken, listTokens, removeToken, type TokenPlace } from './token-command.js';

const JSON_OPTION = { json: { type: 'boolean', short: 'j', about: 'print JSON' } } as const;
const CONFIG_OPTION = {
  config: valued('FILE', 'read this configuration file', `${ROBOT.configFile}, if it exists`),
};
/** The options that say which robot is meant: the one of this board, or a simulated one. */
const PLACE_OPTIONS = {
  simulated: { type: 'boolean', about: 'use the simulated robot of npm start or trunnion-sim' },
  state: valued(
    'DIR',
    'the state folder of the robot',
    `${ROBOT.state}; with --simulated ~/.local/state/trunnion-sim`,
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

/** The commands of `trunnion`. Help, man page, documents and tests derive from this table. */
export function robotProgram(entry: Entry & { readonly openBus: OpenBus }): Program {
  return {
    name: 'trunnion',
    about:
      'The daemon of a competition robot, and the commands for its board.\nWithout a command, trunnion serves the robot.',
    commands: [
      serveCommand(ROBOT, entry),
      command(
        {
          command: 'status',
          about: `Say whether the robot is safe, who may do what, and what is wrong
Without --url and --token it asks the daemon of this board, and needs root.`,
          options: { ...BOARD_OPTIONS, ...REMOTE_OPTIONS },
        },
        ({ values }) => statusCommand(reachedBy(values)),
      ),
      ...ROOT_ACTS.map(act => {
        const { about, ...words }: Words = ACTS[act];
        const options: Options = words.isOfBoard ? BOARD_OPTIONS : { ...BOARD_OPTIONS, ...REMOTE_OPTIONS };
        const how = words.isOfBoard ? '' : '; with --url or --token over HTTP';
        return command(
          { command: act, about: `${about}\nOn the board it needs root, and no token${how}.`, options },
          ({ values }) => rootCommand(act, reachedBy(values)),
        );
      }),
      command(
        {
          command: 'token add',
          operands: ['NAME'],
          about: `Make a token and show it once
The first token closes the robot to everyone without one, darkens the laser and stops the robot.`,
          options: {
            role: valued(ROLE_NAMES.join('|'), 'what the token allows'),
            ...FOLDER_OPTIONS,
          },
        },
        ({ values, positionals: [name = ''] }) => addToken(configured(values), name, values.role),
      ),
      command(
        { command: 'token list', about: 'Show who has a token', options: FOLDER_OPTIONS },
        ({ values }) => listTokens(configured(values)),
      ),
      command(
        {
          command: 'token remove',
          operands: ['NAME'],
          about: 'Remove a token, at once',
          options: FOLDER_OPTIONS,
        },
        ({ values, positionals: [name = ''] }) => removeToken(configured(values), name),
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
        },
        ({ values, positionals: [path] }) => {
          const { config, isSimulated } = configured(values);
          return verifyCommand({ path: path ?? config.state.folder, headText: values.head, isSimulated });
        },
      ),
      command(
        {
          command: 'doctor',
          about: `Find what is wrong with the board, and name the cure
It changes nothing. Exit code 0: nothing is wrong.`,
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
Stop the daemon first. At the end the controller is latched, so the daemon then starts stopped. Exit code 0: every check passed.`,
            options: {
              move: {
                type: 'boolean',
                about: 'run the checks that need torque too: the wheels must be off the floor',
              },
              ...JSON_OPTION,
              ...CONFIG_OPTION,
            },
          },
          ({ values }) =>
            conformanceCommand(
              unit,
              entry.openBus,
              configOf(ROBOT, values),
              values.move ? agreesToMove : undefined,
            ),
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
          const seconds = Number(values.seconds);
          if (!(seconds >= 1 && seconds <= MOST_SECONDS))
            throw badConfig([`--seconds takes a number from 1 to ${MOST_SECONDS}`]);
          return benchCommand(placeOf(values), seconds, values.token ?? process.env.TRUNNION_TOKEN);
        },
      ),
    ],
  };
}

/** The robot that these options name, with its configuration. */
function configured(asked: Asked): TokenPlace {
  return { ...placeOf(asked), config: configOf(homeOf(asked), asked), clock: systemClock };
}
