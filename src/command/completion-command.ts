import { HELP, type Options } from './arguments.js';
import type { Command, Program, Said } from './command.js';
import { done, wrong } from './command.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `trunnion completion`: a script that completes the program's commands, options and fixed values in this shell. */
export function completionCommand(program: Program, shell: string): Said {
  const found = SHELLS.find(one => one === shell);
  if (found === undefined) return wrong(`completion takes ${SHELLS.join(', ')}, not ${shell}`);
  return done({ bash, zsh, fish }[found](program));
}

/** The words that may follow each beginning of a command line, the longest beginning first. */
function followers({
  commands,
}: Pick<Program, 'commands'>): readonly (readonly [words: string, next: readonly string[]])[] {
  const all = new Map<string, string[]>([['', ['help', 'version']]]);
  for (const { command, options, operands = [] } of commands) {
    const words = command.split(' ');
    words.forEach((word, index) => {
      const before = words.slice(0, index).join(' ');
      const next = all.get(before) ?? [];
      if (!next.includes(word)) all.set(before, [...next, word]);
    });
    const names = Object.keys({ ...options, ...HELP }).map(name => `--${name}`);
    all.set(command, [...(all.get(command) ?? []), ...choicesOf(operands[0]), ...names]);
  }
  return [...all].sort(([one], [other]) => other.length - one.length);
}

/** The fixed values in the name of an operand or of an option's value, such as `a|b`. */
function choicesOf(name = ''): readonly string[] {
  return name.includes('|') ? name.split('|') : [];
}

function bash({ name, ...program }: Program): string {
  const call = functionOf(name);
  const options: Options = Object.assign({}, ...program.commands.map(one => one.options));
  const values = Object.entries(options).filter(([, { type }]) => type === 'string');
  const cases = [
    ...values.map(([option, { value }]) => [`*' --${option} '`, choicesOf(value)] as const),
    ...followers(program).map(([words, next]) => [`' ${words}${words && ' '}'*`, next] as const),
  ];
  const lines = cases.map(([before, next]) => `    ${before}) words='${next.join(' ')}' ;;`);
  return `# completion of ${name} in bash
${call}() {
  local before=" \${COMP_WORDS[*]:1:$((COMP_CWORD-1))} " words
  case $before in
${lines.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${call} ${name}
`;
}

/** The script for bash, by the functions of bash that zsh has. A file of completions is itself called the first time. */
function zsh(program: Program): string {
  const call = functionOf(program.name);
  return `#compdef ${program.name}
autoload -Uz +X bashcompinit && bashcompinit
${bash(program)}[ "$funcstack[1]" != ${call} ] || _bash_complete -o default -F ${call}
`;
}

function functionOf(name: string): string {
  return `_${name.replaceAll('-', '_')}`;
}

function fish({ name, commands }: Program): string {
  const at = `__${name}_at`;
  const first = (about: string) => (about.split('\n')[0] ?? '').replaceAll("'", "\\'");
  const word = (before: string, next: string, about: string) =>
    `complete -c ${name} -f -n '${at} "${before}"' -a '${next}' -d '${about}'`;
  const rowsOf = ({ command, about, options, operands = [] }: Command) => {
    const words = command.split(' ');
    const last = words.at(-1) ?? '';
    const own = words.map((one, index) =>
      word(words.slice(0, index).join(' '), one, one === last ? first(about) : ''),
    );
    const choices = choicesOf(operands[0]).map(one => word(command, one, ''));
    const rows = Object.entries({ ...options, ...HELP }).map(([long, { short, about, type, value }]) => {
      const fixed = choicesOf(value);
      const how = fixed.length > 0 ? `-xa '${fixed.join(' ')}'` : type === 'string' && '-rF';
      const letters = [`-l ${long}`, short && `-s ${short}`, how].filter(Boolean).join(' ');
      return `complete -c ${name} -n '${at} "${command}" more' ${letters} -d '${first(about)}'`;
    });
    return [...own, ...choices, ...rows];
  };
  const lines = [...new Set(commands.flatMap(rowsOf))];
  return `# fish completion of ${name}
function ${at}
  set -l words (string match -v -- '-*' (commandline -opc)[2..])
  test "$words" = "$argv[1]"; or begin
    set -q argv[2]; and string match -q -- "$argv[1] *" "$words"
  end
end
${lines.join('\n')}
`;
}
