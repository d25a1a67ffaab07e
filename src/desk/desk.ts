import { type Clock, every } from '../core/clock.js';
import { requireInTime } from '../core/not-after.js';
import type { NewEvent } from '../schemas/log.js';
import type { DeskFile } from './desk-file.js';
import { isLocked } from './judge.js';
import type { Press } from './press.js';
import {
  ACTS,
  type Ask,
  type DeskState,
  inField,
  permitFrom,
  type Robot,
  type Seen,
  seenOf,
  type Wanted,
  wishOf,
} from './state.js';
import { dueAsks, tick } from './step.js';
import { keptLines, type Outcome, type RobotLines, take } from './take.js';

/** How often the desk looks for requests that are due. */
const STEP_MS = 50;
/** Robots are asked twice within this time. */
const LEAST_PERMIT_MS = 300;
/** Presses that are remembered, so that a repeated one is one press. */
const KEPT_PRESSES = 200;

interface DeskSurroundings extends Pick<DeskFile, 'robots' | 'plans' | 'pauseWithoutPageMs'> {
  readonly clock: Clock;
  readonly wanted: Wanted;
  /** Sends one request. Never rejects. */
  send(robot: Robot, ask: Ask): Promise<Outcome>;
  /** Keeps what is wanted. Does not wait for the disk. */
  save(wanted: Wanted): void;
  record(event: NewEvent): void;
  /** Resolves with whether the disk has kept these lines of a robot's log; undefined if no record is open. Never rejects. */
  keep(lines: RobotLines): Promise<boolean | undefined>;
}

interface Pressed extends Pick<Press, 'id' | 'by'> {
  readonly notAfterMs?: number | undefined;
}

/** Carries out the steps of a desk: the only place where state, time and network meet. */
export class Desk {
  readonly state: DeskState;
  readonly #parts: DeskSurroundings;
  readonly #presses = new Set<string>();
  readonly #startMs: number;
  #saved: Wanted | undefined;
  /** The lock that all robots have confirmed last, and the time that took. */
  #confirmed: { readonly id: string; readonly ms: number } | undefined;
  #stop: () => void = () => undefined;

  constructor(parts: DeskSurroundings) {
    this.#parts = parts;
    const { wanted, robots, plans, clock } = parts;
    this.#startMs = clock.nowMs();
    // An added robot may be in FILE by now.
    const added = wanted.added.filter(({ name }) => !robots.some(one => one.name === name));
    this.state = {
      wanted: { ...wanted, added },
      robots: [...robots, ...added],
      seen: new Map(),
      pageMs: clock.nowMs(),
      plans,
    };
  }

  start(): void {
    this.#save();
    this.#stop = every(this.#parts.clock, STEP_MS, () => this.step());
    this.step();
  }

  close(): void {
    this.#stop();
  }

  /** Permits nothing until Take over is pressed. */
  forbid(): void {
    this.state.wanted = { ...this.state.wanted, permits: false };
    this.#tick(this.#parts.clock.nowMs());
    this.#save();
  }

  /** A referee's page has asked for the status. */
  pageAnswered(): void {
    const nowMs = this.#parts.clock.nowMs();
    // The silence before this answer counts, also if the desk itself was frozen.
    this.#tick(nowMs);
    this.state.pageMs = nowMs;
  }

  /** The time that the last LOCK ALL took which all robots confirmed. Undefined before the first. */
  get confirmS(): number | undefined {
    return this.#confirmed && this.#confirmed.ms / 1000;
  }

  /**
   * Carries out a press of the button `what`, once. Throws why it is refused. After `notAfterMs` nothing is asked for that it
   * permits.
   */
  press(
    what: string,
    { notAfterMs, ...press }: Pressed,
    act: (state: DeskState, press: Press) => void,
  ): void {
    const known = `${what} ${press.id}`;
    if (this.#presses.has(known)) return;
    const nowMs = this.#parts.clock.nowMs();
    this.#tick(nowMs);
    // A shorter time would start the clock of a match, but not all of its robots.
    requireInTime(notAfterMs, nowMs + LEAST_PERMIT_MS);
    const { sinceMs, untilMs } = permitFrom(nowMs);
    const permit = { sinceMs, untilMs: Math.min(untilMs, notAfterMs ?? untilMs) };
    act(this.state, { ...press, nowMs, permit, at: this.#parts.clock.wallTime() });
    this.#presses.add(known);
    const [oldest] = this.#presses;
    if (this.#presses.size > KEPT_PRESSES && oldest !== undefined) this.#presses.delete(oldest);
    this.step();
  }

  /** Sends what is due now. */
  step(): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#tick(nowMs);
    const asks = dueAsks(this.state, nowMs);
    this.#save();
    for (const ask of asks) this.#send(ask);
    const { lock } = this.state.wanted;
    // What robots have confirmed to an earlier run of the desk says nothing of the time that it took.
    if (lock === null || lock.id === this.#confirmed?.id || lock.atMs < this.#startMs) return;
    if (inField(this.state).every(name => isLocked(this.state, name, nowMs)))
      this.#confirmed = { id: lock.id, ms: nowMs - lock.atMs };
  }

  #save(): void {
    if (this.state.wanted === this.#saved) return;
    this.#saved = this.state.wanted;
    this.#parts.save(this.#saved);
  }

  /** Lets time pass, and records each phase that ended by it. */
  #tick(nowMs: number): void {
    let before = this.state.wanted.match;
    while (tick(this.state, nowMs, this.#parts.pauseWithoutPageMs)) {
      const { match } = this.state.wanted;
      this.#parts.record({
        what: 'phase',
        detail: { before: before?.phase ?? null, after: match?.phase ?? null, why: match?.why ?? null },
      });
      before = match;
    }
  }

  #send(ask: Ask): void {
    const robot = this.state.robots.find(({ name }) => name === ask.robot);
    if (robot === undefined) return;
    const { clock, keep, record, send } = this.#parts;
    void send(robot, ask).then(outcome => {
      // The robot was removed, or another one was added under its name.
      if (!this.state.robots.includes(robot)) return;
      const nowMs = clock.nowMs();
      const seen = seenOf(this.state, robot.name);
      const { head } = seen;
      const faultNow = () => wishOf(this.state.wanted, robot.name).logFault;
      const before = faultNow();
      const lines = take(this.state, ask, outcome, nowMs);
      if (lines !== undefined)
        void keep(lines).then(isKept => {
          // Between two records, lines that contradict are not passed over: the next record shall have them.
          const isDone = isKept ?? faultNow() === null;
          if (this.state.robots.includes(robot)) keptLines(this.state, lines, isDone);
        });
      if (seen.head !== undefined && seen.head.hash !== head?.hash)
        record(headEvent(robot.name, seen, nowMs - ask.sentMs));
      const fault = faultNow();
      if (fault !== null && fault.why !== before?.why)
        record({ what: fault.what, detail: { robot: robot.name, why: fault.why } });
      if (ACTS.includes(ask.kind)) record(answerEvent(ask, outcome, nowMs));
      this.step();
    });
  }
}

/** A head of a robot's log, and the robot's clock beside that of the desk: `t` is right within half a round trip. */
function headEvent(robot: string, { head, time }: Seen, roundTripMs: number): NewEvent {
  const robotT = time === undefined ? null : time.tMs / 1000;
  return {
    what: 'head',
    detail: { robot, seq: head?.seq ?? 0, hash: head?.hash ?? '', robotT, halfRoundTripMs: roundTripMs / 2 },
  };
}

function answerEvent(ask: Ask, outcome: Outcome, nowMs: number): NewEvent {
  const answer = 'failure' in outcome ? outcome.failure : String(outcome.status);
  const { robot, kind, of = null, sentMs } = ask;
  return {
    what: 'answer',
    detail: { robot, kind, of, answer, sentT: sentMs / 1000, ms: Math.round(nowMs - sentMs) },
  };
}
