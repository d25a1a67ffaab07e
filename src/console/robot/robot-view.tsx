import { fixed } from '../model/numbers.js';
import { isPose } from '../model/readings.js';
import { useModel } from '../parts/parts.js';
import { Boresight } from './boresight.js';
import { degrees, TopView } from './top-view.js';

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
