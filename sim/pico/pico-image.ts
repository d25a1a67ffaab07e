import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Unit } from '../../src/core/units.js';

/** The first block of an image. The bootrom checks its checksum, the last word, before it starts the image. */
export const BOOT2_BYTES = 256;

/** A compiled image, and the places of its variables in memory. */
export interface PicoImage {
  readonly bytes: Uint8Array;
  /** The file that describes the robot. */
  readonly robot: string;
  readonly variables: ReadonlyMap<string, { readonly address: number; readonly bytes: number }>;
}

/**
 * The image that scripts/firmware/image compiled to this folder. Throws if the bootrom would not start it. Needs the Debian package
 * binutils-arm-none-eabi.
 */
export function picoImage({ name }: Unit, folder = 'dist/firmware'): PicoImage {
  const bytes = readFileSync(`${folder}/${name}.bin`);
  const end = BOOT2_BYTES - 4;
  if (bootChecksum(bytes.subarray(0, end)) !== bytes.readUInt32LE(end))
    throw new RangeError('not bootable: the checksum');
  const symbols = execFileSync('arm-none-eabi-nm', ['-S', `${folder}/${name}.elf`], { encoding: 'utf8' });
  const variables = [...symbols.matchAll(/^(\w+) (\w+) [bd] (\w+)$/gim)].map(
    ([, address = '', size = '', symbol = '']) =>
      [symbol, { address: Number.parseInt(address, 16), bytes: Number.parseInt(size, 16) }] as const,
  );
  return { bytes, robot: `${folder}/robot/robot.h`, variables: new Map(variables) };
}

/** CRC-32, not reflected, without a final exclusive-or. */
function bootChecksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum & 0x80000000 ? 0x04c11db7 : 0);
  }
  return sum >>> 0;
}
