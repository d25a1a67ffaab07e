import { simProgram } from '../../sim/sim-program.js';
import { HELP, optionRows } from '../../src/command/arguments.js';
import { type Command, EXIT_CODES, type Program, sharedOptions } from '../../src/command/command.js';
import { robotProgram } from '../../src/command/robot-commands.js';

const none = () => Promise.reject(new Error('opens no hardware'));
const robot = robotProgram({ open: none, openBus: none });
/** As in the packages. */
const simulator = simProgram({ name: 'trunnion-sim' });

function typed({ command, operands = [] }: Command): string {
  return ['trunnion', command, ...operands].join(' ');
}

/** The table of commands in the documents. */
export function commandTable(): string {
  const rows = robot.commands.map(
    one => `| \`${typed(one).replaceAll('|', '\\|')}\` | ${one.about.split('\n')[0]} |`,
  );
  return ['| command | does |', '|---|---|', ...rows].join('\n');
}

/** The table of exit codes in the documents. */
export function exitCodeTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['| exit code | means |', '|---|---|', ...rows].join('\n');
}

/** The manual page of the robot's program. */
export function manPage(): string {
  const shared = sharedOptions(robot);
  const others = ({ options, ...one }: Command): Command => ({
    ...one,
    options: Object.fromEntries(Object.entries(options).filter(([, option]) => !isIn(option, shared))),
  });
  return `.TH TRUNNION 1 "" "Trunnion" "User commands"
.SH NAME
trunnion \\- daemon of a competition robot, and the commands for its board
.SH SYNOPSIS
.B trunnion
[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]
.SH DESCRIPTION
.B trunnion
without a command serves the robot. The other commands are for a robot that is being served.
.SH SHARED OPTIONS
Several commands have these options.
.B trunnion help COMMAND
lists all options of a command.
${literal(optionRows(shared))}
.SH COMMANDS
${robot.commands.map(one => entryOf(typed(one), others(one))).join('\n')}
${endOf(robot)}.SH FILES
.TP
.I /etc/trunnion/config.yaml
The configuration, with all defaults as comments.
.TP
.I /var/lib/trunnion
The saved gains and their history, profiles, captured steps, tokens, the lock of a match, and the event log.
.TP
.I /run/trunnion/root.sock
The local socket, on which the daemon answers root.
.TP
.I /usr/share/doc/trunnion/docs
The documents. Begin with install.md. motor-protocol.md and firmware.md are about motor controllers.
.SH SEE ALSO
.BR trunnion-sim (1),
.BR journalctl (1),
.BR systemctl (1)
`;
}

/** The manual page of the simulator. */
export function simManPage(): string {
  const [serve] = simulator.commands;
  return `.TH TRUNNION-SIM 1 "" "Trunnion" "User commands"
.SH NAME
trunnion\\-sim \\- the daemon of a competition robot, on a simulated robot
.SH SYNOPSIS
.B trunnion\\-sim
[\\fIOPTIONS\\fR]
.SH DESCRIPTION
Serves a simulated robot on the loopback address: the same daemon as
.BR trunnion (1),
on fake buses with physics behind them. The commands of
.B trunnion
work on it with \\-\\-simulated.
.SH OPTIONS
${literal(optionRows({ ...serve?.options, ...HELP }))}
.SH EXAMPLES
${examplesOf(serve)}
${endOf(simulator)}.SH SEE ALSO
.BR trunnion (1)
`;
}

function isIn(option: unknown, options: Readonly<Record<string, unknown>>): boolean {
  return Object.values(options).includes(option);
}

function entryOf(name: string, one: Command): string {
  const about = one.about.split('\n').map(escaped).join('\n.br\n');
  const rows = Object.keys(one.options).length === 0 ? [] : [literal(optionRows(one.options))];
  return [`.TP\n.B ${escaped(name)}\n${about}`, ...rows, examplesOf(one)].filter(Boolean).join('\n');
}

function examplesOf({ examples = [] }: Pick<Command, 'examples'> = {}): string {
  return examples.map(([line, does]) => `${literal(`  ${line}`)}\n${escaped(does)}`).join('\n');
}

function endOf({ environment = [] }: Program): string {
  const rows = (name: string, all: readonly (readonly [string, string])[]) =>
    `.SH ${name}\n${all.map(([left, right]) => `.TP\n.B ${escaped(left)}\n${escaped(right)}`).join('\n')}\n`;
  return `${rows('ENVIRONMENT', environment)}${rows('EXIT STATUS', Object.entries(EXIT_CODES))}`;
}

/** Text whose lines the manual page keeps. */
function literal(text: string): string {
  return `.nf\n${escaped(text)}\n.fi`;
}

/** Escapes text for the manual page: hyphens become minus signs, and a dot at the start of a line becomes text. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/^[.']/gm, '\\&$&');
}
