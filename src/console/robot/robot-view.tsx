import { UNIT_LIST } from '../../core/units.js';
import type { Pose } from '../../schemas/telemetry.js';
import { firmwareText } from '../bar/lines.js';
import { fixed } from '../model/numbers.js';
import { isPose, isReading } from '../model/telemetry.js';
import { useModel } from '../parts/parts.js';

/** Half of the view's width, in mrad. */
const HALF_VIEW = 350;
/** The lines of equal elevation: one every 5 degrees. The edges, where a text may be, have none. */
const RUNG_DEG = 5;
const EDGE = 55;
/** A target outside the view is drawn at this distance, at the edge of the view. */
const MOST = 320;

/** Where the robot is, and where it aims. */
export function RobotView() {
  const status = useModel().status.value;
  return (
    <section class="card view" aria-label="The robot">
      <header>
        <h2>Robot</h2>
        <Place />
      </header>
      <div class="views">
        <TopView />
        <Boresight />
      </div>
      <p class="hint">Trunnion {status?.version}</p>
      {UNIT_LIST.map(({ name, title }) => {
        const unit = status?.[name];
        return unit?.build && <p class="hint" key={name}>{`${title}: ${firmwareText(unit)}`}</p>;
      })}
    </section>
  );
}

function Place() {
  const { telemetry, fresh } = useModel();
  const pose = telemetry.shown?.chassis?.pose;
  if (!isPose(pose) || !fresh.value) return <span class="dim">not known</span>;
  const { x, y, heading } = pose;
  return (
    <span class="dim">{`x ${fixed(x, 2)} m   y ${fixed(y, 2)} m   ${fixed(degrees(heading), 0)}°`}</span>
  );
}

/**
 * The gimbal's view in mrad: a crosshair where the laser points, the target, and the elevation. Yaw grows to the left, pitch
 * upwards.
 */
function Boresight() {
  const { laser, telemetry } = useModel();
  const gimbal = telemetry.shown?.gimbal;
  const angle = (loop: string) => {
    const reading = gimbal?.[loop];
    return isReading(reading) ? 1000 * reading.measured : undefined;
  };
  const limited = (value: number) => Math.max(-MOST, Math.min(MOST, value));
  const [pitch, yawOff, pitchOff] = [angle('angle_pitch'), angle('visual_yaw'), angle('visual_pitch')];
  const sees = gimbal?.target === true && yawOff !== undefined && pitchOff !== undefined;
  return (
    <svg
      role="img"
      aria-label="What the gimbal aims at: crosshair, target and pitch"
      viewBox="-350 -350 700 700"
    >
      {pitch !== undefined &&
        rungsAround(pitch).map(rung => <Rung key={rung} rung={rung} y={pitch - mrad(rung)} />)}
      <path class={laser.looksLit ? 'beam' : ''} d="M18 0H64M-18 0H-64M0 18V64M0 -18V-64" />
      {laser.looksLit && <circle class="beam" r="6" />}
      {sees ? (
        <circle class="target" cx={limited(-yawOff)} cy={limited(-pitchOff)} r="30" />
      ) : (
        <text y="340">{gimbal ? 'no target' : 'nothing heard'}</text>
      )}
    </svg>
  );
}

const mrad = (deg: number) => (1000 * Math.PI * deg) / 180;

/** The elevations of the lines in view, in degrees. */
function rungsAround(pitch: number): number[] {
  const far = HALF_VIEW - EDGE;
  const first = Math.ceil((pitch - far) / mrad(RUNG_DEG));
  const last = Math.floor((pitch + far) / mrad(RUNG_DEG));
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * RUNG_DEG);
}

/** A line of equal elevation. It moves down when the gimbal looks up. */
function Rung({ rung, y }: { readonly rung: number; readonly y: number }) {
  const half = rung === 0 ? 260 : 105;
  return (
    <g class="rung" transform={`translate(0 ${y})`}>
      <path d={`M${-half} 0H${half}`} />
      <text x={half + 14} y="10">
        {fixed(rung, 0)}°
      </text>
    </g>
  );
}

const LEAST_SPAN_M = 4;
const RING = 'M-0.5 0A0.5 0.5 0 1 1 0.5 0A0.5 0.5 0 1 1 -0.5 0';

const degrees = (rad: number) => (rad * 180) / Math.PI;

/**
 * The robot from above, in metres, with x to the right and y up. It shows only what telemetry contains. Without a direction
 * the beam is a ring around the robot. Only the target's direction is known, so it is drawn at a fixed distance.
 */
function TopView() {
  const { laser, telemetry } = useModel();
  const { shown, trail } = telemetry;
  const known = shown?.chassis?.pose;
  const pose = isPose(known) ? known : (trail.at(-1) ?? { x: 0, y: 0, heading: 0 });
  const path = [...trail, pose];
  const { x, y, span } = boundsOf(path);
  const { angle_yaw: yaw, visual_yaw: offset, target } = shown?.gimbal ?? {};
  const aim = isReading(yaw) ? `rotate(${degrees(yaw.measured)})` : undefined;
  const seen = target === true && isReading(offset) ? `rotate(${degrees(offset.measured)})` : undefined;
  return (
    <svg
      role="img"
      aria-label="The robot from above"
      viewBox={`${x - span / 2} ${-y - span / 2} ${span} ${span}`}
    >
      <pattern id="metres" width="1" height="1" patternUnits="userSpaceOnUse">
        <path class="grid" d="M0 0H1M0 0V1" />
      </pattern>
      <rect
        fill="url(#metres)"
        stroke="none"
        x={x - 2 * span}
        y={-y - 2 * span}
        width={4 * span}
        height={4 * span}
      />
      <g transform="scale(1 -1)">
        <polyline stroke="var(--dim)" points={path.map(point => `${point.x},${point.y}`).join(' ')} />
        <g
          transform={`translate(${pose.x} ${pose.y}) rotate(${degrees(pose.heading)})`}
          data-old={known !== pose || undefined}
        >
          <path d="M-0.25 -0.19H0.25V0.19H-0.25ZM0.25 0H0.37" />
          {laser.looksLit && <path class="beam" d={aim ? 'M0 0H6' : RING} transform={aim} />}
          {aim !== undefined && (
            <g stroke="var(--accent)" transform={aim}>
              <circle r="0.1" />
              <path d="M0.1 0H0.42" />
              {seen && (
                <g class="target" transform={`${seen} translate(2.2)`}>
                  <circle r="0.12" />
                  <path d="M0.07 0H0.2M-0.07 0H-0.2M0 0.07V0.2M0 -0.07V-0.2" />
                </g>
              )}
            </g>
          )}
        </g>
      </g>
    </svg>
  );
}

function boundsOf(points: readonly Pose[]) {
  const xs = points.map(point => point.x);
  const ys = points.map(point => point.y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const span = Math.max(LEAST_SPAN_M, right - left + 2, high - low + 2);
  return { x: (left + right) / 2, y: (low + high) / 2, span };
}
