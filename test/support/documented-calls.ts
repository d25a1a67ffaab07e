/** Each `curl` line of a document, and the line below it with the answer. */
export function callsOf(text: string): readonly { command: string; answer: string }[] {
  return [...text.matchAll(/^ {4}(curl .*)\n {4}(.*)$/gm)].map(([, command = '', answer = '']) => ({
    command,
    answer,
  }));
}

/** … matches any text. An answer without … must match completely. */
export function documented(answer: string): RegExp {
  const parts = answer.split('…').map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}${parts.length === 1 && answer.startsWith('{') ? '$' : ''}`, 's');
}

/** The text between this heading and the next heading of its level. */
export function sectionOf(text: string, heading: string): string {
  const [, level = ''] = /^(#+) /.exec(heading) ?? [];
  return text.split(`${heading}\n`)[1]?.split(`\n${level} `)[0] ?? '';
}

const PROGRAMS =
  'apt|apt-get|curl|journalctl|node|npm|npx|promtool|python3|rclone|scripts/\\S+|sudo|systemctl|trunnion|trunnion-sim';
const COMMAND = new RegExp(`^(?:while sleep 1; do )?(?:[A-Z_]+=\\S+ )*(?:${PROGRAMS})\\s+\\S`);

/**
 * The commands that a document tells people to type, in their order: lines of its blocks, without comments, and code in its
 * sentences.
 */
export function commandsOf(text: string): string[] {
  const found = text.matchAll(/^(?: {4}|\$ )(\S.*?(?:\\\n.*?)*)$|^```.*$|`([^`]+)`/gm);
  const codes = [...found].map(([, line, code]) =>
    line === undefined ? (code ?? '') : line.replaceAll(/\\\n\s*/g, '').replace(/\s+# .*$/, ''),
  );
  return [...new Set(codes.filter(code => COMMAND.test(code)))];
}

/** The documents whose commands test/slow/documented-commands.test.ts types, but for those below. */
export const TYPED: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/clients/README.md'],
  ...['api', 'firmware', 'install', 'league', 'reliability', 'troubleshooting', 'venue'].map(
    name => `docs/${name}.md`,
  ),
];

/** The commands that no test types as they stand, and why. The first pattern that matches counts. */
const NOT_TYPED: readonly (readonly [RegExp, string])[] = [
  [
    /^(sudo |apt |apt-get |systemctl |journalctl )(?!trunnion)/,
    'it changes or reads a board or a computer of the venue',
  ],
  [/^scripts\/(un)?install/, 'it changes the machine'],
  [/^(sudo )?trunnion-sim\b/, 'it never ends; the test starts the same program'],
  [/^rclone /, 'it needs an object store'],
  [/^npx --yes @hey-api/, 'it needs the network; scripts/check-openapi types it'],
  [/^npm (ci|test|start|pack|install)\b|^CHROMIUM=none/, 'the gate, .ci/run, types it'],
  [/^npm run (lint|test:slow|package|licences|bench -- --quick)\b/, 'the gate, .ci/run, types it'],
  [/^npm run (firmware|test:firmware)/, 'it needs compilers; scripts/firmware/check types it'],
  [/^npm run desk\b/, 'it never ends; test/browser/desk.test.ts starts the same program'],
  [/^npm run (test:pi|screenshot|dev)\b/, 'it needs a virtual board, writes pictures, or never ends'],
  [
    /^(KILL_ROUNDS=200 )?npm run (-s )?(bench|soak|walk|fuzz|tune|test:slow)\b/,
    'it takes minutes; tests run it shorter',
  ],
  [
    /^npm run generate$/,
    'it writes files of the project; test/scripts/generated-files.test.ts runs its parts',
  ],
  [/^npm run (-s )?step\b/, 'it writes a picture; test/scripts/step-command.test.ts runs it'],
  [/docs\/clients\/drive\./, 'it reads keys; test/slow/drive-clients.test.ts presses them'],
  [
    /^(sudo )?trunnion (conformance(?!.*--simulated)|serve|bench)\b/,
    'it needs a controller, never ends, or measures for long',
  ],
  [/^(sudo )?trunnion token add( NAME)?$/, 'it only names the command'],
  [
    /^sudo trunnion-desk token\b/,
    'it needs the folder of a service; test/access/commands.test.ts runs its parts',
  ],
];

/** Why no test types this command as it stands; undefined if one does. */
export function notTyped(command: string): string | undefined {
  return NOT_TYPED.find(([pattern]) => pattern.test(command))?.[1];
}
