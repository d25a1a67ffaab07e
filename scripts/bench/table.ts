import type { Figures } from './measure.js';
import { median } from './statistics.js';

/** A figure counts as worse if it is worse by more than this part and lies outside both spreads. */
const WORSE = 1.1;

interface Column {
  readonly name: string;
  readonly runs: readonly Figures[];
}

/** The medians and spreads of all runs. Compares the first program with each of the others. */
export function tableOf([here, ...others]: readonly Column[]): string {
  const names = Object.keys(here?.runs[0] ?? {});
  const rows = names.map(name => {
    const mine = valuesOf(here, name);
    return [name, shown(mine), ...others.flatMap(other => compared(name, mine, valuesOf(other, name)))];
  });
  const head = ['figure', here?.name ?? '', ...others.flatMap(({ name }) => [name, 'ratio'])];
  return [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
}

/** The ratio is the median of the ratios of the runs, because the machine may differ between runs. */
function compared(name: string, mine: readonly number[], others: readonly number[]): string[] {
  if (others.some(Number.isNaN)) return ['', ''];
  const ratio = median(mine.map((value, run) => value / (others[run] ?? Number.NaN)));
  const isWorse = name.endsWith('/s')
    ? ratio < 1 / WORSE && Math.max(...mine) < Math.min(...others)
    : ratio > WORSE && Math.min(...mine) > Math.max(...others);
  return [shown(others), `${ratio.toFixed(2)}${isWorse ? ' WORSE' : ''}`];
}

function valuesOf(column: Column | undefined, name: string): number[] {
  return column?.runs.map(figures => figures[name] ?? Number.NaN) ?? [];
}

function shown(values: readonly number[]): string {
  const rounded = [median(values), Math.min(...values), Math.max(...values)].map(one =>
    Number(one.toPrecision(3)),
  );
  const [value, least, most] = rounded;
  return least === most ? `${value}` : `${value} (${least} to ${most})`;
}
