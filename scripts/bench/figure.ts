import { median } from './statistics.js';

/** What was measured, round by round, and what it is measured by. */
export interface Figure {
  readonly name: string;
  /** The unit of the values and of the yardstick: ms, /s, %, MiB; `ratio` where the figure is the ratio of both. */
  readonly unit: string;
  /** One value a round. */
  readonly values: readonly number[];
  readonly yardstick?: { readonly name: string; readonly values: readonly number[] };
  /** What is wanted of it, in words. */
  readonly wanted?: string | undefined;
  readonly note?: string;
}

export interface Summary {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly yardstick?: string;
  readonly yardstickValue?: number;
  /** Median over the rounds of value / yardstick, with its spread. */
  readonly ratio?: number;
  readonly ratioLeast?: number;
  readonly ratioMost?: number;
  readonly wanted?: string;
  readonly note?: string;
}

export function summarize({ name, unit, values, yardstick, wanted, note }: Figure): Summary {
  const ratios = yardstick?.values.map((by, round) => (values[round] ?? Number.NaN) / by);
  return {
    name,
    unit,
    value: median(values),
    least: Math.min(...values),
    most: Math.max(...values),
    ...(yardstick !== undefined && { yardstick: yardstick.name, yardstickValue: median(yardstick.values) }),
    ...(ratios !== undefined && {
      ratio: median(ratios),
      ratioLeast: Math.min(...ratios),
      ratioMost: Math.max(...ratios),
    }),
    wanted,
    note,
  };
}

/** Produced, and no nonsense: every number finite, and none below zero. */
export function isSane(summary: Summary): boolean {
  const numbers = [summary.value, summary.least, summary.most, summary.yardstickValue, summary.ratio];
  return numbers.every(value => value === undefined || (Number.isFinite(value) && value >= 0));
}

export function tableOf(summaries: readonly Summary[]): string {
  const rows = summaries.map(one => [
    one.name,
    `${shown(one.value)} ${one.unit}`,
    one.least === one.most ? '' : `${shown(one.least)} to ${shown(one.most)}`,
    one.yardstick === undefined ? '' : `${shown(one.yardstickValue)} ${one.unit}, ${one.yardstick}`,
    one.ratio === undefined
      ? ''
      : `${shown(one.ratio)} (${shown(one.ratioLeast)} to ${shown(one.ratioMost)})`,
    one.wanted ?? '',
  ]);
  const all = [['figure', 'value', 'spread', 'yardstick', 'ratio', 'wanted'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0))) ?? [];
  const lines = all.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const notes = summaries.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
  return [...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function shown(value: number | undefined): string {
  if (value === undefined) return '';
  if (value === 0 || Math.abs(value) >= 1000) return value.toFixed(0);
  return value.toPrecision(3);
}
