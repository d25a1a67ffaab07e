/** Version 5 with error correction L: its modules a side, and its bytes, all in one block. */
const SIDE = 37;
const DATA = 108;
const CORRECTION = 26;
/** The format bits of error correction L with mask 0. */
const FORMAT = 0x77c4;
const QUIET_ZONE = 4;

/**
 * The QR code of a text, as lines of half blocks for a dark terminal. Undefined if the text has more than 106 bytes.
 * Version 5 and mask 0 are always used: decoders read every version and every mask.
 */
export function qrCode(text: string): string | undefined {
  const bytes = Buffer.from(text);
  // Mode, length and terminator take two bytes.
  if (bytes.length + 2 > DATA) return undefined;
  const bits = codewords(bytes).flatMap(byte => Array.from({ length: 8 }, (_, at) => (byte >> (7 - at)) & 1));
  return halfBlocks(matrix(bits));
}

function codewords(bytes: Buffer): number[] {
  // Four bits of mode and eight of length shift the text by half a byte.
  const hex = `4${bytes.length.toString(16).padStart(2, '0')}${bytes.toString('hex')}0`;
  const data = [...Buffer.from(hex, 'hex')];
  for (let pad = 0xec; data.length < DATA; pad ^= 0xec ^ 0x11) data.push(pad);
  return [...data, ...correctionOf(data)];
}

/** The remainder of the Reed-Solomon division. */
function correctionOf(data: readonly number[]): number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < CORRECTION; power += 1, root = times(root, 2)) {
    const shifted = [...generator, 0];
    generator = shifted.map((one, at) => one ^ times(generator[at - 1] ?? 0, root));
  }
  const rest = [...data, ...Array<number>(CORRECTION).fill(0)];
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
function matrix(bits: readonly number[]): boolean[][] {
  const rows = Array.from({ length: SIDE }, () => Array<boolean | undefined>(SIDE).fill(undefined));
  const set = (x: number, y: number, isDark: boolean) => {
    const row = rows[y];
    if (row !== undefined && x >= 0 && x < SIDE) row[x] = isDark;
  };
  const square = (x: number, y: number, radius: number, light: readonly number[]) => {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let at = 0; at < SIDE; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  square(3, 3, 4, [2, 4]);
  square(SIDE - 4, 3, 4, [2, 4]);
  square(3, SIDE - 4, 4, [2, 4]);
  square(SIDE - 7, SIDE - 7, 2, [1]);
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = ((FORMAT >> bit) & 1) === 1;
    // Row and column 6 have the timing pattern.
    const near = bit < 6 ? bit : bit < 8 ? bit + 1 : bit === 8 ? 7 : 14 - bit;
    if (bit < 8) set(8, near, isDark);
    else set(near, 8, isDark);
    if (bit < 8) set(SIDE - 1 - bit, 8, isDark);
    else set(8, SIDE - 15 + bit, isDark);
  }
  set(8, SIDE - 8, true);
  let next = 0;
  // Two columns at a time, upwards and downwards in turn, from the right.
  for (let pair = 0; pair < (SIDE - 1) / 2; pair += 1) {
    const right = SIDE - 1 - 2 * pair - (SIDE - 1 - 2 * pair <= 6 ? 1 : 0);
    for (let step = 0; step < 2 * SIDE; step += 1) {
      const x = right - (step % 2);
      const y = pair % 2 === 0 ? SIDE - 1 - (step >> 1) : step >> 1;
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
