export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly colour: string;
  readonly isDashed?: boolean;
}

interface LineChart {
  readonly title: string;
  readonly across: string;
  readonly up: string;
  readonly curves: readonly Curve[];
}

const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 64;
const RIGHT = 16;
const TOP = 40;
const BOTTOM = 48;
const TICKS = 5;

/** A chart as SVG on a white background. */
export function lineChart({ title, across, up, curves }: LineChart): string {
  const xs = spanOf(curves.flatMap(({ points }) => points.map(([x]) => x)));
  const ys = spanOf(curves.flatMap(({ points }) => points.map(([, y]) => y)));
  const xAt = (x: number) => LEFT + ((x - xs.min) / (xs.max - xs.min)) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number) => HEIGHT - BOTTOM - ((y - ys.min) / (ys.max - ys.min)) * (HEIGHT - TOP - BOTTOM);
  const part = (index: number, { min, max }: Span) => min + (index / TICKS) * (max - min);
  const lines = Array.from({ length: TICKS + 1 }, (_, index) => {
    const [x, y] = [part(index, xs), part(index, ys)];
    return [
      `<path d="M${LEFT} ${at(yAt(y))}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${at(yAt(y) + 4)}" text-anchor="end">${label(y, ys)}</text>`,
      `<text x="${at(xAt(x))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${label(x, xs)}</text>`,
    ].join('\n');
  });
  const drawn = curves.map(({ points, colour, isDashed }) => {
    const path = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${at(xAt(x))} ${at(yAt(y))}`);
    const dashes = isDashed ? ' stroke-dasharray="6 4"' : '';
    return `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>`;
  });
  const names = curves.map(({ name, colour }, index) => {
    const x = LEFT + index * ((WIDTH - LEFT - RIGHT) / curves.length);
    return `<text x="${at(x)}" y="${TOP - 8}" fill="${colour}">${name}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="16" font-weight="bold">${title}</text>`,
    ...lines,
    ...drawn,
    ...names,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${across}</text>`,
    `<text transform="translate(14 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${up}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

interface Span {
  readonly min: number;
  readonly max: number;
}

/** The span of the values, with a margin at both ends. */
function spanOf(values: readonly number[]): Span {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const room = 0.04 * (max - min);
  return min === 0 ? { min, max } : { min: min - room, max: max + room };
}

function label(value: number, { min, max }: Span): string {
  const places = Math.max(0, 2 - Math.floor(Math.log10(max - min)));
  return value.toFixed(Math.min(places, 4));
}

function at(pixels: number): string {
  return pixels.toFixed(1);
}
