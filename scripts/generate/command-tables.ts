import { helpOf } from '../../src/command/arguments.js';
import { type Command, EXIT_CODES } from '../../src/command/command.js';
import { robotProgram } from '../../src/command/robot-commands.js';

const none = () => Promise.reject(new Error('opens no hardware'));
const { commands } = robotProgram({ open: none, openBus: none });

function typed({ command, operands = [] }: Command): string {
  return ['trunnion', command, ...operands].join(' ');
}

/** The table of commands in the documents. */
export function commandTable(): string {
  const rows = commands.map(one => `| \`${typed(one)}\` | ${one.about.split('\n')[0]} |`);
  return ['| command | does |', '|---|---|', ...rows].join('\n');
}

/** The table of exit codes in the documents. */
export function exitCodeTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['| exit code | means |', '|---|---|', ...rows].join('\n');
}

/** The manual page of both programs. */
export function manPage(): string {
  return `.TH TRUNNION 1 "" "Trunnion" "User commands"
.SH NAME
trunnion, trunnion-sim \\- daemon of a competition robot, and the same on a simulated robot
.SH SYNOPSIS
.B trunnion
\\fICOMMAND\\fR [\\fIOPTIONS\\fR]
.br
.B trunnion-sim
[\\fIOPTIONS\\fR]
.SH DESCRIPTION
.B trunnion
without a command serves the robot. The other commands are for a robot that is being served.
.B trunnion-sim
serves a simulated robot on the loopback address.
.SH COMMANDS
${commands.map(entryOf).join('\n')}
.SH EXIT STATUS
${Object.entries(EXIT_CODES)
  .map(([code, meaning]) => `.TP\n.B ${code}\n${meaning}`)
  .join('\n')}
.SH FILES
.TP
.I /etc/trunnion/config.yaml
The configuration, with all defaults as comments.
.TP
.I /var/lib/trunnion
The saved gains and their history, profiles, captured steps, tokens, the lock of a match, and the event log.
.TP
.I /usr/share/doc/trunnion/docs
The documents. Begin with install.md. motor-protocol.md and firmware.md are about motor controllers.
.SH SEE ALSO
.BR journalctl (1),
.BR systemctl (1)
`;
}

function entryOf(one: Command): string {
  const [, about = '', options = ''] = helpOf(one).split('\n\n');
  return `.TP\n.B ${escaped(typed(one))}\n${about.split('\n').map(escaped).join('\n.br\n')}\n.nf\n${escaped(options.trimEnd())}\n.fi`;
}

/** Escapes text for the manual page: hyphens become minus signs, and a dot at the start of a line becomes text. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/^\./gm, '\\&.');
}
