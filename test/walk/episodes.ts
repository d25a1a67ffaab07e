import { MODES, type Mode, type Unit } from '../../src/core/units.js';
import type { Random } from '../support/random.js';
import { ask, SETTLE, type WalkStep, wait } from './history.js';
import type { RandomRequests } from './random-requests.js';
import type { RandomSteps } from './random-steps.js';
import { post, type Request } from './request.js';
import { type DiskWeather, FAIR } from './walk-disk.js';
import { CLEAR, type Network, type Pressed } from './walk-page.js';

const STOP = post('/api/stop');
const RESUME = post('/api/resume');
const LIGHT = post('/api/laser', { action: 'on' });

/** Sequences of steps that random steps would almost never form. */
export class Episodes {
  readonly #random: Random;
  readonly #requests: RandomRequests;
  readonly #steps: RandomSteps;

  constructor(random: Random, requests: RandomRequests, steps: RandomSteps) {
    this.#random = random;
    this.#requests = requests;
    this.#steps = steps;
  }

  /** A tuning in debug mode, whose lease is renewed for a while. Often a resume comes first. */
  tuning(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const { start, renewal } = this.#requests.tuning(unit);
    const resume = this.#ask(RESUME);
    const debug = this.#switch(unit, 'debug');
    return [
      ...(random.chance(0.5) ? [resume, wait(50)] : []),
      debug,
      wait(50),
      ask(start),
      wait(5),
      { do: 'flood', request: renewal, callers: 1, pauseMs: 150, forMs: random.among([1, 2000, 12_000]) },
      wait(random.among([5, 700, 2500, 6000])),
    ];
  }

  /** Two commands that drive the same unit, one shortly after the other. */
  drives(unit: Unit): readonly WalkStep[] {
    const [first, second] = this.#requests.drives(unit);
    return [
      this.#ask(RESUME),
      wait(60),
      ask(first),
      wait(this.#random.among([5, 60, 200])),
      ask(second),
      wait(this.#random.among([5, 60, 400])),
    ];
  }

  /** Opens or closes the interlock's contact, and often asks for light right after. */
  contact(): readonly WalkStep[] {
    const lights = this.#ask(LIGHT);
    const asks = this.#random.chance(0.4) ? [lights] : [];
    return [{ do: 'interlock', closed: this.#random.chance(0.6) }, ...asks];
  }

  /** A referee's desk beats for a while and begins a play. Often a caller then resumes. */
  play(): readonly WalkStep[] {
    const random = this.#random;
    const beats: WalkStep = {
      do: 'flood',
      request: this.#requests.beat(),
      callers: 1,
      pauseMs: 200,
      forMs: random.among([1, 500, 3000]),
    };
    const begins = this.#requests.call(random.among(['auto', 'teleop']));
    const runs = this.#ask(RESUME);
    const lights = this.#ask(LIGHT);
    return [
      beats,
      ask(begins),
      ...(random.chance(0.7) ? [wait(20), runs] : []),
      ...(random.chance(0.5) ? [wait(20), lights] : []),
      // The longest wait exceeds the shortest silence limit of a referee.
      wait(random.among([5, 300, 900])),
    ];
  }

  /** A play with light, whose desk is silent for about as long as it may be. Then a beat or another request is read late. */
  lateBeat(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const ms = random.whole(1, 300);
    const request = random.chance(0.7) ? this.#requests.beat() : this.#requests.any(unit);
    const lights = this.#ask(LIGHT);
    return [
      ...this.play(),
      ask(this.#requests.beat()),
      lights,
      wait(random.whole(100, 500)),
      { do: 'late', ms, request },
      wait(random.among([5, 300])),
    ];
  }

  /** A trial or a tuning, and a renewal that is read late. */
  lateRenewal(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const { start, renewal } = random.chance(0.5) ? this.#requests.tuning(unit) : this.#requests.trial(unit);
    return [
      this.#switch(unit, 'debug'),
      wait(50),
      ask(start),
      wait(random.among([60, 150, 900])),
      { do: 'late', ms: random.whole(1, 300), request: renewal },
      wait(random.among([5, 300])),
    ];
  }

  /** One usual request, then two whose frames reach the controller but are reported as failed. */
  refusedAndDone(unit: Unit): readonly WalkStep[] {
    const asked = (): readonly WalkStep[] => [
      ask(this.#requests.any(unit)),
      wait(this.#random.among([1, 20, 400])),
    ];
    return [...asked(), { do: 'lose answers', count: this.#random.whole(3, 9) }, ...asked(), ...asked()];
  }

  /** A request with a lasting effect, followed at once by the end of the daemon. */
  keptThenGone(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const weather: DiskWeather = random.weighted([
      [2, FAIR],
      [2, { ...FAIR, latencyMs: 200 }],
      [1, { ...FAIR, fails: ['sync'] }],
    ]);
    const ms = random.among([1, 5, 20, 100, 700]);
    return [
      { do: 'disk', weather },
      ask(this.#requests.kept(unit)),
      wait(ms),
      ...(random.chance(0.3) ? [SETTLE] : []),
      this.#steps.end(),
    ];
  }

  /** A long trial, and an event that ends it early. */
  trialThenEnd(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const { name } = unit;
    const ends = random.among<() => readonly WalkStep[]>([
      () => [this.#ask(STOP)],
      () => [this.#ask(RESUME)],
      () => [ask(this.#requests.kept(unit))],
      () => [ask(this.#requests.stolenTrial(unit))],
      () => [{ do: 'fault', fault: { target: name, fault: 'brownout' } }],
      () => [
        { do: 'fault', fault: { target: name, fault: 'unplug' } },
        wait(1200),
        { do: 'fault', fault: { target: name, fault: 'plug' } },
      ],
      () => random.shuffled(MODES).flatMap(mode => [this.#switch(unit, mode), wait(60)]),
    ]);
    return [
      ask(this.#requests.longTrial(unit)),
      wait(random.among([20, 100])),
      ...ends(),
      wait(random.among([1, 60])),
      SETTLE,
    ];
  }

  /**
   * A stop while a controller is unplugged, right after a start or a resume. Only the controller's silence can
   * confirm this stop.
   */
  stopOfTheAbsent(unit: Unit): readonly WalkStep[] {
    const random = this.#random;
    const { name } = unit;
    const stop = this.#ask(STOP);
    const resume = this.#ask(RESUME);
    const away: WalkStep = { do: 'fault', fault: { target: name, fault: 'unplug' } };
    const before: readonly WalkStep[] = random.chance(0.5)
      ? [away, this.#steps.end()]
      : [stop, wait(random.among([50, 200])), resume, wait(random.whole(1, 12)), away];
    const absent: readonly WalkStep[] = [...before, wait(random.among([5, 100, 400, 700, 1500])), stop];
    if (random.chance(0.5)) return absent;
    // The unit was in auto before, and is plugged in again at about the time of a resume.
    return [
      this.#switch(unit, 'auto'),
      wait(random.among([5, 60])),
      ...absent,
      wait(random.among([5, 600, 1000])),
      { do: 'fault', fault: { target: name, fault: 'plug' } },
      wait(random.whole(1, 120)),
      resume,
      wait(random.among([5, 60, 400])),
    ];
  }

  /** Presses on the page. The network between page and robot is mostly bad. */
  pressed({ name }: Unit): readonly WalkStep[] {
    const random = this.#random;
    const network: Network = {
      requestMs: random.among([0, 5, 300, 1800]),
      answerMs: random.among([0, 50, 2000]),
      loses: random.among(['nothing', 'requests', 'answers']),
    };
    const press = (): readonly WalkStep[] => {
      const pressed = random.weighted<Pressed>([
        [2, { act: 'stop' }],
        [1, { act: 'resume' }],
        [3, { act: 'light' }],
        [2, { act: 'darken' }],
        [1, { act: 'mode', unit: name, mode: random.among(MODES) }],
      ]);
      return [{ do: 'press', pressed }, wait(random.among([1, 20, 400, 1600]))];
    };
    return [
      { do: 'network', network: random.chance(0.2) ? CLEAR : network },
      ...press(),
      ...(random.chance(0.7) ? press() : []),
      // The page drops an Off that is older than 60 s by the wall clock.
      ...(random.chance(0.2) ? [{ do: 'wall clock', jumpMs: 61_000 } as const] : []),
      ...(random.chance(0.5) ? [{ do: 'network', network: CLEAR } as const] : []),
      ...press(),
    ];
  }

  #switch({ name }: Unit, mode: Mode): WalkStep {
    return this.#ask(post(`/api/${name}/mode/switch`, { mode }));
  }

  #ask(request: Request): WalkStep {
    return ask(this.#requests.by(request));
  }
}
