import { fixed } from '../model/numbers.js';
import { isPose } from '../model/readings.js';
import { useModel } from '../parts/console.js';
import { drawBoresight } from './draw-boresight.js';
import { drawTopView } from './draw-top-view.js';
import { Drawing } from './drawing.js';

/** Where the robot is, and where it aims. */
export function RobotView() {
  const model = useModel();
  const { trail } = model.telemetry;
  return (
    <section class="card view" aria-label="The robot">
      <header>
        <h2>Robot</h2>
        <Place />
      </header>
      <div class="views">
        <Drawing
          label="The robot from above"
          draw={(ctx, width, height, seen) => drawTopView(ctx, width, height, trail, seen)}
        />
        <Drawing label="What the gimbal aims at: crosshair, target and pitch" draw={drawBoresight} />
      </div>
      <p class="hint">Trunnion {model.status.value?.version}</p>
    </section>
  );
}

function Place() {
  const model = useModel();
  model.telemetry.frame.value;
  const pose = model.telemetry.latest?.chassis?.pose;
  if (!isPose(pose) || !model.fresh.value) return <span class="where">not known</span>;
  const degrees = fixed((pose.heading * 180) / Math.PI, 0);
  return (
    <span class="where">
      x {fixed(pose.x, 2)} m{'   '}y {fixed(pose.y, 2)} m{'   '}
      {degrees}°
    </span>
  );
}
