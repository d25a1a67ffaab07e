import { useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import type { DaemonClient } from '../daemon/daemon.js';
import { Outcome, Press, useAction, useEvery, useModel } from '../parts/parts.js';

const OF_BUS = ['nack', 'timeout', 'corrupt', 'hang', 'clear'];
const FAULTS: readonly (readonly [target: string, faults: readonly string[]])[] = [
  ...UNIT_LIST.map(({ name }) => [name, ['unplug', 'plug', 'brownout', ...OF_BUS]] as const),
  ['bus', OF_BUS],
  ['pin', ['nack', 'clear']],
];
/** Button texts of faults whose name is unclear. */
const WORDS: Readonly<Record<string, string>> = { nack: 'no answer', hang: 'bus stuck', clear: 'repair' };
const CHECK_MS = 500;

const play = (daemon: DaemonClient, target: string, fault: string) =>
  daemon.post('/sim/faults', { target, fault });

/** All faults of the simulator, and the state of the simulated hardware. */
export function SimPanel() {
  const { daemon } = useModel();
  const truth = useSignal<readonly string[]>([]);
  const act = useAction();
  useEvery(CHECK_MS, async () => {
    truth.value = truthLines((await daemon.read<Readonly<Record<string, unknown>>>('/sim/state')) ?? {});
  });
  return (
    <>
      {FAULTS.map(([target, faults]) => (
        <fieldset class="chips row" key={target} aria-label={`Faults of the ${target}`}>
          <span class="unit-name dim">{target}</span>
          {faults.map(fault => (
            <Press
              text={WORDS[fault] ?? fault}
              key={fault}
              run={() => act.run(() => play(daemon, target, fault), `${target}: ${fault}`)}
            />
          ))}
        </fieldset>
      ))}
      <Outcome action={act} />
      <ul class="dim" aria-label="The truth">
        {truth.value.map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}

/** The state of the simulated hardware as lines, such as `laser: level 0`. */
function truthLines(truth: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(truth).map(([name, value]) => {
    if (typeof value !== 'object' || value === null) return `${name} ${value}`;
    const parts = Object.entries(value).filter(([, part]) => typeof part !== 'object');
    return `${name}: ${parts.map(([member, part]) => `${member} ${part}`).join(', ')}`;
  });
}

const KEY = 'trunnion.begun';

/** First steps for a new user of the simulated robot, until dismissed. */
export function FirstMinute() {
  const model = useModel();
  const { daemon, storage } = model;
  const dismissed = useSignal(storage.read(KEY) !== null);
  if (dismissed.value) return null;
  const dismiss = () => {
    dismissed.value = true;
    storage.write(KEY, 'yes');
  };
  const yaw = { unit: 'gimbal', loop: 'angle_yaw' } as const;
  const exciteYaw = async () => {
    model.choose(yaw);
    if (await model.switchMode('gimbal', 'debug')) await model.excite(yaw, 0.1, 2);
  };
  return (
    <section class="card first" aria-label="First minute">
      <p>
        <strong>This robot is simulated.</strong> Try what it does, and how this page shows it:
      </p>
      <div class="row">
        <Press text="Gimbal auto" needs="drive" moves run={() => model.switchMode('gimbal', 'auto')} />
        <Press text="Laser on" needs="laser" moves run={() => model.laser.light()} />
        <Press text="Send test steps to yaw" needs="drive" moves run={exciteYaw} />
        <Press text="Unplug the gimbal" run={() => play(daemon, 'gimbal', 'unplug')} />
        <Press text="Plug it in" run={() => play(daemon, 'gimbal', 'plug')} />
        <Press text="Dismiss" style={{ marginLeft: 'auto' }} run={dismiss} />
      </div>
    </section>
  );
}
