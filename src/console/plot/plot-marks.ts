import type uPlot from 'uplot';
import type { UnitName } from '../../core/units.js';
import type { Mark } from '../model/timeline.js';
import type { Palette } from '../parts/palette.js';

const LINE_PX = 12;
const LINES = 3;

/** The moments at which something was changed, each with its word; words that would meet stand below one another. */
export function drawMarks(plot: uPlot, palette: Palette, marks: readonly Mark[], unit: UnitName): void {
  const { ctx, bbox, scales } = plot;
  const { min = 0, max = 0 } = scales.x ?? {};
  const ratio = devicePixelRatio;
  const ends: number[] = [];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = palette.mark;
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  for (const mark of marks) {
    if (mark.t < (min ?? 0) || mark.t > (max ?? 0) || (mark.unit !== undefined && mark.unit !== unit))
      continue;
    const x = Math.round(plot.valToPos(mark.t, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const { width } = ctx.measureText(mark.text);
    const left = Math.min(x + 4 * ratio, bbox.left + bbox.width - width);
    const free = Array.from({ length: LINES }, (_, line) => line).find(line => (ends[line] ?? 0) < left) ?? 0;
    ends[free] = left + width + 4 * ratio;
    ctx.fillText(mark.text, left, bbox.top + (free + 1) * LINE_PX * ratio);
  }
  ctx.restore();
}

/** The moments that were picked, and what lies between them. */
export function drawPicks(plot: uPlot, palette: Palette, picks: readonly number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = palette.previous;
  ctx.fillStyle = palette.previous;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  const xs = picks
    .map(t => plot.valToPos(t, 'x', true))
    .filter(x => x >= bbox.left && x <= bbox.left + bbox.width);
  for (const x of xs) {
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  const [from, to] = xs;
  if (from !== undefined && to !== undefined) {
    ctx.globalAlpha = 0.12;
    ctx.fillRect(Math.min(from, to), bbox.top, Math.abs(to - from), bbox.height);
  }
  ctx.restore();
}
