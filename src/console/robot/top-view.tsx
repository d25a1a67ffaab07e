import type { Pose } from '../../schemas/telemetry.js';
import { isPose, isReading } from '../model/readings.js';
import { useModel } from '../parts/parts.js';

const LEAST_SPAN_M = 4;
const RING = 'M-0.5 0A0.5 0.5 0 1 1 0.5 0A0.5 0.5 0 1 1 -0.5 0';

export const degrees = (rad: number) => (rad * 180) / Math.PI;

/** The robot from above, in metres, with x to the right and y up. It shows only what telemetry contains. */
export function TopView() {
  const { laser, telemetry } = useModel();
  telemetry.frame.value;
  const { latest, trail } = telemetry;
  const shown = latest?.chassis?.pose;
  const pose = isPose(shown) ? shown : (trail.poses.at(-1) ?? { x: 0, y: 0, heading: 0 });
  const path = [...trail.poses, pose];
  const { x, y, span } = boundsOf(path);
  const { angle_yaw: yaw, visual_yaw: offset, target } = latest?.gimbal ?? {};
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
        <polyline class="trail" points={path.map(point => `${point.x},${point.y}`).join(' ')} />
        <g
          transform={`translate(${pose.x} ${pose.y}) rotate(${degrees(pose.heading)})`}
          data-old={shown !== pose || undefined}
        >
          <path d="M-0.25 -0.19H0.25V0.19H-0.25ZM0.25 0H0.37" />
          {/* Without a direction the beam is a ring around the robot. */}
          {laser.looksLit && <path class="beam" d={aim ? 'M0 0H6' : RING} transform={aim} />}
          {aim !== undefined && (
            <g class="gun" transform={aim}>
              <circle r="0.1" />
              <path d="M0.1 0H0.42" />
              {/* Only the target's direction is known, so it is drawn at a fixed distance. */}
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
