import type { Figures } from './measure.js';
import { median } from './statistics.js';

/**
 * For every figure, less is better. A figure counts as worse if it grew by more than this part and lies outside both
 * spreads.
 */
const WORSE = 1.1;

/** The medians and spreads of all runs, beside those of another build. */
export function tableOf(now: readonly Figures[], against: readonly Figures[] = []): string {
  const rows = Object.keys(now[0] ?? {}).map(name => {
    const [mine, others] = [valuesOf(now, name), valuesOf(against, name)];
    if (others.length === 0) return [name, shown(mine)];
    const ratio = median(mine) / median(others);
    const isWorse = ratio > WORSE && Math.min(...mine) > Math.max(...others);
    return [name, shown(mine), shown(others), `${ratio.toFixed(2)}${isWorse ? ' WORSE' : ''}`];
  });
  const head = ['figure', 'here', ...(against.length > 0 ? ['against', 'ratio'] : [])];
  return [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
}

function valuesOf(runs: readonly Figures[], name: string): number[] {
  return runs.map(figures => figures[name] ?? Number.NaN);
}

function shown(values: readonly number[]): string {
  const rounded = [median(values), Math.min(...values), Math.max(...values)].map(one =>
    Number(one.toPrecision(3)),
  );
  const [value, least, most] = rounded;
  return least === most ? `${value}` : `${value} (${least} to ${most})`;
}
