import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Login } from './access/login.js';
import { titleOf } from './bar/lines.js';
import { TopBar } from './bar/top-bar.js';
import { LogPanel } from './log/log-panel.js';
import { MatchView } from './match/match-view.js';
import { useConsole } from './parts/console.js';
import { KeyHelp } from './parts/key-help.js';
import { listenToKeys } from './parts/page-keys.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { FirstMinute } from './sim/first-minute.js';
import { SimPanel } from './sim/sim-panel.js';
import { StepPanel } from './step/step-panel.js';
import { TuningPanel } from './tuning/tuning-panel.js';

export function Page() {
  const { model } = useConsole();
  const hash = useSignal(location.hash);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => listenToKeys(model, () => help.current?.showModal()), [model]);
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
    document.title = titleOf(status, fresh);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', light === 'on' || light === 'fault');
  });
  return (
    <>
      {hash.value === '#match' && !model.isShut ? <MatchView /> : <Desk />}
      <KeyHelp dialog={help} />
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
          <LogPanel />
          {simulated && <SimPanel />}
        </div>
      </main>
    </>
  );
}
