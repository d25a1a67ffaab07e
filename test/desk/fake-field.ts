import { expect } from 'chai';
import type { Phase } from '../../src/core/phases.js';
import { acceptRobot } from '../../src/desk/field-presses.js';
import { isLocked } from '../../src/desk/judge.js';
import { lockAll, lockOne, unlockAll, unlockOne } from '../../src/desk/lock-presses.js';
import {
  endMatch,
  goOn,
  joinMatch,
  loadMatch,
  pauseMatch,
  playWithout,
  releaseMatch,
  startMatch,
} from '../../src/desk/match-presses.js';
import type { Press } from '../../src/desk/press.js';
import { type DeskView, type RobotView, viewOf } from '../../src/desk/show.js';
import type { MatchPlan } from '../../src/desk/state.js';
import { type Ask, type DeskState, RobotWish, type Wanted } from '../../src/desk/state.js';
import { dueAsks, tick } from '../../src/desk/step.js';
import { type Outcome, take } from '../../src/desk/take.js';
import { takeOver } from '../../src/desk/take-over.js';
import { FakeRobot, type Permitted } from './fake-robot.js';
import { WANTED } from './wanted.js';

export const NAMES = ['Red 1', 'Red 2', 'Blue 1'] as const;
const PLAN: MatchPlan = { id: 'final', robots: [...NAMES], autoS: 5, teleopS: 10 };
const SEMIFINAL: MatchPlan = { ...PLAN, id: 'semifinal', robots: ['Red 1', 'Red 2'] };
const STEP_MS = 10;
const ANSWER_MS = 5000;

/** What the network does with the next requests to a robot. */
export interface Network {
  readonly requestMs: number;
  readonly answerMs: number;
  /** Requests that are lost, and answers that are lost. */
  readonly loses: 'nothing' | 'requests' | 'answers';
}

const GOOD: Network = { requestMs: 5, answerMs: 5, loses: 'nothing' };

interface Due {
  readonly atMs: number;
  readonly act: () => void;
}

/** A press or a planned instant that permits something for one second. */
interface Permit {
  readonly what: string;
  readonly atMs: number;
  /** The robot, if not all are meant. */
  readonly name?: string;
}

type Button = keyof typeof ACTS;

/** One run of a desk. It keeps what is wanted through kills. */
export class FakeDesk {
  state: DeskState;
  isOff = false;
  readonly #field: FakeField;

  constructor(field: FakeField, holder: string) {
    this.#field = field;
    this.state = this.#begun({ ...WANTED, holder });
  }

  #begun(wanted: Wanted): DeskState {
    const robots = NAMES.map(name => ({ name, address: `http://${name}`, token: 'secret-token' }));
    return { wanted, robots, seen: new Map(), pageMs: this.#field.nowMs, plans: [PLAN, SEMIFINAL] };
  }

  switchOn(waitMs: number): void {
    this.isOff = false;
    this.#field.wait(waitMs);
  }

  /** Lets the last page of this desk time out. */
  losePage(): void {
    const { nowMs } = this.#field;
    this.state.pageMs = nowMs - 5000;
    expect(tick(this.state, nowMs, 5000)).to.equal(true);
  }

  /** Kills this run. Another one goes on with what the disk has. */
  restart(): void {
    this.state = this.#begun(this.state.wanted);
  }

  /** As after a start on a damaged state. */
  lose(): void {
    this.state = this.#begun({ ...WANTED, holder: `desk-${this.#field.nowMs}`, permits: false });
  }

  /** What the pages of this desk show. */
  get view(): DeskView {
    return viewOf(this.state, { problems: [], recorded: true }, this.#field.nowMs);
  }

  tile(name: string): RobotView {
    const found = this.view.robots.find(robot => robot.name === name);
    if (found === undefined) throw new Error(`no tile ${name}`);
    return found;
  }

  /** Presses a button, which the desk must obey. */
  press(what: Button, body: PressBody = {}): void {
    expect(this.tryPress(what, body), what).to.equal(undefined);
  }

  pressAndWait(what: Button, waitMs: number, body: PressBody = {}): void {
    this.press(what, body);
    this.#field.wait(waitMs);
  }

  /** Presses a button. Returns why the desk refuses it. */
  tryPress(what: Button, { robot = NAMES[0], lock, lateMs = 0 }: PressBody = {}): string | undefined {
    const { permits } = this.#field;
    const press = this.#field.newPress(lateMs);
    const before = this.state.wanted.match;
    // A robot that is left in another match joins none.
    const joins = before?.robots.includes(robot) ? before.phase : 'none';
    try {
      ACTS[what](this.state, press, { robot, ...(lock !== undefined && { lock }) });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const { match } = this.state.wanted;
    const atMs = press.nowMs - lateMs;
    if (what === 'unlock' || what === 'unlock one') permits.push({ what: 'unlock', atMs });
    if (['start', 'go on', 'go on in teleop', 'release'].includes(what) && match !== before)
      permits.push({ what: match?.phase ?? 'none', atMs });
    if (what === 'join') permits.push({ what: joins, atMs, name: robot });
    if (what.startsWith('load'))
      for (const name of before?.robots ?? [])
        if (!match?.robots.includes(name)) permits.push({ what: 'none', atMs, name });
    this.step();
    return undefined;
  }

  step(): void {
    if (this.isOff) return;
    const { nowMs, permits, send } = this.#field;
    const { state } = this;
    while (tick(state, nowMs, 0))
      if (state.wanted.match?.phase === 'teleop')
        permits.push({ what: 'teleop', atMs: state.wanted.match.sinceMs });
    for (const ask of dueAsks(state, nowMs))
      send(ask, outcome => {
        // An answer for a run that was killed reaches nobody.
        if (this.state !== state || this.isOff) return;
        take(state, ask, outcome, this.#field.nowMs);
        this.step();
      });
  }
}

/** Robots, a network that delays and loses, and two desks, in simulated time. */
export class FakeField {
  nowMs = 1_000_000;
  readonly robots: ReadonlyMap<string, FakeRobot>;
  readonly permits: Permit[] = [];
  readonly first: FakeDesk;
  readonly second: FakeDesk;
  readonly #networks = new Map<string, Network>();
  #due: Due[] = [];
  #presses = 0;

  constructor() {
    this.robots = new Map(NAMES.map(name => [name, new FakeRobot(name, () => this.nowMs)]));
    this.first = new FakeDesk(this, 'desk-1');
    this.second = new FakeDesk(this, 'desk-2');
    this.second.isOff = true;
  }

  robot(name: string): FakeRobot {
    const robot = this.robots.get(name);
    if (robot === undefined) throw new Error(`no robot ${name}`);
    return robot;
  }

  get phases(): readonly Phase[] {
    return NAMES.map(name => this.robot(name).match.state.phase);
  }

  /** Whether each robot is locked. */
  get locks(): readonly boolean[] {
    return NAMES.map(name => this.robot(name).match.state.lock !== null);
  }

  /** The desk whose beat each robot accepted last. */
  get holders(): readonly (string | undefined)[] {
    return NAMES.map(name => this.robot(name).match.lease.owner?.holder);
  }

  /** Whether each robot may move, if its team resumed it. */
  get moves(): readonly boolean[] {
    return NAMES.map(name => this.robot(name).mayMove);
  }

  /** A press that the desk reads `lateMs` after it was made. */
  newPress(lateMs: number): Press {
    this.#presses += 1;
    const { nowMs } = this;
    const permit = { sinceMs: nowMs, untilMs: nowMs - lateMs + 1000 };
    return { id: `P${this.#presses}`, by: 'referee', nowMs, permit, at: new Date(0) };
  }

  /** Loads a match on the first desk and gets the robots ready. */
  load(): void {
    this.first.pressAndWait('load', 1500);
  }

  /** Begins auto on the first desk. The teams resume their robots. */
  play(): void {
    this.load();
    this.first.pressAndWait('start', 100);
    this.resume();
  }

  /** The teams resume their robots. */
  resume(): void {
    for (const robot of this.robots.values()) robot.stopped = false;
  }

  /** Starts a desk, and presses Take over on its page. */
  takeOver(desk = this.second): void {
    desk.switchOn(600);
    desk.pressAndWait('take over', 600);
  }

  network(name: string, network: Partial<Network> = {}): void {
    this.#networks.set(name, { ...GOOD, ...network });
  }

  /** The network is like this during the act, and good afterwards. */
  withNetwork(name: string, network: Partial<Network>, act: () => void): void {
    this.network(name, network);
    act();
    this.network(name);
  }

  send = (ask: Ask, done: (outcome: Outcome) => void): void => {
    const { requestMs, answerMs, loses } = this.#networks.get(ask.robot) ?? GOOD;
    let isDone = false;
    const end = (outcome: Outcome) => {
      if (!isDone) done(outcome);
      isDone = true;
    };
    this.#after(ANSWER_MS, () => end({ failure: 'It does not answer.' }));
    if (loses === 'requests') return;
    this.#after(requestMs, () => {
      const robot = this.robot(ask.robot);
      if (robot.isOff) return;
      const outcome = robot.isDown ? { failure: 'down', isMoved: true } : robot.answer(ask);
      if (loses !== 'answers') this.#after(answerMs, () => end(outcome));
    });
  };

  wait(ms: number): void {
    const endMs = this.nowMs + ms;
    while (this.nowMs < endMs) {
      this.nowMs += STEP_MS;
      const due = this.#due.filter(({ atMs }) => atMs <= this.nowMs);
      this.#due = this.#due.filter(({ atMs }) => atMs > this.nowMs);
      for (const { act } of due.sort((a, b) => a.atMs - b.atMs)) act();
      this.first.step();
      this.second.step();
    }
  }

  /** Checks now and every 100 ms for this time. */
  watch(ms: number, check: (passedMs: number) => void): void {
    for (let passedMs = 0; passedMs < ms; passedMs += 100) {
      check(passedMs);
      this.wait(100);
    }
  }

  #after(ms: number, act: () => void): void {
    this.#due.push({ atMs: this.nowMs + ms, act });
  }

  /** Permissions that took effect without a press or a planned instant in the second before. */
  get late(): readonly string[] {
    const isPermitted = (name: string, { what, atMs }: Permitted) =>
      this.permits
        .filter(one => one.what === what && (one.name ?? name) === name)
        .some(one => one.atMs <= atMs && atMs <= one.atMs + 1000 + STEP_MS);
    return [...this.robots].flatMap(([name, { permitted }]) =>
      permitted.filter(one => !isPermitted(name, one)).map(({ what, atMs }) => `${name}: ${what} at ${atMs}`),
    );
  }

  /** Robots that a desk shows as locked although they were not locked since its press. */
  get unproven(): readonly string[] {
    return NAMES.filter(name =>
      [this.first, this.second].some(({ state }) => {
        const { lock } = state.wanted;
        return (
          lock !== null &&
          isLocked(state, name, this.nowMs) &&
          this.robot(name).lockedMs < lock.atMs &&
          this.robot(name).match.state.lock === null
        );
      }),
    );
  }

  /** Robots that the first desk wants locked, and that are not. */
  get forgotten(): readonly string[] {
    const { wanted } = this.first.state;
    return NAMES.filter(name => {
      const { lock } = wanted.robots[name] ?? new RobotWish();
      return (wanted.lock !== null || lock !== null) && this.robot(name).match.state.lock === null;
    });
  }
}

/** Plays a match on a good network from load to release. Returns the phases of the robots when each ought to have begun. */
export function playedMatch(field: FakeField): readonly string[] {
  const shown: string[] = [];
  const show = (what?: Button) => {
    if (what !== undefined) field.first.tryPress(what);
    field.wait(300);
    shown.push(field.phases.join(' '));
  };
  const press = (what: Button, robot?: string) => {
    field.first.tryPress(what, { robot });
    field.wait(1500);
  };
  for (const what of ['take over', 'end', 'release', 'unlock'] as const) press(what);
  for (const name of NAMES) press('unlock one', name);
  // The locks of others.
  for (const name of NAMES) field.robot(name).match.unlock();
  press('load');
  show('start');
  show('pause');
  show('go on');
  field.wait(5000);
  show();
  field.wait(10_000);
  show();
  show('release');
  return shown;
}

interface PressBody {
  readonly robot?: string | undefined;
  readonly lock?: string;
  readonly lateMs?: number;
}

type PressAct = (
  state: DeskState,
  press: Press,
  body: { readonly robot: string; readonly lock?: string },
) => void;

export const ACTS = {
  'lock all': (state, press) => lockAll.act(state, press, { reason: 'walk' }),
  unlock: unlockAll.act,
  'lock one': lockOne.act,
  'unlock one': unlockOne.act,
  load: (state, press) => loadMatch.act(state, press, { match: PLAN.id }),
  'load semifinal': (state, press) => loadMatch.act(state, press, { match: SEMIFINAL.id }),
  start: startMatch.act,
  pause: pauseMatch.act,
  'go on': (state, press) => goOn.act(state, press, {}),
  'go on in teleop': (state, press) => goOn.act(state, press, { phase: 'teleop', seconds: 7 }),
  end: endMatch.act,
  release: releaseMatch.act,
  without: playWithout.act,
  join: joinMatch.act,
  accept: (state, press, { robot }) =>
    acceptRobot.act(state, press, { robot, id: state.seen.get(robot)?.shownId ?? '' }),
  'take over': takeOver.act,
} as const satisfies Readonly<Record<string, PressAct>>;
