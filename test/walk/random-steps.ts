import type { FaultBody } from '../../sim/bus/faults.js';
import type { Unit } from '../../src/core/units.js';
import type { Random } from '../support/random.js';
import type { WalkStep } from './history.js';
import type { Request } from './request.js';
import { type DiskWeather, FAIR } from './walk-disk.js';

/** Draws single steps. Any step may follow any other. */
export class RandomSteps {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** In some of these requests the caller hangs up. */
  ask(request: Request): WalkStep {
    if (!this.#random.chance(0.07)) return { do: 'ask', request };
    return { do: 'ask', request, hangUpAfterMs: this.#random.among([0, 1, 5, 20, 100]) };
  }

  flood({ name }: Unit): WalkStep {
    return {
      do: 'flood',
      request: { method: 'GET', path: `/api/${name}/excitation` },
      callers: this.#random.whole(1, 6),
      pauseMs: 1,
      forMs: this.#random.among([50, 200, 400]),
    };
  }

  wait(): WalkStep {
    const ms = this.#random.weighted([
      [3, this.#random.whole(1, 5)],
      [3, this.#random.whole(6, 60)],
      [2, this.#random.whole(61, 400)],
      [1, this.#random.whole(401, 2500)],
    ]);
    return { do: 'wait', ms };
  }

  late(request: Request): WalkStep {
    return { do: 'late', ms: this.#random.whole(1, 300), request };
  }

  fault({ name }: Unit): WalkStep {
    const random = this.#random;
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
    return { do: 'fault', fault: counted ? { ...fault, count: random.whole(1, 12) } : fault };
  }

  loseAnswers(): WalkStep {
    return { do: 'lose answers', count: this.#random.whole(1, 12) };
  }

  disk(): WalkStep {
    const random = this.#random;
    const weather = random.weighted<DiskWeather>([
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
    return { do: 'disk', weather };
  }

  wallClock(): WalkStep {
    return {
      do: 'wall clock',
      jumpMs: this.#random.among([-1, 1]) * this.#random.among([5e3, 86.4e6, 3e10]),
    };
  }

  tokens(): WalkStep {
    const list = this.#random.among([
      ['operator', 'referee'],
      ['operator', 'referee'],
      ['operator', 'spectator'],
      ['referee'],
      [],
      'damaged',
    ] as const);
    return { do: 'tokens', list };
  }

  end(): WalkStep {
    const random = this.#random;
    const end = {
      do: 'end',
      how: random.among(['term', 'kill', 'cut'] as const),
      left: random.among([0, 1, 0.3, 0.8]),
      downMs: random.among([0, 20, 300, 1500]),
      controllersToo: random.chance(0.2),
    } as const;
    // A configuration allows no silence of less than three polls: at 10 Hz, 300 ms.
    return random.chance(0.8) ? end : { ...end, hostSilenceMs: random.among([0, 300, 500, 2000]) };
  }
}
