import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Login } from './bar/access.js';
import { titleOf } from './bar/lines.js';
import { TopBar } from './bar/top-bar.js';
import { EventList } from './log/event-list.js';
import { MatchView } from './match/match-view.js';
import { KeyHelp } from './parts/key-help.js';
import { listenToKeys } from './parts/keys.js';
import { Drawer, useModel } from './parts/parts.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { FirstMinute, SimPanel } from './sim/sim-panel.js';
import { StepPanel } from './step/step-panel.js';
import { TuningPanel } from './tuning/tuning-panel.js';

export function Page() {
  const model = useModel();
  const hash = useSignal(location.hash);
  const helps = useSignal(false);
  useEffect(
    () =>
      listenToKeys(model, () => {
        helps.value = true;
      }),
    [model],
  );
  useEffect(() => {
    const read = () => {
      hash.value = location.hash;
    };
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  useSignalEffect(() => {
    const [status, fresh] = [model.status.value, model.fresh.value];
    document.title = titleOf(status, fresh, model.laser.mayBeLit);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', model.laser.looksLit);
  });
  return (
    <>
      {hash.value === '#match' ? <MatchView /> : <Desk />}
      {helps.value && hash.value !== '#match' && (
        <KeyHelp
          onClose={() => {
            helps.value = false;
          }}
        />
      )}
    </>
  );
}

function Desk() {
  const model = useModel();
  const simulated = model.status.value?.simulated;
  if (model.access.isShut) {
    return (
      <>
        <TopBar />
        <Login />
      </>
    );
  }
  return (
    <>
      <TopBar />
      <main>
        <div class="instruments">
          {simulated && <FirstMinute />}
          <PlotPanel />
          <StepPanel />
          <RobotView />
        </div>
        <div class="settings">
          <TuningPanel />
          <section class="card log" aria-label="Log">
            <Drawer title={<h2>Log</h2>}>
              <EventList />
            </Drawer>
          </section>
          {simulated && (
            <section class="card sim" aria-label="Simulator">
              <Drawer title={<h2>Simulator</h2>}>
                <SimPanel />
              </Drawer>
            </section>
          )}
        </div>
      </main>
    </>
  );
}
