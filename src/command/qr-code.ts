/** Sizes of a code with error correction L, by version: data and correction bytes of each block, and blocks. */
const VERSIONS = [
  { version: 2, data: 34, correction: 10, blocks: 1 },
  { version: 3, data: 55, correction: 15, blocks: 1 },
  { version: 4, data: 80, correction: 20, blocks: 1 },
  { version: 5, data: 108, correction: 26, blocks: 1 },
  { version: 6, data: 68, correction: 18, blocks: 2 },
] as const;
/** The format bits of error correction L with mask 0. */
const FORMAT = 0x77c4;
const QUIET_ZONE = 4;

/**
 * The QR code of a text, as lines of half blocks for a dark terminal. Undefined if the text has more than 134 bytes.
 * Mask 0 is always used: decoders read every mask.
 */
export function qrCode(text: string): string | undefined {
  const bytes = Buffer.from(text);
  // Mode, length and terminator take two bytes.
  const size = VERSIONS.find(({ data, blocks }) => bytes.length + 2 <= data * blocks);
  if (size === undefined) return undefined;
  const bits = codewords(bytes, size).flatMap(byte =>
    Array.from({ length: 8 }, (_, at) => (byte >> (7 - at)) & 1),
  );
  return halfBlocks(matrix(size.version, bits));
}

function codewords(bytes: Buffer, { data, correction, blocks }: (typeof VERSIONS)[number]): number[] {
  // Four bits of mode and eight of length shift the text by half a byte.
  const hex = `4${bytes.length.toString(16).padStart(2, '0')}${bytes.toString('hex')}0`;
  const all = [...Buffer.from(hex, 'hex')];
  for (let pad = 0xec; all.length < data * blocks; pad ^= 0xec ^ 0x11) all.push(pad);
  const parts = Array.from({ length: blocks }, (_, block) => all.slice(block * data, (block + 1) * data));
  const checks = parts.map(part => correctionOf(part, correction));
  return [...interleaved(parts), ...interleaved(checks)];
}

function interleaved(parts: readonly (readonly number[])[]): number[] {
  return (parts[0] ?? []).flatMap((_, at) => parts.map(part => part[at] ?? 0));
}

/** The remainder of the Reed-Solomon division. */
function correctionOf(data: readonly number[], length: number): number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < length; power += 1, root = times(root, 2)) {
    const shifted = [...generator, 0];
    generator = shifted.map((one, at) => one ^ times(generator[at - 1] ?? 0, root));
  }
  const rest = [...data, ...Array<number>(length).fill(0)];
  data.forEach((_, at) => {
    const factor = rest[at] ?? 0;
    generator.forEach((one, offset) => {
      rest[at + offset] = (rest[at + offset] ?? 0) ^ times(one, factor);
    });
  });
  return rest.slice(data.length);
}

/** The product in the field of 256 elements. */
function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    if ((other >> bit) & 1) product ^= one;
  }
  return product;
}

/** The dark modules, row by row. */
function matrix(version: number, bits: readonly number[]): boolean[][] {
  const size = 17 + 4 * version;
  const rows = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined));
  const set = (x: number, y: number, isDark: boolean) => {
    const row = rows[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark;
  };
  const square = (x: number, y: number, radius: number, light: readonly number[]) => {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, [2, 4]);
  square(size - 7, size - 7, 2, [1]);
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = ((FORMAT >> bit) & 1) === 1;
    // Row and column 6 have the timing pattern.
    const near = bit < 6 ? bit : bit < 8 ? bit + 1 : bit === 8 ? 7 : 14 - bit;
    if (bit < 8) set(8, near, isDark);
    else set(near, 8, isDark);
    if (bit < 8) set(size - 1 - bit, 8, isDark);
    else set(8, size - 15 + bit, isDark);
  }
  set(8, size - 8, true);
  let next = 0;
  // Two columns at a time, upwards and downwards in turn, from the right.
  for (let pair = 0; pair < (size - 1) / 2; pair += 1) {
    const right = size - 1 - 2 * pair - (size - 1 - 2 * pair <= 6 ? 1 : 0);
    for (let step = 0; step < 2 * size; step += 1) {
      const x = right - (step % 2);
      const y = pair % 2 === 0 ? size - 1 - (step >> 1) : step >> 1;
      if (rows[y]?.[x] === undefined) set(x, y, (bits[next++] === 1) !== ((x + y) % 2 === 0));
    }
  }
  return rows.map(row => row.map(one => one === true));
}

function halfBlocks(rows: readonly (readonly boolean[])[]): string {
  const isLight = (x: number, y: number) => rows[y]?.[x] !== true;
  const length = rows.length + 2 * QUIET_ZONE;
  const line = (_: unknown, pair: number) =>
    Array.from({ length }, (_, column) => {
      const [x, y] = [column - QUIET_ZONE, 2 * pair - QUIET_ZONE];
      return isLight(x, y) ? (isLight(x, y + 1) ? '█' : '▀') : isLight(x, y + 1) ? '▄' : ' ';
    }).join('');
  return Array.from({ length: Math.ceil(length / 2) }, line).join('\n');
}
