import type { Pose, Telemetry } from '../../schemas/telemetry.js';
import { isPose, isReading, type Trail } from '../model/readings.js';
import type { Palette } from '../parts/palette.js';

const LEAST_SPAN_M = 4;
const BODY_M = 0.5;
const BEAM_M = 6;
const TARGET_M = 2.2;

export interface Seen {
  readonly sample: Telemetry | undefined;
  readonly lit: boolean;
  readonly palette: Palette;
}

/** The robot from above, x to the right and y up, as far as telemetry shows. */
export function drawTopView(
  ctx: CanvasRenderingContext2D,
  width: number,
  height: number,
  trail: Trail,
  seen: Seen,
): void {
  const { palette } = seen;
  const shown = seen.sample?.chassis?.pose;
  const pose = isPose(shown) ? shown : (trail.poses.at(-1) ?? { x: 0, y: 0, heading: 0 });
  const box = boundsOf([...trail.poses, pose]);
  const scale = Math.min(width, height) / box.span;
  ctx.save();
  ctx.translate(width / 2 - box.x * scale, height / 2 + box.y * scale);
  ctx.scale(scale, -scale);
  const px = 1 / scale;
  drawGrid(ctx, palette.grid, px, box, width / scale, height / scale);
  ctx.lineJoin = 'round';
  ctx.strokeStyle = palette.dim;
  ctx.lineWidth = 1.5 * px;
  ctx.beginPath();
  for (const point of trail.poses) ctx.lineTo(point.x, point.y);
  ctx.lineTo(pose.x, pose.y);
  ctx.stroke();
  ctx.globalAlpha = isPose(shown) ? 1 : 0.4;
  drawRobot(ctx, seen, pose, px);
  ctx.restore();
}

/** Draws in metres, around the robot's own middle. */
function drawRobot(
  ctx: CanvasRenderingContext2D,
  { sample, lit, palette }: Seen,
  pose: Pose,
  px: number,
): void {
  const gimbal = sample?.gimbal;
  const yaw = gimbal?.angle_yaw;
  const offset = gimbal?.visual_yaw;
  ctx.save();
  ctx.translate(pose.x, pose.y);
  ctx.rotate(pose.heading);
  ctx.lineWidth = 2 * px;
  ctx.strokeStyle = palette.ink;
  ctx.beginPath();
  ctx.roundRect(-BODY_M / 2, -BODY_M / 2.6, BODY_M, BODY_M / 1.3, 0.06);
  ctx.moveTo(BODY_M / 2, 0);
  ctx.lineTo(BODY_M / 2 + 0.12, 0);
  ctx.stroke();
  if (lit) drawBeam(ctx, palette.beam, isReading(yaw) ? yaw.measured : undefined, px);
  if (isReading(yaw)) {
    ctx.save();
    ctx.rotate(yaw.measured);
    ctx.strokeStyle = palette.measured;
    ctx.lineWidth = 3 * px;
    ctx.beginPath();
    ctx.arc(0, 0, 0.1, 0, 2 * Math.PI);
    ctx.moveTo(0.1, 0);
    ctx.lineTo(0.42, 0);
    ctx.stroke();
    if (gimbal?.target === true && isReading(offset)) {
      ctx.rotate(offset.measured);
      drawTarget(ctx, palette.target, px);
    }
    ctx.restore();
  }
  ctx.restore();
}

/** Draws the beam in the direction of the laser, or a ring around the robot if that is unknown. */
function drawBeam(ctx: CanvasRenderingContext2D, colour: string, yaw: number | undefined, px: number): void {
  ctx.save();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 3 * px;
  ctx.beginPath();
  if (yaw === undefined) {
    ctx.setLineDash([8 * px, 6 * px]);
    ctx.arc(0, 0, BODY_M, 0, 2 * Math.PI);
  } else {
    ctx.moveTo(0, 0);
    ctx.lineTo(BEAM_M * Math.cos(yaw), BEAM_M * Math.sin(yaw));
  }
  ctx.stroke();
  ctx.restore();
}

/** Only the target's direction is known, so it is drawn at a fixed distance. */
function drawTarget(ctx: CanvasRenderingContext2D, colour: string, px: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * px;
  ctx.beginPath();
  ctx.arc(TARGET_M, 0, 0.12, 0, 2 * Math.PI);
  crosshair(ctx, TARGET_M, 0.07, 0.2);
  ctx.stroke();
}

/** Four strokes around the point `x` of the axis, from distance `near` to `far`. */
export function crosshair(ctx: CanvasRenderingContext2D, x: number, near: number, far: number): void {
  for (const [right, up] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const) {
    ctx.moveTo(x + near * right, near * up);
    ctx.lineTo(x + far * right, far * up);
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly span: number;
}

function boundsOf(points: readonly Pose[]): Box {
  const xs = points.map(point => point.x);
  const ys = points.map(point => point.y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const span = Math.max(LEAST_SPAN_M, right - left + 2, high - low + 2);
  return { x: (left + right) / 2, y: (low + high) / 2, span };
}

/** Draws one line for each metre. */
function drawGrid(
  ctx: CanvasRenderingContext2D,
  colour: string,
  px: number,
  box: Box,
  width: number,
  height: number,
): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = px;
  ctx.beginPath();
  for (let x = Math.ceil(box.x - width / 2); x <= box.x + width / 2; x += 1) {
    ctx.moveTo(x, box.y - height / 2);
    ctx.lineTo(x, box.y + height / 2);
  }
  for (let y = Math.ceil(box.y - height / 2); y <= box.y + height / 2; y += 1) {
    ctx.moveTo(box.x - width / 2, y);
    ctx.lineTo(box.x + width / 2, y);
  }
  ctx.stroke();
}
