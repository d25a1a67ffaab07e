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
