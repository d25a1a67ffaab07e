import type { FaultBody } from '../../sim/bus/faults.js';
import { MODES, type Mode, UNIT_LIST, type Unit } from '../../src/core/units.js';
import type { Request } from './caller.js';
import type { History, Step, WalkSettings } from './history.js';
import type { Random } from './random.js';
import { RandomRequests } from './random-requests.js';
import { type DiskWeather, FAIR } from './walk-disk.js';

const USUAL: WalkSettings = {
  pollHz: 50,
  hostSilenceMs: 500,
  onControllerReset: 'manual',
  laserMaxOnS: 0,
  refereeSilenceMs: 500,
  onRefereeSilence: 'stop',
  frameMs: 0.5,
  effectMs: 0,
};

/** How often something happens, against how often it usually does. */
export interface Theme {
  readonly mode: number;
  readonly wave: number;
  readonly gains: number;
  readonly trial: number;
  readonly tune: number;
  readonly stop: number;
  readonly match: number;
  readonly access: number;
  readonly disk: number;
  readonly end: number;
}

const THEMES: readonly Theme[] = [
  { mode: 1, wave: 1, gains: 1, trial: 1, tune: 0.3, stop: 1, match: 0.2, access: 0, disk: 1, end: 1 },
  {
    mode: 0.3,
    wave: 3,
    gains: 0.2,
    trial: 0.2,
    tune: 0,
    stop: 0.2,
    match: 0,
    access: 0,
    disk: 0.3,
    end: 0.5,
  },
  { mode: 1, wave: 0.3, gains: 0.5, trial: 0.5, tune: 0.2, stop: 3, match: 0, access: 0, disk: 0.5, end: 1 },
  { mode: 0.3, wave: 0, gains: 4, trial: 4, tune: 0.2, stop: 0.5, match: 0, access: 0, disk: 4, end: 4 },
  {
    mode: 0.2,
    wave: 0.3,
    gains: 0.2,
    trial: 5,
    tune: 1,
    stop: 0.7,
    match: 0.2,
    access: 0,
    disk: 0.3,
    end: 0.3,
  },
  {
    mode: 1,
    wave: 0.5,
    gains: 0.5,
    trial: 0.5,
    tune: 0.3,
    stop: 1.5,
    match: 2,
    access: 0,
    disk: 0.5,
    end: 1,
  },
  { mode: 1, wave: 0.5, gains: 0.5, trial: 0.5, tune: 0.3, stop: 1, match: 2, access: 1, disk: 1.5, end: 3 },
  {
    mode: 0.3,
    wave: 0.2,
    gains: 0.2,
    trial: 0.4,
    tune: 4,
    stop: 0.5,
    match: 0.2,
    access: 0,
    disk: 0.2,
    end: 0.5,
  },
];
const SETTLE_EVERY = 12;

/** A history from a start of everything to an end where all is at rest. */
export function randomHistory(random: Random, length: number): History {
  const settings = random.chance(0.2)
    ? USUAL
    : {
        pollHz: random.among([10, 10, 20, 50, 100]),
        hostSilenceMs: random.among([0, 500, 500, 2000]),
        onControllerReset: random.among(['manual', 'restore'] as const),
        laserMaxOnS: random.among([0, 0, 0.5, 5]),
        refereeSilenceMs: random.among([500, 500, 3000]),
        onRefereeSilence: random.among(['stop', 'stop', 'hold'] as const),
        frameMs: random.among([0.2, 0.5, 1]),
        effectMs: random.among([0, 0, 6, 19]),
      };
  const hot = random.among(UNIT_LIST);
  const theme = random.among(THEMES);
  const requests = new RandomRequests(random, theme);
  const steps: Step[] = [
    ...(theme.access > 0 ? [{ do: 'tokens', list: ['operator', 'referee'] } as const] : []),
    ...(random.chance(0.5) ? begun(hot, theme) : []),
  ];
  while (steps.length + 1 < length) {
    if (random.chance(1 / SETTLE_EVERY)) steps.push({ do: 'settle' });
    else
      steps.push(...randomSteps(random, random.chance(0.7) ? hot : random.among(UNIT_LIST), theme, requests));
  }
  return { settings, steps: [...steps, { do: 'settle' }] };
}

/** The unit in debug mode, where a wave can be chosen. */
function begun({ name }: Unit, { access }: Theme): readonly Step[] {
  const request: Request = { method: 'POST', path: `/api/${name}/mode/switch`, body: { mode: 'debug' } };
  return [
    { do: 'ask', request: access > 0 ? { ...request, as: 'operator' } : request },
    { do: 'wait', ms: 20 },
  ];
}

function randomSteps(random: Random, unit: Unit, theme: Theme, requests: RandomRequests): readonly Step[] {
  const kind = random.weighted<() => readonly Step[]>([
    [45, () => [asked(random, requests.any(unit))]],
    [25, () => [{ do: 'wait', ms: waitMs(random) }]],
    [16, () => [{ do: 'fault', fault: randomFault(random, unit) }]],
    [2, () => [{ do: 'lose answers', count: random.whole(1, 12) }]],
    [3, () => refusedAndDone(random, unit, requests)],
    [3 * theme.disk, () => [{ do: 'disk', weather: randomWeather(random) }]],
    [1, () => [{ do: 'wall clock', jumpMs: random.among([-1, 1]) * random.among([5e3, 86.4e6, 3e10]) }]],
    [2, () => contact(random, requests)],
    [0.3, () => [flood(random, unit)]],
    [3 * theme.access, () => [{ do: 'tokens', list: randomTokens(random) }]],
    [2 * theme.match, () => play(random, requests)],
    [theme.end, () => keptThenGone(random, unit, requests)],
    [theme.trial, () => trialThenEnd(random, unit, requests)],
    [0.5 * theme.stop, () => stopOfTheAbsent(random, unit, requests)],
    [2 * theme.tune, () => tuning(random, unit, requests)],
    [3 * theme.end, () => [randomEnd(random)]],
  ]);
  return kind();
}

function asked(random: Random, request: Request): Step {
  if (!random.chance(0.07)) return { do: 'ask', request };
  return { do: 'ask', request, hangUpAfterMs: random.among([0, 1, 5, 20, 100]) };
}

function flood(random: Random, { name }: Unit): Step {
  return {
    do: 'flood',
    request: { method: 'GET', path: `/api/${name}/excitation` },
    callers: random.whole(1, 6),
    pauseMs: 1,
    forMs: random.among([50, 200, 400]),
  };
}

/** A tuning in debug, held for a while, on a robot that may move. */
function tuning(random: Random, unit: Unit, requests: RandomRequests): readonly Step[] {
  const { name } = unit;
  const { start, renewal } = requests.tuning(unit);
  const resume = requests.by({ method: 'POST', path: '/api/resume' });
  const debug = requests.by({ method: 'POST', path: `/api/${name}/mode/switch`, body: { mode: 'debug' } });
  return [
    ...(random.chance(0.5) ? [{ do: 'ask', request: resume } as const, { do: 'wait', ms: 50 } as const] : []),
    { do: 'ask', request: debug },
    { do: 'wait', ms: 50 },
    { do: 'ask', request: start },
    { do: 'wait', ms: 5 },
    { do: 'flood', request: renewal, callers: 1, pauseMs: 150, forMs: random.among([1, 2000, 12_000]) },
    { do: 'wait', ms: random.among([5, 700, 2500, 6000]) },
  ];
}

/** The contact of the interlock, and often somebody who asks for light just then. */
function contact(random: Random, requests: RandomRequests): readonly Step[] {
  const lights = requests.by({ method: 'POST', path: '/api/laser', body: { action: 'on' } });
  const asks: readonly Step[] = random.chance(0.4) ? [{ do: 'ask', request: lights }] : [];
  return [{ do: 'interlock', closed: random.chance(0.6) }, ...asks];
}

/** A desk that is heard for a while and begins a play, and a robot that is let run. */
function play(random: Random, requests: RandomRequests): readonly Step[] {
  const beats: Step = {
    do: 'flood',
    request: requests.beat(),
    callers: 1,
    pauseMs: 200,
    forMs: random.among([1, 500, 3000]),
  };
  const begins = requests.call(random.among(['auto', 'teleop']));
  const runs = requests.by({ method: 'POST', path: '/api/resume' });
  const lights = requests.by({ method: 'POST', path: '/api/laser', body: { action: 'on' } });
  return [
    beats,
    { do: 'ask', request: begins },
    ...(random.chance(0.7) ? [{ do: 'wait', ms: 20 } as const, { do: 'ask', request: runs } as const] : []),
    ...(random.chance(0.5) ? [{ do: 'wait', ms: 20 } as const, { do: 'ask', request: lights } as const] : []),
    // Now and then longer than the silence that a play bears.
    { do: 'wait', ms: random.among([5, 300, 900]) },
  ];
}

/** Requests that are refused although the controller has heard them, and one that is not. */
function refusedAndDone(random: Random, unit: Unit, requests: RandomRequests): readonly Step[] {
  const asked = (): readonly Step[] => [
    { do: 'ask', request: requests.any(unit) },
    { do: 'wait', ms: random.among([1, 20, 400]) },
  ];
  return [...asked(), { do: 'lose answers', count: random.whole(3, 9) }, ...asked(), ...asked()];
}

/** Something that has to outlive the daemon, and its end right after. */
function keptThenGone(random: Random, unit: Unit, requests: RandomRequests): readonly Step[] {
  const weather: DiskWeather = random.weighted([
    [2, FAIR],
    [2, { ...FAIR, latencyMs: 200 }],
    [1, { ...FAIR, fails: ['sync'] }],
  ]);
  const ms = random.among([1, 5, 20, 100, 700]);
  return [
    { do: 'disk', weather },
    { do: 'ask', request: requests.kept(unit) },
    { do: 'wait', ms },
    ...(random.chance(0.3) ? [{ do: 'settle' } as const] : []),
    randomEnd(random),
  ];
}

/** A long trial, and what ends it before its time. */
function trialThenEnd(random: Random, unit: Unit, requests: RandomRequests): readonly Step[] {
  const { name } = unit;
  const ends = random.among<() => readonly Step[]>([
    () => [{ do: 'ask', request: requests.by({ method: 'POST', path: '/api/stop' }) }],
    () => [{ do: 'ask', request: requests.kept(unit) }],
    () => [{ do: 'fault', fault: { target: name, fault: 'brownout' } }],
    () => [
      { do: 'fault', fault: { target: name, fault: 'unplug' } },
      { do: 'wait', ms: 1200 },
      { do: 'fault', fault: { target: name, fault: 'plug' } },
    ],
    () => random.shuffled(MODES).flatMap(mode => [switched(unit, mode, requests), { do: 'wait', ms: 60 }]),
  ]);
  return [
    { do: 'ask', request: requests.longTrial(unit) },
    { do: 'wait', ms: random.among([20, 100]) },
    ...ends(),
    { do: 'wait', ms: random.among([1, 60]) },
    { do: 'settle' },
  ];
}

/** A stop while a controller cannot be reached, right after a start or a resume: only its own silence proves it. */
function stopOfTheAbsent(random: Random, { name }: Unit, requests: RandomRequests): readonly Step[] {
  const stop: Step = { do: 'ask', request: requests.by({ method: 'POST', path: '/api/stop' }) };
  const resume: Step = { do: 'ask', request: requests.by({ method: 'POST', path: '/api/resume' }) };
  const away: Step = { do: 'fault', fault: { target: name, fault: 'unplug' } };
  const before: readonly Step[] = random.chance(0.5)
    ? [away, randomEnd(random)]
    : [
        stop,
        { do: 'wait', ms: random.among([50, 200]) },
        resume,
        { do: 'wait', ms: random.whole(1, 12) },
        away,
      ];
  const absent: readonly Step[] = [
    ...before,
    { do: 'wait', ms: random.among([5, 100, 400, 700, 1500]) },
    stop,
  ];
  if (random.chance(0.5)) return absent;
  // It was in auto before, and comes back about when somebody resumes.
  return [
    {
      do: 'ask',
      request: requests.by({ method: 'POST', path: `/api/${name}/mode/switch`, body: { mode: 'auto' } }),
    },
    { do: 'wait', ms: random.among([5, 60]) },
    ...absent,
    { do: 'wait', ms: random.among([5, 600, 1000]) },
    { do: 'fault', fault: { target: name, fault: 'plug' } },
    { do: 'wait', ms: random.whole(1, 120) },
    resume,
    { do: 'wait', ms: random.among([5, 60, 400]) },
  ];
}

function switched({ name }: Unit, mode: Mode, requests: RandomRequests): Step {
  return {
    do: 'ask',
    request: requests.by({ method: 'POST', path: `/api/${name}/mode/switch`, body: { mode } }),
  };
}

function randomTokens(random: Random) {
  return random.among([
    ['operator', 'referee'],
    ['operator', 'referee'],
    ['operator', 'spectator'],
    ['referee'],
    [],
    'damaged',
  ] as const);
}

function randomEnd(random: Random): Step {
  const end = {
    do: 'end',
    how: random.among(['term', 'kill', 'cut'] as const),
    left: random.among(['nothing', 'all', 0.3, 0.8] as const),
    downMs: random.among([0, 20, 300, 1500]),
    controllersToo: random.chance(0.2),
  } as const;
  return random.chance(0.8) ? end : { ...end, hostSilenceMs: random.among([0, 100, 500, 2000]) };
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
    [1, { ...FAIR, hangs: true }],
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
          ['read'],
          ['open'],
          ['look'],
        ]),
        torn: random.among([0, 0.5, 1]),
      },
    ],
  ]);
}
