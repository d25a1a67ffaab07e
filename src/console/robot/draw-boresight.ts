import { fixed } from '../model/numbers.js';
import { isReading } from '../model/readings.js';
import { crosshair, type Seen } from './draw-top-view.js';

/** The angle between the crosshair and the nearer edge. */
const HALF_VIEW_RAD = 0.35;
const RUNG_RAD = 0.1;

/** Draws what the gimbal sees: a crosshair where the laser points, the target, and how far up it looks. */
export function drawBoresight(
  ctx: CanvasRenderingContext2D,
  width: number,
  height: number,
  seen: Seen,
): void {
  const { palette, sample, lit } = seen;
  const gimbal = sample?.gimbal;
  const scale = Math.min(width, height) / 2 / HALF_VIEW_RAD;
  const [middleX, middleY] = [width / 2, height / 2];
  ctx.save();
  ctx.translate(middleX, middleY);
  ctx.font = '11px system-ui, sans-serif';
  const pitch = gimbal?.angle_pitch;
  if (isReading(pitch)) drawLadder(ctx, palette.zero, pitch.measured, scale, middleY);
  ctx.strokeStyle = lit ? palette.beam : palette.ink;
  ctx.lineWidth = lit ? 3 : 1.5;
  ctx.beginPath();
  crosshair(ctx, 0, 6, 22);
  ctx.stroke();
  if (lit) {
    ctx.fillStyle = palette.beam;
    ctx.beginPath();
    ctx.arc(0, 0, 4, 0, 2 * Math.PI);
    ctx.fill();
  }
  const [yawOff, pitchOff] = [gimbal?.visual_yaw, gimbal?.visual_pitch];
  if (gimbal?.target === true && isReading(yawOff) && isReading(pitchOff)) {
    // Yaw grows to the left, pitch upwards. A target outside the view is drawn at its edge.
    const limit = (value: number, most: number) => Math.max(-most, Math.min(most, value));
    const x = limit(-yawOff.measured * scale, middleX - 12);
    const y = limit(-pitchOff.measured * scale, middleY - 12);
    ctx.strokeStyle = palette.target;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(x, y, 10, 0, 2 * Math.PI);
    ctx.stroke();
  } else {
    ctx.fillStyle = palette.dim;
    ctx.textAlign = 'center';
    ctx.fillText(gimbal ? 'no target' : 'nothing heard', 0, middleY - 8);
  }
  ctx.restore();
}

/** Lines of equal elevation, which sink as the gimbal looks up. */
function drawLadder(
  ctx: CanvasRenderingContext2D,
  colour: string,
  pitchRad: number,
  scale: number,
  halfHeight: number,
): void {
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = 1;
  const first = Math.ceil((pitchRad - halfHeight / scale) / RUNG_RAD);
  for (let rung = first; rung * RUNG_RAD <= pitchRad + halfHeight / scale; rung += 1) {
    const y = Math.round((pitchRad - rung * RUNG_RAD) * scale) + 0.5;
    const half = rung === 0 ? 90 : 36;
    ctx.beginPath();
    ctx.moveTo(-half, y);
    ctx.lineTo(half, y);
    ctx.stroke();
    ctx.fillText(`${fixed((rung * RUNG_RAD * 180) / Math.PI, 0)}°`, half + 4, y + 4);
  }
}
