import { ROLE_NAMES } from '../../src/access/roles.js';
import { PHASES, type Phase } from '../../src/core/phases.js';
import { type GainSet, MODES, UNIT_LIST, type Unit } from '../../src/core/units.js';
import type { Random } from '../support/random.js';
import { needOf } from './access-model.js';
import { LATEST_ID } from './history.js';
import { post, type Request } from './request.js';
import type { Theme } from './theme.js';

/** Draws the requests of one history, with their callers. */
export class RandomRequests {
  readonly #random: Random;
  readonly #theme: Theme;
  #matchRevision = 0;

  constructor(random: Random, theme: Theme) {
    this.#random = random;
    this.#theme = theme;
  }

  any(unit: Unit): Request {
    const random = this.#random;
    const path = (rest: string) => `/api/${unit.name}/${rest}`;
    const { mode, excitation, gains, trial, tune, stop, match, drive } = this.#theme;
    const request = random.weighted<() => Request>([
      [12 * mode, () => post(path('mode/switch'), { mode: random.among(MODES) })],
      [4, () => post(path('mode/switch'), { mode: 'debug' })],
      [14 * excitation, () => post(path('excitation'), randomExcitation(random, unit))],
      [8 * gains, () => post(path('pidconfig'), randomGains(random, unit))],
      [2 * gains, () => post(path('pidconfig/restore'), { revision: random.whole(1, 5) })],
      [3 * trial, () => post(path('pidconfig/trial'), randomTrial(random, unit))],
      [0.5 * trial, () => ({ method: 'DELETE', path: path('pidconfig/trial') })],
      [3 * tune, () => tuneStart(random, unit)],
      [2 * tune, () => tuneRenewal(random, unit)],
      [tune, () => ({ method: 'DELETE', path: path('autotune') })],
      [14 * drive, () => post('/api/drive', randomDrive(random, unit))],
      [5, () => post('/api/laser', { action: random.among(['on', 'on', 'off']) })],
      [4 * stop, () => post('/api/stop')],
      [5 * stop, () => post('/api/resume')],
      [2 * match, () => this.#lock()],
      [3 * match, () => this.#unlock()],
      [4 * match, () => this.call(random.among(PHASES))],
      [3 * match, () => this.call('none')],
      [4 * match, () => this.beat()],
      [1, () => get('/api/status')],
      [1, () => get(path('excitation'))],
      [1, () => get(path('pidconfig'))],
    ]);
    return this.by(request());
  }

  /** A request whose effect must survive a restart once it is answered 200. */
  kept(unit: Unit): Request {
    const random = this.#random;
    const save = () => this.by(post(`/api/${unit.name}/pidconfig`, randomGains(random, unit)));
    const lock = () => this.by(this.#lock());
    const unlock = () => this.by(this.#unlock());
    return random.weighted<() => Request>([
      [3, save],
      [this.#theme.match, lock],
      [this.#theme.match, unlock],
      [this.#theme.match, () => this.call(random.among(PHASES))],
    ])();
  }

  #lock(): Request {
    const id = this.#random.among(['first', 'second', 'third']);
    return post('/api/match/lock', { reason: 'walk', ...(id !== 'third' && { id }) });
  }

  #unlock(): Request {
    const lock = this.#random.among(['first', 'second']);
    return post('/api/match/unlock', this.#random.chance(0.5) ? { lock } : undefined);
  }

  longTrial(unit: Unit): Request {
    const body = { gains: randomGains(this.#random, unit), leaseS: 5 };
    return this.by(post(`/api/${unit.name}/pidconfig/trial`, body));
  }

  /** A trial, and the renewal of the latest trial by the same caller. */
  trial(unit: Unit): { readonly start: Request; readonly renewal: Request } {
    const trial = { gains: randomGains(this.#random, unit), leaseS: this.#random.among([0.2, 1]) };
    const start = this.by(post(`/api/${unit.name}/pidconfig/trial`, trial));
    return { start, renewal: { ...start, body: { ...trial, id: LATEST_ID } } };
  }

  /** The renewal of the latest trial by another address, which does not own the trial. */
  stolenTrial(unit: Unit): Request {
    const body = { gains: randomGains(this.#random, unit), leaseS: 5, id: LATEST_ID };
    return { ...post(`/api/${unit.name}/pidconfig/trial`, body), elsewhere: true };
  }

  /** Two drive commands for this unit: the same one twice, or the second one of another address or with other rates. */
  drives(unit: Unit): readonly [Request, Request] {
    const random = this.#random;
    const command = { ...randomDrive(random, unit), holdMs: random.among([50, 500]) };
    const first = this.by(post('/api/drive', command));
    const { elsewhere, ...rest } = first;
    const others: Request[] = [
      first,
      elsewhere ? rest : { ...rest, elsewhere: true },
      this.by(post('/api/drive', randomDrive(random, unit))),
    ];
    return [first, random.among(others)];
  }

  /** A call of the referee's desk. */
  call(phase: Phase): Request {
    const random = this.#random;
    this.#matchRevision += 1;
    const call = {
      id: random.chance(0.8) ? 'first' : 'second',
      revision: random.chance(0.9) ? this.#matchRevision : 1,
      phase,
    };
    const timed = { ...call, remainingS: random.among([null, 0.2, 1, 5]) };
    return this.by(post('/api/match', random.chance(0.3) ? call : timed));
  }

  /** A tuning, and the renewal of its lease. */
  tuning(unit: Unit): { readonly start: Request; readonly renewal: Request } {
    const random = this.#random;
    return { start: this.by(tuneStart(random, unit)), renewal: this.by(tuneRenewal(random, unit)) };
  }

  beat(): Request {
    const random = this.#random;
    const beat = { holder: random.among(['desk', 'desk', 'other']), ttlMs: random.among([100, 500, 2000]) };
    return this.by(post('/api/match/lease', random.chance(0.8) ? beat : { ...beat, takeover: true }));
  }

  /** Usually picks a role with the right, if there are tokens. */
  by(asked: Request): Request {
    const random = this.#random;
    const request: Request = random.chance(0.8) ? asked : { ...asked, elsewhere: true };
    if (this.#theme.access === 0) return request;
    if (random.chance(0.8)) return { ...request, as: needOf(request) === 'rule' ? 'referee' : 'operator' };
    return random.chance(0.3) ? request : { ...request, as: random.among(ROLE_NAMES) };
  }
}

function get(path: string): Request {
  return { method: 'GET', path };
}

function randomTrial(random: Random, unit: Unit) {
  const trial = { gains: randomGains(random, unit), leaseS: random.among([0.2, 1, 5]) };
  return random.chance(0.5) ? trial : { ...trial, id: LATEST_ID };
}

function tuneStart(random: Random, { name, loops }: Unit): Request {
  const leaseS = random.among([0.2, 1, 5]);
  const [first, second] = random.shuffled(loops.map(loop => loop.name));
  const chosen = random.chance(0.5) ? { loop: first } : { loops: [first, second] };
  return post(`/api/${name}/autotune`, { ...chosen, leaseS });
}

function tuneRenewal(random: Random, { name, loops: [loop] }: Unit): Request {
  const leaseS = random.among([0.2, 1, 5]);
  return post(`/api/${name}/autotune`, { loop: loop?.name, leaseS, id: LATEST_ID });
}

function randomDrive(random: Random, unit: Unit) {
  const ratesOf = ({ axes }: Unit) =>
    Object.fromEntries(axes.map(({ name }) => [name, random.among([0, 0.25, -1])]));
  const units = random.chance(0.3) ? UNIT_LIST : [unit];
  return {
    ...Object.fromEntries(units.map(one => [one.name, ratesOf(one)])),
    holdMs: random.among([50, 200, 500]),
    id: random.among(['stick', 'stick', 'keys']),
    ...(random.chance(0.2) && { takeover: true }),
  };
}

function randomExcitation(random: Random, unit: Unit) {
  return {
    loop: random.among(unit.loops).name,
    amplitude: random.among([0, 0.125, 0.1875]),
    periodS: random.among([0.5, 2]),
  };
}

/** Small whole numbers, which float32 represents exactly. `kp` differs in each save. */
function randomGains(random: Random, unit: Unit): GainSet {
  const kp = random.whole(1, 9999);
  return Object.fromEntries(unit.loops.map(({ name, slot }) => [name, { kp, ki: slot, kd: 0 }]));
}
