import type { Role } from '../../src/access/roles.js';
import { perUnit, UNIT_LIST } from '../../src/core/units.js';
import { BrokenPromise, promise } from './broken-promise.js';
import type { DaemonLife } from './daemon-life.js';
import type { Shown } from './model.js';
import { settle } from './walk-clock.js';

/** What whoever has this token is shown at rest. Throws BrokenPromise where the robot does not serve or is not whole. */
export async function lookAt(life: DaemonLife | undefined, as: Role | undefined): Promise<Shown> {
  const get = (path: string) => answerTo(life, path, as);
  const status = await get('/api/status');
  promise(status.storage.ok, 'storage', () => JSON.stringify(status.storage));
  for (const { name } of UNIT_LIST) {
    const { online, problem } = status[name];
    promise(online, 'online', () => `${name} is offline: ${JSON.stringify(problem)}`);
  }
  const kept = {
    gimbal: await get('/api/gimbal/pidconfig'),
    chassis: await get('/api/chassis/pidconfig'),
  };
  const history = {
    gimbal: await get('/api/gimbal/pidconfig/history?limit=20'),
    chassis: await get('/api/chassis/pidconfig/history?limit=20'),
  };
  const { events } = await get('/api/log');
  const head = status.log.ok ? await get('/api/log/head') : undefined;
  const tunes = { gimbal: await get('/api/gimbal/autotune'), chassis: await get('/api/chassis/autotune') };
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

/** Answered without time passing. */
// biome-ignore lint/suspicious/noExplicitAny: answers whose shape the interface promises.
async function answerTo(life: DaemonLife | undefined, path: string, as: Role | undefined): Promise<any> {
  const { answer } = life?.ask({ method: 'GET', path, ...(as !== undefined && { as }) }) ?? {};
  if (answer === undefined)
    throw new BrokenPromise('serves', 'the daemon does not serve two seconds after the last fault');
  const late = new Promise<undefined>(resolve => void settle().then(() => resolve(undefined)));
  const found = await Promise.race([answer, late]);
  promise(
    found?.status === 200,
    'serves',
    () => `${path} answers ${found?.status} at rest: ${JSON.stringify(found?.body)}`,
  );
  return found?.body;
}
