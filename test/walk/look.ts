import type { Role } from '../../src/access/roles.js';
import { type GainSet, perUnit, UNIT_LIST } from '../../src/core/units.js';
import type { LogHead, LogPage } from '../../src/schemas/log.js';
import type { Status } from '../../src/schemas/status.js';
import type { Tune } from '../../src/schemas/tune.js';
import type { DaemonProcess } from '../support/daemon-process.js';
import { settle } from '../support/manual-clock.js';
import { BrokenPromise, promise } from './broken-promise.js';
import type { Shown } from './model.js';
import type { UnitShown } from './unit-model.js';

interface ShownTuning {
  readonly tune: Tune | null;
}

/**
 * Reads what a settled robot shows to this role. Throws BrokenPromise if the robot does not serve, or if an answer is
 * incomplete.
 */
export async function lookAt(life: DaemonProcess | undefined, as: Role | undefined): Promise<Shown> {
  const get = <Body>(path: string) => answerTo<Body>(life, path, as);
  const status = await get<Status>('/api/status');
  promise(status.storage.ok, 'storage', () => JSON.stringify(status.storage));
  for (const { name } of UNIT_LIST) {
    const { online, problem } = status[name];
    promise(online, 'online', () => `${name} is offline: ${JSON.stringify(problem)}`);
  }
  const kept = {
    gimbal: await get<GainSet>('/api/gimbal/pidconfig'),
    chassis: await get<GainSet>('/api/chassis/pidconfig'),
  };
  const history = {
    gimbal: await get<UnitShown['history']>('/api/gimbal/pidconfig/history?limit=20'),
    chassis: await get<UnitShown['history']>('/api/chassis/pidconfig/history?limit=20'),
  };
  const { events } = await get<LogPage>('/api/log');
  const head = status.log.ok ? await get<LogHead>('/api/log/head') : undefined;
  const tunes = {
    gimbal: await get<ShownTuning>('/api/gimbal/autotune'),
    chassis: await get<ShownTuning>('/api/chassis/autotune'),
  };
  const { phase, lock, refereeSilent, recorded } = status.match;
  return {
    stopped: status.stopped,
    access: status.access.state,
    log: { head, events },
    match: { phase, locked: lock !== null, refereeSilent, recorded },
    units: perUnit(({ name }) => {
      const { mode, gains } = status[name];
      const isTried = gains.trial !== undefined;
      const isTuned = tunes[name].tune?.state === 'running';
      return { mode, applied: gains.applied, kept: kept[name], isTried, isTuned, history: history[name] };
    }),
  };
}

/** Throws BrokenPromise if the answer waits for the clock. */
async function answerTo<Body>(
  life: DaemonProcess | undefined,
  path: string,
  as: Role | undefined,
): Promise<Body> {
  const { answer } = life?.send<Body>({ ask: `GET ${path}`, ...(as !== undefined && { as }) }) ?? {};
  if (answer === undefined)
    throw new BrokenPromise('serves', 'the daemon does not serve two seconds after the last fault');
  const late = new Promise<undefined>(resolve => void settle().then(() => resolve(undefined)));
  const found = await Promise.race([answer, late]);
  promise(
    found?.status === 200,
    'serves',
    () => `${path} answers ${found?.status} when settled: ${JSON.stringify(found?.body)}`,
  );
  const { body } = found ?? {};
  if (body === undefined) throw new BrokenPromise('serves', `${path} answers without a body`);
  return body;
}
