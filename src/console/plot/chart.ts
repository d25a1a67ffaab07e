import type { ReadonlySignal } from '@preact/signals';
import uPlot from 'uplot';
import type { Quantity } from '../../core/units.js';
import type { Palette } from '../parts/palette.js';

/** The unit of values; `%` where they are parts of something. */
export type ChartUnit = Quantity | '%';

export interface ChartSeries {
  readonly label: string;
  readonly colour: keyof Palette;
  readonly width?: number;
  readonly dash?: number[];
  readonly scale?: string;
  readonly show?: boolean;
}

export interface ChartOptions {
  readonly host: HTMLElement;
  readonly palette: ReadonlySignal<Palette>;
  readonly series: readonly ChartSeries[];
  /** The time at which the axis reads 0. */
  readonly zeroT: () => number;
  readonly range: () => [number, number];
  /** Whether the values of scale `output`, on the right, are shown now; without it there are none. */
  readonly showsOutput?: () => boolean;
  /** Whether the axis always includes 0. */
  readonly keepsZero?: () => boolean;
  /** The range of y while it is locked. */
  readonly lockedY?: () => readonly [number, number] | undefined;
  readonly quantity: () => ChartUnit;
  readonly outputQuantity?: () => ChartUnit;
  readonly onZoom?: (fromT: number, toT: number) => void;
  readonly onCursor?: (index: number | null) => void;
  readonly draw?: (chart: uPlot, palette: Palette) => void;
}

const FONT = '11px system-ui, sans-serif';
/** The least range of the y axis, so that noise is not enlarged. */
const LEAST_SPANS: Readonly<Record<ChartUnit, number>> = { rad: 0.02, m: 0.05, 'm/s': 0.1, V: 1, '%': 20 };

/** Makes a uPlot chart with a time axis relative to `zeroT`, a zero line, the page's colours and its host's size. */
export function createChart(options: ChartOptions): uPlot {
  const { host, palette, series } = options;
  const colour = (name: keyof Palette) => () => palette.peek()[name];
  const outputQuantity = options.outputQuantity ?? options.quantity;
  const axis = {
    stroke: colour('dim'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
    font: FONT,
  };
  const outputAxis = (isShown: () => boolean): uPlot.Axis => ({
    ...axis,
    scale: 'output',
    side: 1,
    size: () => (isShown() ? 48 : 8),
    stroke: colour('output'),
    grid: { show: false },
    values: (_, at) => (isShown() ? withUnit(at, outputQuantity()) : []),
  });
  const chart = new uPlot(
    {
      width: Math.max(200, host.clientWidth),
      height: heightOf(host),
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: options.onZoom !== undefined, y: false, setScale: false },
        points: { show: false },
        y: false,
        bind: { dblclick: () => null },
      },
      scales: {
        x: { time: false, range: options.range },
        y: {
          range: (_, min, max) => {
            const locked = options.lockedY?.();
            if (locked !== undefined) return [...locked];
            const least = LEAST_SPANS[options.quantity()];
            return options.keepsZero?.() === false ? closely(min, max, least) : withZero(min, max, least);
          },
        },
        output: { range: (_, min, max) => withZero(min, max, LEAST_SPANS[outputQuantity()]) },
      },
      axes: [
        {
          ...axis,
          size: 26,
          splits: (_, __, min, max, increment) => splits(min, max, increment, options.zeroT()),
          values: (_, at) => at.map(t => secondsText(t - options.zeroT())),
        },
        { ...axis, size: 64, values: (_, at) => withUnit(at, options.quantity()) },
        ...(options.showsOutput === undefined ? [] : [outputAxis(options.showsOutput)]),
      ],
      series: [
        {},
        ...series.map(one => ({
          label: one.label,
          scale: one.scale ?? 'y',
          stroke: colour(one.colour),
          width: one.width ?? 1.5,
          show: one.show ?? true,
          ...(one.dash !== undefined && { dash: one.dash }),
          points: { show: false },
        })),
      ],
      hooks: {
        drawAxes: [plot => drawZero(plot, palette.peek())],
        draw: [plot => options.draw?.(plot, palette.peek())],
        setCursor: [plot => options.onCursor?.(plot.cursor.idx ?? null)],
        setSelect: [
          plot => {
            const { left, width } = plot.select;
            if (width < 4) return;
            options.onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [[], ...series.map(() => [])],
    host,
  );
  const resized = new ResizeObserver(() => {
    if (host.clientWidth > 0) chart.setSize({ width: host.clientWidth, height: heightOf(host) });
  });
  resized.observe(host);
  const stopListening = palette.subscribe(() => chart.redraw(false, true));
  chart.hooks.destroy = [
    () => {
      resized.disconnect();
      stopListening();
    },
  ];
  return chart;
}

/** The height that the style sheet sets. */
function heightOf(host: HTMLElement): number {
  return Math.max(100, host.clientHeight);
}

function withZero(min: number | null, max: number | null, least: number): [number, number] {
  const low = Math.min(0, min ?? 0);
  const high = Math.max(0, max ?? 0);
  const more = Math.max(0, least - (high - low)) / 2;
  const room = (high - low) * 0.08 + more;
  return [low - room, high + room];
}

/** A range that just contains the values. */
function closely(min: number | null, max: number | null, least: number): [number, number] {
  const [low, high] = [min ?? 0, max ?? 0];
  const room = Math.max((high - low) * 0.08, (least - (high - low)) / 2);
  return [low - room, high + room];
}

/** Writes the unit at the uppermost value. */
function withUnit(values: readonly number[], unit: string): string[] {
  return values.map((value, index) =>
    index === values.length - 1 ? `${valueText(value)} ${unit}` : valueText(value),
  );
}

function splits(min: number, max: number, increment: number, zeroT: number): number[] {
  const first = Math.ceil((min - zeroT) / increment);
  const last = Math.floor((max - zeroT) / increment);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => zeroT + (first + index) * increment,
  );
}

function secondsText(seconds: number): string {
  const text = String(Number(seconds.toFixed(3))).replace('-', '−');
  return `${text === '−0' ? '0' : text} s`;
}

function valueText(value: number): string {
  return String(Number(value.toPrecision(6))).replace('-', '−');
}

function drawZero(plot: uPlot, palette: Palette): void {
  const y = Math.round(plot.valToPos(0, 'y', true)) + 0.5;
  const { ctx, bbox } = plot;
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = palette.zero;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
