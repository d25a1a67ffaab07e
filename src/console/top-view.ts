import { element, setText } from './dom.js';
import type { Model } from './model.js';
import { fixed } from './numbers.js';
import type { Colours } from './palette.js';
import { isPose, isReading, type Pose, type Sample } from './robot-state.js';

const TRAIL_SAMPLES = 400;
const TRAIL_STEP_M = 0.03;
const LEAST_SPAN_M = 4;
const BODY_M = 0.5;
const BEAM_M = 6;
const TARGET_M = 2.2;

/** The robot from above, x to the right and y up, as far as telemetry tells. */
export class TopView {
  readonly element: HTMLElement;
  readonly #canvas = element('canvas', { role: 'img', 'aria-label': 'The robot from above' });
  readonly #where = element('span', { class: 'where' });
  readonly #model: Model;
  readonly #colours: Colours;
  readonly #trail: Pose[] = [];
  #sample: Sample | undefined;

  constructor(model: Model, colours: Colours) {
    this.#model = model;
    this.#colours = colours;
    this.element = element(
      'section',
      { class: 'card view', 'aria-label': 'The robot' },
      element('header', {}, element('h2', {}, 'Robot'), this.#where),
      this.#canvas,
    );
  }

  take(sample: Sample): void {
    this.#sample = sample;
    const pose = sample.chassis?.pose;
    if (!isPose(pose)) return;
    const last = this.#trail.at(-1);
    if (last !== undefined && Math.hypot(pose.x - last.x, pose.y - last.y) < TRAIL_STEP_M) return;
    this.#trail.push(pose);
    if (this.#trail.length > TRAIL_SAMPLES) this.#trail.shift();
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = devicePixelRatio;
    if (width === 0) return;
    if (this.#canvas.width !== width * ratio || this.#canvas.height !== height * ratio) {
      this.#canvas.width = width * ratio;
      this.#canvas.height = height * ratio;
    }
    const ctx = this.#canvas.getContext('2d');
    if (ctx === null) return;
    const { palette } = this.#colours;
    const told = this.#sample?.chassis?.pose;
    const pose = isPose(told) ? told : (this.#trail.at(-1) ?? { x: 0, y: 0, heading: 0 });
    const known = isPose(told) && this.#model.fresh;
    const box = boundsOf([...this.#trail, pose]);
    const scale = Math.min(width, height) / box.span;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.setTransform(
      scale * ratio,
      0,
      0,
      -scale * ratio,
      (width / 2 - box.x * scale) * ratio,
      (height / 2 + box.y * scale) * ratio,
    );
    const px = 1 / scale;
    drawGrid(ctx, palette.grid, px, box, width / scale, height / scale);
    ctx.lineJoin = 'round';
    ctx.strokeStyle = palette.dim;
    ctx.lineWidth = 1.5 * px;
    ctx.beginPath();
    for (const point of this.#trail) ctx.lineTo(point.x, point.y);
    ctx.lineTo(pose.x, pose.y);
    ctx.stroke();
    ctx.globalAlpha = known ? 1 : 0.4;
    this.#drawRobot(ctx, pose, px);
    ctx.globalAlpha = 1;
    setText(this.#where, known ? placeText(pose) : 'not known');
  }

  #drawRobot(ctx: CanvasRenderingContext2D, pose: Pose, px: number): void {
    const { palette } = this.#colours;
    const gimbal = this.#sample?.gimbal;
    const yaw = gimbal?.angle_yaw;
    const offset = gimbal?.visual_yaw;
    const lit = this.#model.status?.laser.state === 'on';
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
    if (isReading(yaw)) {
      ctx.save();
      ctx.rotate(yaw.measured);
      if (lit) {
        ctx.strokeStyle = palette.beam;
        ctx.lineWidth = 3 * px;
        ctx.beginPath();
        ctx.moveTo(0, 0);
        ctx.lineTo(BEAM_M, 0);
        ctx.stroke();
      }
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
}

function placeText({ x, y, heading }: Pose): string {
  return `x ${fixed(x, 2)} m   y ${fixed(y, 2)} m   ${fixed((heading * 180) / Math.PI, 0)}°`;
}

/** Only its direction is known, so it stands at a distance of our choosing. */
function drawTarget(ctx: CanvasRenderingContext2D, colour: string, px: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * px;
  ctx.beginPath();
  ctx.arc(TARGET_M, 0, 0.12, 0, 2 * Math.PI);
  for (const [x, y] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const) {
    ctx.moveTo(TARGET_M + 0.07 * x, 0.07 * y);
    ctx.lineTo(TARGET_M + 0.2 * x, 0.2 * y);
  }
  ctx.stroke();
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

/** One line a metre. */
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
