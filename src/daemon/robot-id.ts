import { randomBytes } from 'node:crypto';
import { START_MS } from '../storage/disk.js';
import { type StateParts, stateFile } from '../storage/state-file.js';

const ID = /^[0-9a-f]{16}$/;
/** The longest wait for the disk. */
const SAVE_MS = 500;

/** The id by which a desk knows this robot again. It is made at the first start. A damaged file gets a new id. */
export function robotIdFile(parts: StateParts) {
  const file = stateFile<string | null>(parts, {
    name: 'robot-id',
    encode: id => `${id}\n`,
    decode: text => {
      const id = text.trim();
      if (!ID.test(id)) throw new Error('not an id');
      return id;
    },
    absent: null,
  });
  /** A value of null says that the file was read, and was not there. */
  const make = () => {
    if (file.value === null) file.save(randomBytes(8).toString('hex'), SAVE_MS).catch(() => undefined);
  };
  file.changed.add(make);
  file.read(START_MS).catch(() => undefined);
  return {
    /** Null while the file cannot be read. */
    get value(): string | null {
      return file.value ?? null;
    },
    close: () => file.close(),
  };
}
