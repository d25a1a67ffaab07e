import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** Writes the checksums into a binary image for the RP2040, and converts it to UF2. Argument: its path without `.bin`. */

const FLASH = 0x10000000;
const STAGE_BYTES = 256;
/** The facts follow the image's 48 vectors: its length, and the CRC-32 over this length with 0 in place of the CRC. */
const FACTS = STAGE_BYTES + 48 * 4;
const LARGEST_BYTES = 32 * 1024;

const PAYLOAD_BYTES = 256;
/** The bootrom erases a sector when its first block arrives, so blocks fill whole sectors (erratum RP2040-E14). */
const SECTOR_BYTES = 4096;
const RP2040 = 0xe48bff56;
const HAS_FAMILY = 0x2000;

const path = process.argv[2] ?? '';
const image = readFileSync(`${path}.bin`);
if (image.length > LARGEST_BYTES || image.readUInt32LE(FACTS) !== image.length - STAGE_BYTES) {
  console.error(
    `${path}.bin has ${image.length} bytes, or its length is wrong; at most ${LARGEST_BYTES} fit`,
  );
  process.exit(1);
}
image.writeUInt32LE(0, FACTS + 4);
const imageCrc = crc32(image.subarray(STAGE_BYTES));
image.writeUInt32LE(imageCrc, FACTS + 4);
image.writeUInt32LE(bootromCrc(image.subarray(0, STAGE_BYTES - 4)), STAGE_BYTES - 4);
writeFileSync(`${path}.bin`, image);
writeFileSync(`${path}.uf2`, uf2(image));
console.log(`${image.length} bytes, build ${imageCrc.toString(16).padStart(8, '0')}`);

/** CRC-32 as the bootrom computes it over the second stage: not reflected, no final exclusive-or. */
function bootromCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  return crc >>> 0;
}

function uf2(bytes: Buffer): Buffer {
  const whole = Buffer.alloc(Math.ceil(bytes.length / SECTOR_BYTES) * SECTOR_BYTES);
  bytes.copy(whole);
  const blocks = whole.length / PAYLOAD_BYTES;
  return Buffer.concat(
    Array.from({ length: blocks }, (_, index) => {
      const block = Buffer.alloc(512);
      const at = index * PAYLOAD_BYTES;
      const head = [0x0a324655, 0x9e5d5157, HAS_FAMILY, FLASH + at, PAYLOAD_BYTES, index, blocks, RP2040];
      for (const [place, word] of head.entries()) block.writeUInt32LE(word, 4 * place);
      whole.copy(block, 32, at, at + PAYLOAD_BYTES);
      block.writeUInt32LE(0x0ab16f30, 508);
      return block;
    }),
  );
}
