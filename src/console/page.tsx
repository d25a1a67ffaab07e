import { useSignalEffect } from '@preact/signals';
import { titleOf } from './bar/lines.js';
import { TopBar } from './bar/top-bar.js';
import { useConsole } from './parts/console.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { StepPanel } from './step/step-panel.js';
import { TuningPanel } from './tuning/tuning-panel.js';

export function Page() {
  const { model } = useConsole();
  useSignalEffect(() => {
    const [status, fresh] = [model.status.value, model.fresh.value];
    const light = status?.laser.light;
    document.title = titleOf(status, fresh);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', light === 'on' || light === 'fault');
  });
  return (
    <>
      <TopBar />
      <main>
        <div class="instruments">
          <PlotPanel />
          <StepPanel />
          <RobotView />
        </div>
        <div class="settings">
          <TuningPanel />
        </div>
      </main>
    </>
  );
}
