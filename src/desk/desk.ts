import { type Clock, every } from '../core/clock.js';
import type { NewEvent } from '../schemas/log.js';
import type { Press } from './presses.js';
import type { Ask, DeskState, Robot, RobotLines, Wanted } from './state.js';
import { dueAsks, tick } from './step.js';
import { type Outcome, take } from './take.js';

/** How often the desk looks for requests that are due. */
const STEP_MS = 50;
/** Presses that are remembered, so that a repeated one is one press. */
const KEPT_PRESSES = 200;

interface Parts {
  readonly clock: Clock;
  readonly wanted: Wanted;
  readonly robots: readonly Robot[];
  readonly pauseWithoutPageMs: number;
  /** Sends one request. Never rejects. */
  send(robot: Robot, ask: Ask): Promise<Outcome>;
  /** Keeps what is wanted. Does not wait for the disk. */
  save(wanted: Wanted): void;
  record(event: NewEvent): void;
  /** Keeps lines of a robot's log. */
  keep(lines: RobotLines): void;
}

/** Carries out the steps of a desk: the only place where state, time and network meet. */
export class Desk {
  readonly state: DeskState;
  readonly #parts: Parts;
  readonly #presses = new Set<string>();
  #saved: Wanted;
  #stop: () => void = () => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { wanted } = parts;
    this.#saved = wanted;
    const robots = [
      ...parts.robots,
      ...wanted.added.filter(({ name }) => !parts.robots.some(one => one.name === name)),
    ];
    this.state = { wanted, robots, seen: new Map(), pageMs: parts.clock.nowMs(), lines: [] };
  }

  start(): void {
    this.#stop = every(this.#parts.clock, STEP_MS, () => this.step());
    this.step();
  }

  close(): void {
    this.#stop();
  }

  /** A referee's page has asked for the status. */
  pageAnswered(): void {
    this.state.pageMs = this.#parts.clock.nowMs();
  }

  /** Carries out a press, once. Throws why it is refused. */
  press(press: Omit<Press, 'nowMs'>, act: (state: DeskState, press: Press) => void): void {
    if (this.#presses.has(press.id)) return;
    const nowMs = this.#parts.clock.nowMs();
    tick(this.state, nowMs, this.#parts.pauseWithoutPageMs);
    act(this.state, { ...press, nowMs });
    this.#presses.add(press.id);
    const [oldest] = this.#presses;
    if (this.#presses.size > KEPT_PRESSES && oldest !== undefined) this.#presses.delete(oldest);
    this.step();
  }

  /** Sends what is due now. */
  step(): void {
    const { clock, record, pauseWithoutPageMs, save } = this.#parts;
    const nowMs = clock.nowMs();
    const before = this.state.wanted.match;
    while (tick(this.state, nowMs, pauseWithoutPageMs)) {
      const { match } = this.state.wanted;
      record({
        what: 'phase',
        detail: { before: before?.phase ?? null, after: match?.phase ?? null, why: match?.why ?? null },
      });
    }
    const asks = dueAsks(this.state, nowMs);
    if (this.state.wanted !== this.#saved) {
      this.#saved = this.state.wanted;
      save(this.#saved);
    }
    for (const ask of asks) this.#send(ask);
  }

  #send(ask: Ask): void {
    const robot = this.state.robots.find(({ name }) => name === ask.robot);
    if (robot === undefined) return;
    const { clock, keep, record, send } = this.#parts;
    void send(robot, ask).then(outcome => {
      const nowMs = clock.nowMs();
      take(this.state, ask, outcome, nowMs);
      for (const lines of this.state.lines.splice(0)) keep(lines);
      if (['lock', 'unlock', 'phase', 'stop'].includes(ask.kind)) record(answerEvent(ask, outcome, nowMs));
      this.step();
    });
  }
}

function answerEvent(ask: Ask, outcome: Outcome, nowMs: number): NewEvent {
  const answer = 'failure' in outcome ? outcome.failure : String(outcome.status);
  const { robot, kind, of = null, sentMs } = ask;
  return {
    what: 'answer',
    detail: { robot, kind, of, answer, sentT: sentMs / 1000, ms: Math.round(nowMs - sentMs) },
  };
}
