import type { StepResponse } from './step-response.js';

const WIDTH = 800;
const HEIGHT = 480;
const MARGIN = { left: 70, right: 20, top: 30, bottom: 45 };
const COLUMNS = 1000;

/** Distances of 1, 2 or 5 times a power of ten, at most eight of them. */
function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 8;
  const power = 10 ** Math.floor(Math.log10(raw));
  const distance = power * ([1, 2, 5].find(factor => factor * power >= raw) ?? 10);
  const first = Math.ceil(low / distance);
  const count = Math.floor(high / distance) - first + 1;
  return Array.from({ length: count }, (_, index) => Number(((first + index) * distance).toPrecision(12)));
}

/** Lowest and highest sample of each column, so that no peak is lost. */
function curve({ measured, periodS }: StepResponse): [number, number][] {
  const perColumn = Math.max(1, Math.ceil(measured.length / COLUMNS));
  const points: [number, number][] = [];
  for (let start = 0; start < measured.length; start += perColumn) {
    let low = start;
    let high = start;
    for (let index = start; index < Math.min(start + perColumn, measured.length); index += 1) {
      if ((measured[index] ?? 0) < (measured[low] ?? 0)) low = index;
      if ((measured[index] ?? 0) > (measured[high] ?? 0)) high = index;
    }
    const both = low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
    for (const index of both) points.push([index * periodS, measured[index] ?? 0]);
  }
  return points.filter(([, value]) => Number.isFinite(value));
}

/** The response as a picture. `setpoint` is drawn too, if there is one. */
export function stepChart(response: StepResponse, title: string, unit: string, setpoint?: number): string {
  const points = curve(response);
  const values = [0, ...(setpoint === undefined ? [] : [setpoint]), ...points.map(([, value]) => value)];
  const endS = Math.max(response.periodS, points.at(-1)?.[0] ?? 0);
  const low = Math.min(...values);
  const spread = Math.max(...values) - low || 1;
  const bottom = low - 0.05 * spread;
  const top = low + 1.05 * spread;
  const x = (timeS: number) =>
    (MARGIN.left + (timeS / endS) * (WIDTH - MARGIN.left - MARGIN.right)).toFixed(1);
  const y = (value: number) =>
    (
      HEIGHT -
      MARGIN.bottom -
      ((value - bottom) / (top - bottom)) * (HEIGHT - MARGIN.top - MARGIN.bottom)
    ).toFixed(1);
  const line = (x1: string, y1: string, x2: string, y2: string, style: string) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" ${style}/>`;
  const grid = 'stroke="#ddd"';
  const escaped = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="18">${escaped}</text>`,
    ...ticks(0, endS).flatMap(timeS => [
      line(x(timeS), y(bottom), x(timeS), y(top), grid),
      `<text x="${x(timeS)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${timeS}</text>`,
    ]),
    ...ticks(bottom, top).flatMap(value => [
      line(x(0), y(value), x(endS), y(value), grid),
      `<text x="${MARGIN.left - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value}</text>`,
    ]),
    `<text x="${WIDTH / 2}" y="${HEIGHT - 10}" text-anchor="middle">s</text>`,
    `<text x="12" y="${HEIGHT / 2}">${unit}</text>`,
    setpoint === undefined
      ? ''
      : line(x(0), y(setpoint), x(endS), y(setpoint), 'stroke="#888" stroke-dasharray="6 4"'),
    `<polyline fill="none" stroke="#0057b8" stroke-width="1.5" points="${points
      .map(([timeS, value]) => `${x(timeS)},${y(value)}`)
      .join(' ')}"/>`,
    '</svg>\n',
  ].join('\n');
}
