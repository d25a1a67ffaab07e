import { HELP, type Option } from './arguments.js';
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
function followers({ commands }: Program): readonly (readonly [words: string, next: readonly string[]])[] {
  const all = new Map<string, string[]>([['', ['help', 'version', 'completion']]]);
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

interface Value {
  readonly option: string;
  readonly kind: 'files' | 'folders' | 'words' | 'none';
  readonly choices: readonly string[];
}

/** The options that take a value. */
function valuesOf({ commands }: Program): readonly Value[] {
  const all: Readonly<Record<string, Option>> = Object.assign({}, ...commands.map(({ options }) => options));
  return Object.entries(all).flatMap(([name, { type, value = '' }]): Value[] => {
    if (type !== 'string') return [];
    const choices = choicesOf(value);
    const kind =
      value === 'FILE' ? 'files' : value === 'DIR' ? 'folders' : choices.length > 0 ? 'words' : 'none';
    return [{ option: `--${name}`, kind, choices }];
  });
}

function bash(program: Program): string {
  const { name } = program;
  const values = valuesOf(program).map(({ option, kind, choices }) => {
    const act = { files: '-f', folders: '-d', words: `-W '${choices.join(' ')}'`, none: "-W ''" }[kind];
    return `    ${option}) COMPREPLY=($(compgen ${act} -- "$cur")); return ;;`;
  });
  const lines = followers(program).map(
    ([words, next]) => `    ' ${words === '' ? '' : `${words} `}'*) words='${next.join(' ')}' ;;`,
  );
  return `# bash completion of ${name}
_${name.replaceAll('-', '_')}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${values.join('\n')}
  esac
  case " \${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${lines.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ \${#COMPREPLY[@]} = 0 ]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _${name.replaceAll('-', '_')} ${name}
`;
}

function zsh(program: Program): string {
  const { name } = program;
  const values = valuesOf(program).map(({ option, kind, choices }) => {
    const act = { files: '_files', folders: '_files -/', words: `compadd -- ${choices.join(' ')}`, none: '' }[
      kind
    ];
    return `    ${option}) ${act === '' ? ':' : act}; return ;;`;
  });
  const lines = followers(program).map(
    ([words, next]) =>
      `    ' ${words === '' ? '' : `${words} `}'*) compadd -- ${next.join(' ')} || _files ;;`,
  );
  return `#compdef ${name}
_${name}() {
  case \${words[CURRENT-1]} in
${values.join('\n')}
  esac
  case " \${words[2,CURRENT-1]} " in
${lines.join('\n')}
  esac
}
compdef _${name} ${name}
`;
}

function fish(program: Program): string {
  const { name, commands } = program;
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
    const values = valuesOf(program);
    const rows = Object.entries({ ...options, ...HELP }).map(([long, { short, about }]) => {
      const value = values.find(({ option }) => option === `--${long}`);
      const kinds = { files: '-rF', folders: "-xa '(__fish_complete_directories)'", none: '-x', words: '' };
      const how = value && (value.kind === 'words' ? `-xa '${value.choices.join(' ')}'` : kinds[value.kind]);
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
