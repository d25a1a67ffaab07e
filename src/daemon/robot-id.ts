import { randomBytes } from 'node:crypto';
import { every } from '../core/clock.js';
import { START_MS } from '../storage/disk.js';
import { type StateParts, stateFile } from '../storage/state-file.js';

const ID = /^[0-9a-f]{16}$/;
/** The longest wait for the disk. */
const SAVE_MS = 500;
/** A folder that cannot be read, such as that of a disk that is not mounted, is tried again. */
const AGAIN_MS = 1000;

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
  const read = () => void file.read(START_MS).catch(() => undefined);
  const end = every(parts.clock, AGAIN_MS, read);
  file.changed.add(() => {
    if (file.value !== undefined) end();
    // The file was read, and was not there.
    if (file.value === null) file.save(randomBytes(8).toString('hex'), SAVE_MS).catch(() => undefined);
  });
  read();
  return {
    /** Null while the file cannot be read. */
    get value(): string | null {
      return file.value ?? null;
    },
    close: () => {
      end();
      return file.close();
    },
  };
}
