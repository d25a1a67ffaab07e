/** Counts values by upper bounds, with their sum, as Prometheus does. */
export class Histogram {
  readonly bounds: readonly number[];
  /** The last one counts the values above all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = [...bounds, 0].map(() => 0);
  }

  observe(value: number): void {
    const bound = this.bounds.findIndex(one => value <= one);
    const place = bound < 0 ? this.bounds.length : bound;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}

type Labels = Readonly<Record<string, string>>;
type Value = number | boolean | Histogram | undefined;

/** Name, help, and what is read at the scrape: a value for each set of labels. An undefined value has no line. */
export type Metric<Source> = readonly [
  name: string,
  help: string,
  read: (source: Source) => Iterable<readonly [Labels, Value]>,
];

/** A table of metrics in the text format of Prometheus. The name of a counter ends in `_total`. */
export function metricsText<Source>(table: readonly Metric<Source>[], source: Source): string {
  return table
    .map(([name, help, read]) => {
      const values = [...read(source)].filter(([, value]) => value !== undefined);
      const isHistogram = values.some(([, value]) => value instanceof Histogram);
      const type = isHistogram ? 'histogram' : name.endsWith('_total') ? 'counter' : 'gauge';
      const lines = values.flatMap(([labels, value]) => linesOf(name, labels, value));
      return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

function linesOf(name: string, labels: Labels, value: Value): string[] {
  if (!(value instanceof Histogram)) return [line(name, labels, Number(value))];
  let count = 0;
  const buckets = value.counts.map((inBucket, place) => {
    count += inBucket;
    return line(`${name}_bucket`, { ...labels, le: String(value.bounds[place] ?? '+Inf') }, count);
  });
  return [...buckets, line(`${name}_sum`, labels, value.sum), line(`${name}_count`, labels, count)];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}${pairs.length > 0 ? `{${pairs}}` : ''} ${value}\n`;
}
