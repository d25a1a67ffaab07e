import type { FaultBody } from '../../sim/bus/faults.js';
import { type GainSet, MODES, UNIT_LIST, type Unit } from '../../src/core/units.js';
import type { Request } from './caller.js';
import type { Random } from './random.js';
import { type DiskWeather, FAIR, type Left } from './walk-disk.js';

/** One thing that happens. None waits for what it began, so that any of them overlap. */
export type Step =
  | { readonly do: 'ask'; readonly request: Request; readonly hangUpAfterMs?: number }
  /** Callers who ask again as soon as they are answered. */
  | { readonly do: 'flood'; readonly path: string; readonly callers: number; readonly forMs: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fault'; readonly fault: FaultBody }
  | { readonly do: 'disk'; readonly weather: DiskWeather }
  | { readonly do: 'wall clock'; readonly jumpMs: number }
  | { readonly do: 'interlock'; readonly closed: boolean }
  /** The daemon ends and starts again; with `cut` its disk loses what was not synced. */
  | {
      readonly do: 'end';
      readonly how: 'term' | 'kill' | 'cut';
      readonly left: Left;
      readonly downMs: number;
      readonly controllersToo: boolean;
    }
  /** Every fault ends; two seconds later all has to agree. */
  | { readonly do: 'settle' };

export interface WalkSettings {
  readonly pollHz: number;
  readonly hostSilenceMs: number;
  readonly onControllerReset: 'manual' | 'restore';
  readonly laserMaxOnS: number;
  /** Of one bus transaction. */
  readonly frameMs: number;
}

export interface History {
  readonly settings: WalkSettings;
  readonly steps: readonly Step[];
}

const USUAL: WalkSettings = {
  pollHz: 50,
  hostSilenceMs: 500,
  onControllerReset: 'manual',
  laserMaxOnS: 0,
  frameMs: 0.5,
};
/** In a request's body: the id that the unit's latest trial was answered with. */
export const LATEST_TRIAL = 'latest';

/** How often something happens, against how often it usually does. */
interface Theme {
  readonly mode: number;
  readonly wave: number;
  readonly gains: number;
  readonly stop: number;
  readonly disk: number;
  readonly end: number;
}

const THEMES: readonly Theme[] = [
  { mode: 1, wave: 1, gains: 1, stop: 1, disk: 1, end: 1 },
  { mode: 0.3, wave: 3, gains: 0.2, stop: 0.2, disk: 0.3, end: 0.5 },
  { mode: 1, wave: 0.3, gains: 0.5, stop: 3, disk: 0.5, end: 1 },
  { mode: 0.3, wave: 0, gains: 4, stop: 0.5, disk: 4, end: 4 },
];
const SETTLE_EVERY = 12;

/** From one start of everything to an end where all is at rest. */
export function randomHistory(random: Random, length: number): History {
  const settings = random.chance(0.5)
    ? USUAL
    : {
        pollHz: random.among([10, 50, 100]),
        hostSilenceMs: random.among([0, 500, 500, 2000]),
        onControllerReset: random.among(['manual', 'restore'] as const),
        laserMaxOnS: random.among([0, 0, 0.5]),
        frameMs: random.among([0.2, 0.5, 1]),
      };
  const hot = random.among(UNIT_LIST);
  const theme = random.among(THEMES);
  const steps: Step[] = random.chance(0.5) ? [...started(hot)] : [];
  for (let count = steps.length + 1; count < length; count += 1) {
    if (random.chance(1 / SETTLE_EVERY)) steps.push({ do: 'settle' });
    else steps.push(randomStep(random, random.chance(0.7) ? hot : random.among(UNIT_LIST), theme));
  }
  return { settings, steps: [...steps, { do: 'settle' }] };
}

/** In debug, where a wave can be chosen. */
function started({ name }: Unit): readonly Step[] {
  const request: Request = { method: 'POST', path: `/api/${name}/mode/switch`, body: { mode: 'debug' } };
  return [
    { do: 'ask', request },
    { do: 'wait', ms: 20 },
  ];
}

function randomStep(random: Random, unit: Unit, theme: Theme): Step {
  const kind = random.weighted([
    [45, () => asked(random, unit, theme)],
    [25, () => ({ do: 'wait', ms: waitMs(random) }) as const],
    [16, () => ({ do: 'fault', fault: randomFault(random, unit) }) as const],
    [3 * theme.disk, () => ({ do: 'disk', weather: randomWeather(random) }) as const],
    [
      1,
      () =>
        ({ do: 'wall clock', jumpMs: random.among([-1, 1]) * random.among([5e3, 86.4e6, 3e10]) }) as const,
    ],
    [2, () => ({ do: 'interlock', closed: random.chance(0.6) }) as const],
    [
      1,
      () =>
        ({
          do: 'flood',
          path: `/api/${unit.name}/excitation`,
          callers: random.whole(1, 6),
          forMs: random.among([50, 200, 400]),
        }) as const,
    ],
    [
      3 * theme.end,
      () =>
        ({
          do: 'end',
          how: random.among(['term', 'kill', 'cut'] as const),
          left: random.among(['nothing', 'all', 0.3, 0.8] as const),
          downMs: random.among([0, 20, 300, 1500]),
          controllersToo: random.chance(0.2),
        }) as const,
    ],
  ]);
  return kind();
}

function asked(random: Random, unit: Unit, theme: Theme): Step {
  const request = randomRequest(random, unit, theme);
  if (!random.chance(0.07)) return { do: 'ask', request };
  return { do: 'ask', request, hangUpAfterMs: random.among([0, 1, 5, 20, 100]) };
}

function randomRequest(random: Random, unit: Unit, theme: Theme): Request {
  const path = (rest: string) => `/api/${unit.name}/${rest}`;
  const post = (to: string, body?: unknown): Request => ({ method: 'POST', path: to, body });
  const { mode, wave, gains, stop } = theme;
  const request = random.weighted([
    [12 * mode, () => post(path('mode/switch'), { mode: random.among(MODES) })],
    [4, () => post(path('mode/switch'), { mode: 'debug' })],
    [14 * wave, () => post(path('excitation'), randomWave(random, unit))],
    [8 * gains, () => post(path('pidconfig'), randomGains(random, unit))],
    [2 * gains, () => post(path('pidconfig/restore'), { revision: random.whole(1, 5) })],
    [3 * gains, () => post(path('pidconfig/trial'), randomTrial(random, unit))],
    [1 * gains, (): Request => ({ method: 'DELETE', path: path('pidconfig/trial') })],
    [5, () => post('/api/laser', { action: random.among(['on', 'on', 'off']) })],
    [4 * stop, () => post('/api/stop')],
    [5 * stop, () => post('/api/resume')],
    [1, (): Request => ({ method: 'GET', path: '/api/status' })],
    [1, (): Request => ({ method: 'GET', path: path('excitation') })],
    [1, (): Request => ({ method: 'GET', path: path('pidconfig') })],
  ]);
  return request();
}

function randomTrial(random: Random, unit: Unit) {
  const trial = { gains: randomGains(random, unit), leaseS: random.among([0.2, 1, 3]) };
  return random.chance(0.5) ? trial : { ...trial, id: LATEST_TRIAL };
}

function randomWave(random: Random, unit: Unit) {
  return {
    loop: random.among(unit.loops).name,
    amplitude: random.among([0, 0.125, 0.1875]),
    periodS: random.among([0.5, 2]),
  };
}

/** Small whole numbers, so that they are the same as float32; `kp` tells one save from another. */
function randomGains(random: Random, unit: Unit): GainSet {
  const kp = random.whole(1, 9999);
  return Object.fromEntries(unit.loops.map(({ name, slot }) => [name, { kp, ki: slot, kd: 0 }]));
}

function waitMs(random: Random): number {
  return random.weighted([
    [3, random.whole(1, 5)],
    [3, random.whole(6, 60)],
    [2, random.whole(61, 400)],
    [1, random.whole(401, 2500)],
  ]);
}

function randomFault(random: Random, { name }: Unit): FaultBody {
  const fault = random.weighted<FaultBody>([
    [5, { target: name, fault: random.among(['nack', 'corrupt', 'timeout']) }],
    [2, { target: 'bus', fault: random.among(['nack', 'corrupt', 'timeout']) }],
    [1, { target: random.among([name, 'bus']), fault: 'hang', count: 1 }],
    [3, { target: name, fault: 'unplug' }],
    [2, { target: name, fault: 'plug' }],
    [4, { target: name, fault: 'brownout' }],
    [1, { target: 'pin', fault: 'nack' }],
    [3, { target: random.among([name, 'bus', 'pin']), fault: 'clear' }],
  ]);
  const counted = !['plug', 'brownout', 'clear'].includes(fault.fault) && random.chance(0.8);
  return counted ? { ...fault, count: random.whole(1, 12) } : fault;
}

function randomWeather(random: Random): DiskWeather {
  return random.weighted([
    [4, FAIR],
    [2, { ...FAIR, latencyMs: random.among([20, 200, 700]) }],
    [
      3,
      {
        latencyMs: random.among([1, 30]),
        fails: random.among([
          ['sync'],
          ['append'],
          ['sync', 'append'],
          ['rename'],
          ['syncFolder'],
          ['create'],
        ]),
        torn: random.among([0, 0.5, 1]),
      },
    ],
  ]);
}
