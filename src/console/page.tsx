import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { UNIT_LIST } from '../core/units.js';
import { Login, WhoAmI } from './bar/access.js';
import { AlertStrip } from './bar/alert-strip.js';
import { titleOf } from './bar/lines.js';
import { LaserSwitch, LinkState, ModeSwitch, ResumeButton, StopButton } from './bar/switches.js';
import { hash } from './browser.js';
import { DrivePanel } from './drive/drive-panel.js';
import { listenToDriver } from './drive/driver-input.js';
import { GainsPanel } from './gains/gains-panel.js';
import { EventList } from './log/event-list.js';
import { MatchBoard } from './match/match-board.js';
import { MatchEvents } from './match/match-events.js';
import { MatchView } from './match/match-view.js';
import { RefereePanel } from './match/referee-panel.js';
import { KeyHelp, listenToKeys } from './parts/keys.js';
import { Drawer, isTouchScreen, Toggle, useModel } from './parts/parts.js';
import { PlotPanel } from './plot/plot-panel.js';
import { RobotView } from './robot/robot-view.js';
import { FirstMinute, SimPanel } from './sim/sim-panel.js';
import { StepPanel } from './step/step-panel.js';

export function Page() {
  const model = useModel();
  const helps = useSignal(false);
  // The page is never removed, so nothing stops listening.
  useEffect(() => {
    listenToKeys(model, helps);
    listenToDriver(model);
  }, []);
  useSignalEffect(() => {
    const [status, fresh] = [model.status.value, model.fresh.value];
    document.title = titleOf(status, fresh, model.laser.mayBeLit);
    const root = document.documentElement;
    root.toggleAttribute('data-stale', !fresh);
    root.toggleAttribute('data-stopped', status?.stopped === true);
    root.toggleAttribute('data-lit', model.laser.looksLit);
  });
  // The address may have a token after `#match`.
  if (hash.value.startsWith('#match')) return <MatchView />;
  return (
    <>
      <a class="skip" href="#panels">
        Skip to plots and gains
      </a>
      <TopBar helps={helps} />
      <main id="panels" tabIndex={-1}>
        {model.access.isShut ? <Login /> : <Panels />}
      </main>
      {helps.value && <KeyHelp helps={helps} />}
    </>
  );
}

function Panels() {
  const { access, status } = useModel();
  const simulated = status.value?.simulated;
  const [drives, rules] = [access.hasRight('drive'), access.hasRight('rule')];
  const referee = [<RefereePanel key="panel" />, <MatchEvents key="events" />];
  return (
    <>
      <div class="instruments">
        {rules && !drives && (
          <section class="card" aria-label="Referee">
            <h2>Referee</h2>
            {referee}
          </section>
        )}
        {simulated && drives && <FirstMinute />}
        <PlotPanel />
        <StepPanel />
        <RobotView />
        {drives && <DrivePanel />}
      </div>
      <div class="settings">
        <GainsPanel />
        <DrawerCard name="Log">
          <EventList />
        </DrawerCard>
        {rules && drives && <DrawerCard name="Referee">{referee}</DrawerCard>}
        {simulated && drives && (
          <DrawerCard name="Simulator">
            <SimPanel />
          </DrawerCard>
        )}
      </div>
    </>
  );
}

/** The bar that is always visible: connection, modes, laser, STOP, match and alerts. */
function TopBar({ helps }: { readonly helps: Signal<boolean> }) {
  const model = useModel();
  const { streams = 0 } = model.status.value ?? {};
  return (
    <header class="bar">
      <div class="brand row">
        <h1>Trunnion</h1>
        {model.isSimulated && <span class="badge">SIMULATED</span>}
        <LinkState>Live{streams > 1 && ` · ${streams} pages open`}</LinkState>
        <a class="match-link clamp" href="#match">
          Match view
        </a>
        {!isTouchScreen && (
          <Toggle text="?" on={helps} opens aria-label="Keys" aria-keyshortcuts="?" class="help" />
        )}
        <WhoAmI />
      </div>
      {UNIT_LIST.map(unit => (
        <ModeSwitch key={unit.name} unit={unit} />
      ))}
      <LaserSwitch />
      <fieldset class="group stopping" aria-label="Stop">
        <StopButton />
        <ResumeButton />
      </fieldset>
      <div class="news">
        <MatchBoard />
        <AlertStrip />
      </div>
    </header>
  );
}

function DrawerCard({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section class="card" aria-label={name}>
      <Drawer title={<h2>{name}</h2>}>{children}</Drawer>
    </section>
  );
}
