import type { Excitation, GainSet, Mode, UnitName } from '../../core/units.js';
import type { HistoryLine } from '../../schemas/history.js';
import type { LogPage } from '../../schemas/log.js';
import type { TrialStatus } from '../../schemas/status.js';
import type { RememberedStep, StepSummary } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import type { Session } from '../access/session.js';
import { createRequest, type RequestHandlers, SESSION } from './request.js';

interface DaemonHandlers extends RequestHandlers {
  /** A stop that was asked for has no answer yet. */
  readonly isStopUnheard: () => boolean;
}

export type Daemon = ReturnType<typeof createDaemon>;

/** All that the page asks of the daemon. */
export function createDaemon(handlers: DaemonHandlers) {
  const request = createRequest(handlers);
  const { get, post, remove, insister } = request;
  const insistOnStop = insister('/api/stop', {});
  const insistOnDark = insister('/api/laser', { action: 'off' });
  /** Stops that were asked for so far. */
  let stops = 0;
  /** Requests that move or light, by their paths. */
  const movers = new Map<string, AbortController>();
  /** A request that is not answered yet must not come to pass after the one that is made now. */
  const takeBack = (path: string) => {
    movers.get(path)?.abort();
    movers.delete(path);
  };
  /**
   * A renewal goes beside the ones before it. While a stop has no answer nothing is asked for but what `calms`, and a resume.
   */
  const move = <T>(path: string, body?: unknown, { renews = false, calms = false } = {}) => {
    if (!calms && handlers.isStopUnheard()) return post<T>(path, body, AbortSignal.abort());
    if (!renews) takeBack(path);
    const mover = movers.get(path) ?? new AbortController();
    movers.set(path, mover);
    return post<T>(path, body, mover.signal);
  };
  return {
    /** Used by the parts that few pages fetch, which ask for themselves. */
    request,
    stop: (onAgain: () => void) => {
      for (const path of movers.keys()) takeBack(path);
      stops += 1;
      return insistOnStop(onAgain);
    },
    /** Changes with each stop: what waits for its turn must not be asked for after one that came meanwhile. */
    stops: () => stops,
    resume: () => move('/api/resume', undefined, { calms: true }),
    light: () => move('/api/laser', { action: 'on' }),
    darken: (onAgain: () => void, signal: AbortSignal) => {
      takeBack('/api/laser');
      return insistOnDark(onAgain, signal);
    },
    switchMode: (unit: UnitName, mode: Mode) =>
      move(`/api/${unit}/mode/switch`, { mode }, { calms: mode === 'manual' }),
    excite: (unit: UnitName, wave: { loop: string; amplitude: number | null; periodS: number | null }) =>
      move<Excitation>(`/api/${unit}/excitation`, wave, { calms: wave.amplitude === 0 }),
    gains: (unit: UnitName) => get<GainSet>(`/api/${unit}/pidconfig`),
    save: (unit: UnitName, gains: GainSet, baseRevision: number) =>
      post<GainSet>(`/api/${unit}/pidconfig?baseRevision=${baseRevision}`, gains),
    /** Begins a trial. With the id of one it changes that, or only renews it. */
    tryGains: (
      unit: UnitName,
      trial: { gains: GainSet; leaseS: number; id: string | undefined },
      renews: boolean,
    ) => move<TrialStatus>(`/api/${unit}/pidconfig/trial`, trial, { renews }),
    endTrial: (unit: UnitName) => remove(`/api/${unit}/pidconfig/trial`),
    /** Begins a tuning. With the id of one it renews that. */
    tune: (unit: UnitName, wanted: { loop: string; style: Tune['style']; leaseS: number; id?: string }) =>
      move<Tune>(`/api/${unit}/autotune`, wanted, { renews: wanted.id !== undefined }),
    lastTune: (unit: UnitName) => get<{ readonly tune: Tune | null }>(`/api/${unit}/autotune`),
    endTune: (unit: UnitName) => {
      const path = `/api/${unit}/autotune`;
      takeBack(path);
      return remove(path);
    },
    steps: (unit: UnitName, loop: string) => get<readonly StepSummary[]>(`/api/${unit}/steps?loop=${loop}`),
    /** The best so far: one, or none. */
    bestSteps: (unit: UnitName, loop: string) =>
      get<readonly StepSummary[]>(`/api/${unit}/steps/best?loop=${loop}`),
    step: (unit: UnitName, loop: string, number: number) =>
      get<RememberedStep>(`/api/${unit}/step?loop=${loop}&number=${number}`),
    session: () => get<Session>(SESSION),
    enter: (token: string) => post<Session>(SESSION, { token }),
    leave: () => remove<Session>(SESSION),
    ping: () => get('/healthz'),
    log: (after: number) => get<LogPage>(`/api/log?after=${after}`),
    /** Plays a fault on the simulator. `truth` is how things really are there. */
    fault: (target: string, fault: string) => post('/sim/faults', { target, fault }),
    truth: () => get<Readonly<Record<string, unknown>>>('/sim/state'),
    history: (unit: UnitName, limit: number) =>
      get<readonly HistoryLine[]>(`/api/${unit}/pidconfig/history?limit=${limit}`),
  };
}
