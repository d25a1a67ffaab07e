import { signal } from '@preact/signals';
import uPlot from 'uplot';
import type { Quantity } from '../../core/units.js';
import type { PlotSettings } from '../model/plot-window.js';
import { RUN_COLOURS } from '../model/runs.js';

const NAMES = ['panel', 'ink', 'dim', 'grid', 'zero', 'accent', 'edited', 'output', ...RUN_COLOURS] as const;
type Palette = Readonly<Record<(typeof NAMES)[number], string>>;
type Colour = keyof Palette;

/** The style sheet's colours, for drawing on canvases. */
const palette = signal(readPalette());
matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
  palette.value = readPalette();
});

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const entries = NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries);
}

/** The unit of the values. `%` for percentages. */
export type ChartUnit = Quantity | '%';

type ChartSeries = Pick<uPlot.Series, 'width' | 'dash' | 'scale' | 'show'> & {
  readonly colour: Colour;
};

interface ChartOptions {
  readonly host: HTMLElement;
  readonly series: readonly ChartSeries[];
  readonly quantity: () => ChartUnit;
  readonly outputQuantity?: Quantity;
  /** The window and the axes that the person chose. Without them the chart shows all of its data. */
  readonly settings?: PlotSettings;
  /** The latest time that the axis shows. The axis ends earlier if the data does. */
  readonly untilT?: () => number;
  /** The range of y while it is locked. */
  readonly lockedY?: () => [number, number] | undefined;
  readonly onCursor?: (index: number | null) => void;
  readonly draw?: (chart: uPlot) => void;
}

const FONT = 'px system-ui, sans-serif';
const FONT_PX = 11;
/** The smallest range of the bus retries in a second. */
const LEAST_RETRIES = 20;
/** The smallest range of the y axis, so that noise is not magnified. */
const LEAST_SPANS: Readonly<Record<ChartUnit, number>> = { rad: 0.02, m: 0.05, 'm/s': 0.1, V: 1, '%': 20 };

/** Makes a uPlot chart with a time axis relative to `zeroT`, a zero line, the page's colours and its host's size. */
export function createChart(options: ChartOptions): uPlot {
  const { host, series, quantity, settings, outputQuantity = 'V' } = options;
  const zeroT = () => settings?.view.zeroT ?? 0;
  const colour = (name: Colour) => () => palette.peek()[name];
  const axis = {
    stroke: colour('dim'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
    font: FONT_PX + FONT,
  };
  const showsOutput = () => settings?.showsOutput.peek() === true;
  const chart = new uPlot(
    {
      width: Math.max(200, host.clientWidth),
      height: heightOf(host),
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: settings !== undefined, y: false, setScale: false },
        points: { show: false },
        y: false,
        bind: { dblclick: () => null },
      },
      scales: {
        x: {
          time: false,
          range: (_, min, max) => settings?.view.range ?? [min, Math.min(max, options.untilT?.() ?? max)],
        },
        y: {
          range: (_, min, max) => {
            const zero = settings?.keepsZero.peek() === false ? [] : [0];
            return options.lockedY?.() ?? around([...zero, min, max], LEAST_SPANS[quantity()]);
          },
        },
        output: { range: (_, min, max) => around([0, min, max], LEAST_SPANS[outputQuantity]) },
        retries: { range: (_, __, max) => [0, Math.max(LEAST_RETRIES, max ?? 0)] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          splits: (_, __, min, max, increment) => splits(min, max, increment, zeroT()),
          values: (_, at) => at.map(t => `${valueText(Number((t - zeroT()).toFixed(3)))} s`),
        },
        { ...axis, size: 64, values: (_, at) => withUnit(at, quantity()) },
        {
          ...axis,
          scale: 'output',
          side: 1,
          size: () => (showsOutput() ? 48 : 8),
          stroke: colour('output'),
          grid: { show: false },
          values: (_, at) => (showsOutput() ? withUnit(at, outputQuantity) : []),
        },
      ],
      series: [
        {},
        ...series.map(one => ({ width: 1.5, ...one, stroke: colour(one.colour), points: { show: false } })),
      ],
      hooks: {
        drawAxes: [drawZero],
        draw: [plot => options.draw?.(plot)],
        setCursor: [plot => options.onCursor?.(plot.cursor.idx ?? null)],
        setSelect: [
          plot => {
            const { left, width } = plot.select;
            if (width < 4) return;
            settings?.view.zoom(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
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

/** A range with some room around the values. */
function around(values: readonly (number | null)[], least: number): [number, number] {
  const known = values.map(value => value ?? 0);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = Math.max((high - low) * 0.08, (least - (high - low)) / 2);
  return [low - room, high + room];
}

/** Writes the unit beside the uppermost value. */
function withUnit(values: readonly number[], unit: string): string[] {
  return values.map((value, index) => valueText(value) + (index === values.length - 1 ? ` ${unit}` : ''));
}

function splits(min: number, max: number, increment: number, zeroT: number): number[] {
  const first = Math.ceil((min - zeroT) / increment);
  const last = Math.floor((max - zeroT) / increment);
  const length = Math.max(0, last - first + 1);
  return Array.from({ length }, (_, index) => zeroT + (first + index) * increment);
}

function valueText(value: number): string {
  return String(Number(value.toPrecision(6))).replace('-', '−');
}

/**
 * Draws over the lines of a chart, in one colour and only inside the plot. `ratio` is the canvas pixels of
 * one CSS pixel, and `behind` the colour behind the chart.
 */
export function drawOver(
  { ctx, bbox }: uPlot,
  colour: Colour,
  draw: (ctx: CanvasRenderingContext2D, bbox: uPlot.BBox, ratio: number, behind: string) => void,
): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = FONT_PX * devicePixelRatio + FONT;
  ctx.fillStyle = palette.peek()[colour];
  ctx.strokeStyle = ctx.fillStyle;
  draw(ctx, bbox, devicePixelRatio, palette.peek().panel);
  ctx.restore();
}

function drawZero({ ctx, bbox, valToPos }: uPlot): void {
  const y = Math.round(valToPos(0, 'y', true));
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.fillStyle = palette.peek().zero;
  ctx.fillRect(bbox.left, y, bbox.width, devicePixelRatio);
}
