import { signal, useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Login } from './bar/access.js';
import { titleOf } from './bar/lines.js';
import { TopBar } from './bar/top-bar.js';
import { EventList } from './log/event-list.js';
import { MatchView } from './match/match-view.js';
import { RefereePanel } from './match/referee-panel.js';
import { KeyHelp, listenToKeys } from './parts/keys.js';
import { Drawer, useModel } from './parts/parts.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { FirstMinute, SimPanel } from './sim/sim-panel.js';
import { StepPanel } from './step/step-panel.js';
import { TuningPanel } from './tuning/tuning-panel.js';

const hash = signal(location.hash);
window.addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export function Page() {
  const model = useModel();
  const helps = useSignal(false);
  useEffect(() => listenToKeys(model, helps), []);
  useSignalEffect(() => {
    const [status, fresh] = [model.status.value, model.fresh.value];
    document.title = titleOf(status, fresh, model.laser.mayBeLit);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', model.laser.looksLit);
  });
  // The user may still enter a token.
  if (hash.value.startsWith('#match')) return <MatchView />;
  return (
    <>
      <Desk />
      {helps.value && <KeyHelp helps={helps} />}
    </>
  );
}

function Desk() {
  const model = useModel();
  const simulated = model.status.value?.simulated;
  const [drives, rules] = [model.access.hasRight('drive'), model.access.hasRight('rule')];
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
          {rules && !drives && (
            <section class="card" aria-label="Referee">
              <h2>Referee</h2>
              <RefereePanel />
            </section>
          )}
          {simulated && drives && <FirstMinute />}
          <PlotPanel />
          <StepPanel />
          <RobotView />
        </div>
        <div class="settings">
          <TuningPanel />
          <DrawerCard name="Log">
            <EventList />
          </DrawerCard>
          {rules && drives && (
            <DrawerCard name="Referee">
              <RefereePanel />
            </DrawerCard>
          )}
          {simulated && drives && (
            <DrawerCard name="Simulator">
              <SimPanel />
            </DrawerCard>
          )}
        </div>
      </main>
    </>
  );
}

function DrawerCard({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section class="card" aria-label={name}>
      <Drawer title={<h2>{name}</h2>}>{children}</Drawer>
    </section>
  );
}
