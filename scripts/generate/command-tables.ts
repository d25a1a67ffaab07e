import { simProgram } from '../../sim/sim-program.js';
import { HELP, optionRows, type Row } from '../../src/command/arguments.js';
import { type Command, EXIT_CODES, type Program, sharedOptions } from '../../src/command/command.js';
import { robotProgram } from '../../src/command/robot-commands.js';
import { deskProgram } from '../../src/desk/desk-program.js';

const none = () => Promise.reject(new Error('opens no hardware'));
/** The robot's program, to read its table of commands. */
export const robot = robotProgram({ open: none, openBus: none });
/** As in the packages. */
const simulator = simProgram({ name: 'trunnion-sim' });

function typed({ command, operands = [] }: Command, program = robot): string {
  return [program.name, command, ...operands].join(' ');
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
  const inSeveral = Object.values(shared);
  const others = ({ options, ...one }: Command): Command => ({
    ...one,
    options: Object.fromEntries(Object.entries(options).filter(([, option]) => !inSeveral.includes(option))),
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
${items(optionRows(shared))}
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
.I /var/lib/trunnion\\-used
The marks of the state folders that the service has used.
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
${items(optionRows({ ...serve?.options, ...HELP }))}
.SH EXAMPLES
${items(serve?.examples)}
${endOf(simulator)}.SH SEE ALSO
.BR trunnion (1)
`;
}

/** The manual page of the desk. */
export function deskManPage(): string {
  return `.TH TRUNNION-DESK 1 "" "Trunnion" "User commands"
.SH NAME
trunnion\\-desk \\- one page on which a referee runs a field of robots
.SH SYNOPSIS
.B trunnion\\-desk
\\fIFILE\\fR
.br
.B trunnion\\-desk
\\fICOMMAND\\fR [\\fIOPTIONS\\fR]
.SH COMMANDS
${deskProgram.commands.map(one => entryOf(typed(one, deskProgram), one)).join('\n')}
${endOf(deskProgram)}.SH FILES
.TP
.I /etc/trunnion\\-desk/field.yaml
The robots and matches of the service. /usr/share/doc/trunnion\\-desk/docs/field.md describes it.
.TP
.I /var/lib/trunnion\\-desk
What the referees want, the tokens, and the records of matches.
.SH SEE ALSO
.BR trunnion (1),
.BR systemctl (1)
`;
}

function entryOf(name: string, { about, options, examples = [] }: Command): string {
  const rows = [...optionRows(options), ...examples];
  const more = rows.length === 0 ? '' : `\n.RS\n${items(rows)}\n.RE`;
  return `.TP\n.B ${escaped(name)}\n${about.split('\n').map(escaped).join('\n.br\n')}${more}`;
}

function endOf({ environment }: Program): string {
  const codes = Object.entries(EXIT_CODES);
  return `.SH ENVIRONMENT\n${items(environment)}\n.SH EXIT STATUS\n${items(codes)}\n`;
}

/** A list in which each row has what a person types, and what it does. */
function items(rows: readonly Row[] = []): string {
  return rows.map(([left, right]) => `.TP\n.B ${escaped(left)}\n${escaped(right)}`).join('\n');
}

/** Escapes text for the manual page: hyphens become minus signs, and a dot at the start of a line becomes text. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/^[.']/gm, '\\&$&');
}
