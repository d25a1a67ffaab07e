import type { Role } from '../../src/access/roles.js';
import type { GainSet, UnitName } from '../../src/core/units.js';
import type { LogHead, LogPage } from '../../src/schemas/log.js';
import type { Status } from '../../src/schemas/status.js';
import type { Tune } from '../../src/schemas/tune.js';
import type { DaemonProcess } from '../support/daemon-process.js';
import { settle } from '../support/manual-clock.js';
import { BrokenPromise, promise } from './broken-promise.js';
import type { Shown } from './model.js';
import type { UnitShown } from './unit-model.js';

/**
 * Reads what a settled robot shows to this role. Throws BrokenPromise if the robot does not serve, or if an answer is
 * incomplete.
 */
export async function lookAt(life: DaemonProcess | undefined, as: Role | undefined): Promise<Shown> {
  const get = <Body>(path: string) => answerTo<Body>(life, path, as);
  const status = await get<Status>('/api/status');
  promise(status.storage.ok, 'storage', () => JSON.stringify(status.storage));
  const unit = async (name: UnitName): Promise<UnitShown> => {
    const { online, problem, mode, gains } = status[name];
    promise(online, 'online', () => `${name} is offline: ${JSON.stringify(problem)}`);
    const { tune } = await get<{ readonly tune: Tune | null }>(`/api/${name}/autotune`);
    return {
      mode,
      applied: gains.applied,
      kept: await get<GainSet>(`/api/${name}/pidconfig`),
      isTried: gains.trial !== undefined,
      isTuned: tune?.state === 'running',
      history: await get<UnitShown['history']>(`/api/${name}/pidconfig/history?limit=20`),
    };
  };
  const { events } = await get<LogPage>('/api/log');
  const head = status.log.ok ? await get<LogHead>('/api/log/head') : undefined;
  const { phase, lock, refereeSilent, recorded } = status.match;
  return {
    stopped: status.stopped,
    access: status.access.state,
    log: { head, events },
    match: { phase, locked: lock !== null, refereeSilent, recorded },
    units: { gimbal: await unit('gimbal'), chassis: await unit('chassis') },
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
  const { status, body } = (await Promise.race([answer, settle()])) ?? {};
  if (status !== 200 || body === undefined) {
    const said = `${path} answers ${status} when settled: ${JSON.stringify(body)}`;
    throw new BrokenPromise('serves', said);
  }
  return body;
}
