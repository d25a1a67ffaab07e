import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { titleOf } from './bar/lines.js';
import { TopBar } from './bar/top-bar.js';
import { MatchView } from './match/match-view.js';
import { useConsole } from './parts/console.js';
import { Drawer } from './parts/drawer.js';
import { Later } from './parts/later.js';
import { listenToKeys } from './parts/page-keys.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { StepPanel } from './step/step-panel.js';
import { TuningPanel } from './tuning/tuning-panel.js';

export function Page() {
  const { model } = useConsole();
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
    const light = status?.laser.light;
    document.title = titleOf(status, fresh, model.laser.mayBeLit);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', light === 'fault' || (fresh ? light === 'on' : model.laser.mayBeLit));
  });
  return (
    <>
      {hash.value === '#match' ? <MatchView /> : <Desk />}
      {helps.value && hash.value !== '#match' && (
        <Later>
          {({ KeyHelp }) => (
            <KeyHelp
              onClose={() => {
                helps.value = false;
              }}
            />
          )}
        </Later>
      )}
    </>
  );
}

function Desk() {
  const { model } = useConsole();
  const simulated = model.status.value?.simulated;
  if (model.isShut) {
    return (
      <>
        <TopBar />
        <Later>{({ Login }) => <Login />}</Later>
      </>
    );
  }
  return (
    <>
      <TopBar />
      <main>
        <div class="instruments">
          {simulated && <Later>{({ FirstMinute }) => <FirstMinute />}</Later>}
          <PlotPanel />
          <StepPanel />
          <RobotView />
        </div>
        <div class="settings">
          <TuningPanel />
          <section class="card log" aria-label="Log">
            <Drawer title={<h2>Log</h2>}>{({ EventList }) => <EventList />}</Drawer>
          </section>
          {simulated && (
            <section class="card sim" aria-label="Simulator">
              <Drawer title={<h2>Simulator</h2>}>{({ SimPanel }) => <SimPanel />}</Drawer>
            </section>
          )}
        </div>
      </main>
    </>
  );
}
