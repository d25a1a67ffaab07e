import type uPlot from 'uplot';
import type { UnitName } from '../../core/units.js';
import type { PlotSettings } from '../model/plot-window.js';
import type { Mark } from '../model/telemetry.js';
import { drawOver } from './chart.js';

const LINE_PX = 12;
const LINES = 3;
const HALO_PX = 4;

/** Draws a line with a text at each change. Texts that would overlap are drawn below one another. */
export function drawMarks(plot: uPlot, marks: readonly Mark[], unit: UnitName): void {
  const { min, max } = plot.scales.x ?? {};
  const shown = marks.filter(
    mark => mark.t >= (min ?? 0) && mark.t <= (max ?? 0) && (mark.unit ?? unit) === unit,
  );
  /** Where the last text of each line ends. */
  const ends: number[] = Array.from({ length: LINES }, () => 0);
  drawOver(plot, 'ink', (ctx, bbox, ratio, behind) => {
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    const places = shown.map(({ t, text }) => {
      const x = Math.round(plot.valToPos(t, 'x', true)) + 0.5;
      drawVertical(plot, x);
      return { x, lines: wrapped(ctx, text, bbox.width) };
    });
    // The halo keeps the text readable over a trace.
    ctx.setLineDash([]);
    ctx.strokeStyle = behind;
    ctx.lineWidth = HALO_PX * ratio;
    ctx.lineJoin = 'round';
    for (const { x, lines } of places) {
      const width = Math.max(...lines.map(line => ctx.measureText(line).width));
      const left = Math.min(x + 4 * ratio, bbox.left + bbox.width - width);
      const free = ends.findIndex((_, at) => ends.slice(at, at + lines.length).every(end => end < left));
      for (const [below, line] of lines.entries()) {
        const at = Math.max(0, free) + below;
        ends[at] = left + width + 4 * ratio;
        const y = bbox.top + (at + 1) * LINE_PX * ratio;
        ctx.strokeText(line, left, y);
        ctx.fillText(line, left, y);
      }
    }
  });
}

/** Breaks a text between words into lines of at most this width. */
function wrapped(ctx: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && ctx.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function drawVertical({ ctx, bbox }: uPlot, x: number): void {
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
}

/** Shades the times without readings, and writes how long each of them is. */
export function drawGaps(plot: uPlot, gaps: readonly (readonly [number, number])[]): void {
  drawOver(plot, 'dim', (ctx, bbox, ratio) => {
    let freePx = bbox.left + bbox.width;
    for (const [fromT, toT] of [...gaps].reverse()) {
      const [from, to] = [plot.valToPos(fromT, 'x', true), plot.valToPos(toT, 'x', true)];
      if (from >= bbox.left + bbox.width || to <= bbox.left) continue;
      ctx.globalAlpha = 0.2;
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      ctx.globalAlpha = 1;
      ctx.textAlign = 'right';
      const right = Math.min(to, bbox.left + bbox.width) - 4 * ratio;
      // The text of an older gap is left out where it would overlap.
      if (right > freePx) continue;
      const text = `${(toT - fromT).toFixed(1)} s without data`;
      ctx.fillText(text, right, bbox.top + bbox.height - 6 * ratio);
      freePx = right - ctx.measureText(text).width;
    }
  });
}

/** Draws the picked moments, and shades the range between them. */
export function drawPicks(plot: uPlot, picks: readonly number[]): void {
  drawOver(plot, 'edited', (ctx, bbox, ratio) => {
    ctx.lineWidth = 1.5 * ratio;
    const places = picks.map(t => plot.valToPos(t, 'x', true));
    for (const x of places) drawVertical(plot, x);
    const [from = 0, to = from] = places;
    ctx.globalAlpha = 0.12;
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
  });
}

const WHEEL_FACTOR = 1.2;
const SLIP_PX = 5;

/**
 * Wheel and pinch zoom. A press picks a moment. A double press resets the zoom. The cursor disappears when a finger
 * is lifted.
 */
export function listenToGestures(chart: uPlot, settings: PlotSettings): void {
  const { over } = chart;
  const { view } = settings;
  const fingers = new Map<number, number>();
  const xOf = (event: MouseEvent) => event.clientX - over.getBoundingClientRect().left;
  const spread = () => {
    const [one = 0, other = 0] = [...fingers.values()];
    return { middle: (one + other) / 2, width: Math.max(10, Math.abs(one - other)) };
  };
  let pressedX = Number.NaN;
  let byTouch = false;
  const forgetCursor = () => chart.setCursor({ left: -10, top: -10 });

  over.addEventListener(
    'wheel',
    event => {
      event.preventDefault();
      view.zoomAround(chart.posToVal(xOf(event), 'x'), event.deltaY < 0 ? 1 / WHEEL_FACTOR : WHEEL_FACTOR);
    },
    { passive: false },
  );
  over.addEventListener('pointerdown', event => {
    pressedX = xOf(event);
    byTouch = event.pointerType === 'touch';
    if (byTouch) fingers.set(event.pointerId, pressedX);
  });
  over.addEventListener('pointermove', event => {
    if (!fingers.has(event.pointerId)) return;
    const before = spread();
    fingers.set(event.pointerId, xOf(event));
    if (fingers.size !== 2) return;
    pressedX = Number.NaN;
    const after = spread();
    view.zoomAround(chart.posToVal(after.middle, 'x'), before.width / after.width);
  });
  over.addEventListener('click', event => {
    if (Math.abs(xOf(event) - pressedX) <= SLIP_PX) settings.pick(chart.posToVal(xOf(event), 'x'));
    // After a tap, the browser sends mouse events, which show the cursor again. The click is the last of
    // them.
    if (byTouch) forgetCursor();
  });
  over.addEventListener('dblclick', () => settings.reset());
  const leave = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    if (event.pointerType === 'touch') forgetCursor();
  };
  over.addEventListener('pointerup', leave);
  over.addEventListener('pointercancel', leave);
}
