import { styleText } from 'node:util';
import { visible } from '../core/control-characters.js';
import { errnoOf } from '../core/errors.js';

/** The colours of words at the beginning of a line. */
export type Colours = Readonly<Record<string, Parameters<typeof styleText>[0]>>;

/**
 * Prints the output of a command. If that fails, sets the exit code to 1. A reader that closed its pipe wants no more
 * text, so it gets no message.
 */
export function print(text: string, stream: NodeJS.WriteStream, colours?: Colours): void {
  stream.once('error', error => {
    process.exitCode = 1;
    if (errnoOf(error) === 'EPIPE' || stream !== process.stdout) return;
    print(`The output could not be written: ${errnoOf(error)}`, process.stderr);
  });
  stream.write(`${printable(text, stream.isTTY && stream.hasColors() ? colours : undefined)}\n`);
}

/** The text with visible control characters, because callers of the robot choose parts of it. */
export function printable(text: string, colours: Colours = {}): string {
  const coloured = (word: string) => {
    const colour = colours[word];
    return colour === undefined ? word : styleText(colour, word, { validateStream: false });
  };
  const lines = text.trimEnd().split('\n');
  return lines.map(line => visible(line).replace(/^\w+/, coloured)).join('\n');
}
