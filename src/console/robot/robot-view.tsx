import { fixed } from '../model/numbers.js';
import { isPose, isReading } from '../model/readings.js';
import { useModel } from '../parts/parts.js';
import { degrees, TopView } from './top-view.js';

/** Half of the view's width, and the distance between two lines of equal elevation, in mrad. */
const HALF_VIEW = 350;
const RUNG = 100;
/** A target outside the view is drawn at this distance, at the edge of the view. */
const MOST = 320;

/** Where the robot is, and where it aims. */
export function RobotView() {
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
      <p class="hint">Trunnion {useModel().status.value?.version}</p>
    </section>
  );
}

function Place() {
  const { telemetry, fresh } = useModel();
  telemetry.frame.value;
  const pose = telemetry.latest?.chassis?.pose;
  const text = isPose(pose) &&
    fresh.value && [
      `x ${fixed(pose.x, 2)} m`,
      `y ${fixed(pose.y, 2)} m`,
      `${fixed(degrees(pose.heading), 0)}°`,
    ];
  return <span class="where">{text ? text.join('   ') : 'not known'}</span>;
}

/** The gimbal's view in mrad: a crosshair where the laser points, the target, and the elevation. */
function Boresight() {
  const { laser, telemetry } = useModel();
  telemetry.frame.value;
  const gimbal = telemetry.latest?.gimbal;
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
        rungsAround(pitch).map(rung => <Rung key={rung} rung={rung} y={pitch - rung} />)}
      <path class={laser.looksLit ? 'beam' : ''} d="M18 0H64M-18 0H-64M0 18V64M0 -18V-64" />
      {laser.looksLit && <circle class="beam" r="6" />}
      {/* Yaw grows to the left, pitch upwards. */}
      {sees ? (
        <circle class="target" cx={limited(-yawOff)} cy={limited(-pitchOff)} r="30" />
      ) : (
        <text y="330">{gimbal ? 'no target' : 'nothing heard'}</text>
      )}
    </svg>
  );
}

function rungsAround(pitch: number): number[] {
  const first = Math.ceil((pitch - HALF_VIEW) / RUNG) * RUNG;
  return Array.from({ length: (2 * HALF_VIEW) / RUNG }, (_, index) => first + index * RUNG);
}

/** A line of equal elevation. It moves down when the gimbal looks up. */
function Rung({ rung, y }: { readonly rung: number; readonly y: number }) {
  const half = rung === 0 ? 260 : 105;
  return (
    <g class="rung" transform={`translate(0 ${y})`}>
      <path d={`M${-half} 0H${half}`} />
      <text x={half + 45} y="10">
        {fixed(degrees(rung / 1000), 0)}°
      </text>
    </g>
  );
}
