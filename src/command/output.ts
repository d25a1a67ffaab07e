import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { visible } from '../core/control-characters.js';
import { errnoOf } from '../core/errors.js';

/** The colours of words at the beginning of a line. */
export type Colours = Readonly<Record<string, Parameters<typeof styleText>[0]>>;

export const JSON_OPTION = { json: { type: 'boolean', short: 'j', about: 'print JSON' } } as const;

/** How often a command that follows the daemon asks it. */
const REPEAT_MS = 1000;

/** Whether each stream that was printed to has refused text. */
const isLost = new Map<NodeJS.WriteStream, boolean>();

/**
 * Prints the output of a command. If that fails, sets the exit code to 1. A reader that closed its pipe wants no more
 * text, so it gets no message.
 */
export function print(text: string, stream: NodeJS.WriteStream, colours?: Colours): void {
  if (!isLost.has(stream)) {
    isLost.set(stream, false);
    stream.on('error', error => {
      isLost.set(stream, true);
      process.exitCode = 1;
      if (errnoOf(error) === 'EPIPE' || stream !== process.stdout) return;
      print(`The output could not be written: ${errnoOf(error)}`, process.stderr);
    });
  }
  stream.write(`${printable(text, stream.isTTY && stream.hasColors() ? colours : undefined)}\n`);
}

/** Acts once a second, until `act` returns false or the output cannot be written. */
export async function repeat(act: () => Promise<boolean>): Promise<void> {
  while (isLost.get(process.stdout) !== true && (await act())) await delay(REPEAT_MS);
}

/** Shows on a terminal what a long command does now. An empty text removes the line. */
export function progress(text: string): void {
  const { columns = 80, isTTY } = process.stderr;
  if (isTTY) process.stderr.write(`\r\u001b[K${visible(text).slice(0, columns - 1)}`);
}

/** The text with visible control characters, because callers of the robot choose parts of it. */
export function printable(text: string, colours: Colours = {}): string {
  const coloured = (word: string) => {
    // A robot may be called `constructor`.
    const colour = Object.hasOwn(colours, word) ? colours[word] : undefined;
    return colour === undefined ? word : styleText(colour, word, { validateStream: false });
  };
  const lines = text.trimEnd().split('\n');
  return lines.map(line => visible(line).replace(/^\w+/, coloured)).join('\n');
}
