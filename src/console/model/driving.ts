import { computed, type Signal, signal } from '@preact/signals';
import { every } from '../../core/clock.js';
import {
  type Axis,
  MAX_HOLD_MS,
  perUnit,
  type Rates,
  UNIT_LIST,
  type Unit,
  type UnitName,
} from '../../core/units.js';
import type { Status, UnitStatus } from '../../schemas/status.js';
import { isUnanswered } from '../daemon/request.js';
import { refusalText } from './action.js';
import { RobotTime } from './robot-time.js';
import { Part, type Whole } from './whole.js';

/** How far each axis is deflected, from -1 to 1, by its name. Positive is ahead, to the left and upwards. */
export type Deflections = Readonly<Record<string, number>>;
export type Source = 'left stick' | 'right stick' | 'keys' | 'gamepad';
type UnitRates = { readonly name: UnitName; readonly rates: Rates };

const UNIT_NAMES = UNIT_LIST.map(({ name }) => name);
const AXES = UNIT_LIST.flatMap(unit => unit.axes.map(({ name }) => name));

const COMMANDS_HZ = 25;
const HOLD_MS = 200;
/** A command that arrives later than this may be older than the finger. */
const LATEST_MS = MAX_HOLD_MS;
/** Without readings for this long, nobody sees what the robot does. Without answers for this long, it does not move. */
const SILENT_MS = 500;
const REFUSAL_MS = 4000;
/** The page knows the robot's time this well. */
const CLOCK_MS = 20;
const LIMIT_KEY = 'trunnion-drive-limit';
/** Refusals of one command that say nothing about the next one. */
const PASSING = ['too-late', 'overtaken', 'bus-busy'];
/** Refusals whose reason `whyNot` shows for as long as it holds. */
const SHOWN = [
  'locked',
  'stopped',
  'referee-silent',
  'wrong-phase',
  'unit-offline',
  'wrong-mode',
  'not-drivable',
  'driven',
];
const LET_GO = 'Let go of all sticks and keys first.';

export function isDeflected(deflections: Deflections): boolean {
  return Object.values(deflections).some(value => value !== 0);
}

/**
 * What the person at this page wants to move, and why the robot does not move. While a stick or key is deflected, the
 * page sends a command 25 times a second. When all are at rest, it sends one command that stops the unit. When something
 * interrupts driving, every stick and key must be at rest before the robot moves again.
 */
export class Driving extends Part {
  /** The part of the greatest rates that a full deflection asks for. */
  readonly limit: Signal<number>;
  /** The driver's id; another page has another one. */
  readonly id = `page ${Math.random().toString(36).slice(2, 8)}`;
  /** True while a stick or key must be let go before the robot moves. */
  readonly needsRest = signal(false);
  readonly roundTripMs = signal<number | undefined>(undefined);
  readonly hasGamepad = signal(false);
  readonly time: RobotTime;
  /** Why the last command was refused, or why the page stopped driving. Empty if another part of the page says so. */
  readonly #problem = signal('');
  readonly #asked = signal<Readonly<Partial<Record<Source, Deflections>>>>({});
  #isFast = false;
  /** Sources with a stick or key that is not let go. Two opposite keys deflect nothing. */
  readonly #held = new Set<Source>();
  /** Units that could not be driven while they were asked to move. All sticks and keys must be let go first. */
  readonly #hindered: Signal<readonly UnitName[]> = signal([]);
  /** Units to which a command was sent that may still hold. */
  readonly #moving: Record<UnitName, boolean> = perUnit(() => false);
  /** The newest command that stops each unit, while it is not answered. */
  readonly #halts = new Map<UnitName, object>();
  #pending = 0;
  /** The unanswered commands that move something. */
  #pendingMoves = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** When the first command of each unit's motion was answered. */
  readonly #acceptedMs: Record<UnitName, number> = perUnit(() => Number.POSITIVE_INFINITY);
  /** When the page sent the oldest moving command without an answer. */
  #unansweredMs = Number.POSITIVE_INFINITY;
  #problemMs = 0;
  /** The units that the problem is about. */
  #problemUnits: readonly UnitName[] = [];

  constructor(whole: Whole) {
    super(whole);
    const { clock, storage } = whole;
    const stored = Number(storage.read(LIMIT_KEY) ?? Number.NaN);
    this.time = new RobotTime(clock);
    this.limit = signal(stored >= 0.05 && stored <= 1 ? stored : 0.3);
    every(clock, 1000 / COMMANDS_HZ, () => this.#pass());
  }

  setLimit(part: number): void {
    this.limit.value = part;
    this.whole.storage.write(LIMIT_KEY, String(part));
  }

  /**
   * A source reports its whole state. `isFast`: drive at the full rates. `isEnabled`: false if the source may not move
   * anything now. What is deflected then must be let go first.
   */
  ask(
    source: Source,
    deflections: Deflections,
    { isFast = false, isEnabled = true, isHeld = isDeflected(deflections) } = {},
  ): void {
    if (isHeld) this.#held.add(source);
    else this.#held.delete(source);
    this.#asked.value = { ...this.#asked.peek(), [source]: deflections };
    this.#isFast = isFast;
    if (!this.#isAnyHeld) this.needsRest.value = false;
    else if (!isEnabled && isDeflected(deflections))
      this.#stopUntilRest('Gamepad: hold the left shoulder button before you move a stick.');
    this.#pass();
  }

  /** Stops driving: all sources count as let go, and must really be let go before the robot moves again. */
  interrupt(why: string): void {
    if (!this.#isAnyHeld && !Object.values(this.#moving).includes(true)) return;
    this.#stopUntilRest(why);
    this.#pass();
  }

  #stopUntilRest(why: string): void {
    this.needsRest.value = this.#isAnyHeld;
    this.#show(why, UNIT_NAMES);
  }

  #show(problem: string, units: readonly UnitName[]): void {
    this.#problem.value = problem;
    this.#problemMs = this.whole.clock.nowMs();
    this.#problemUnits = units;
  }

  /** From now on this page drives instead of another one, which ends the other one's motion. */
  takeOver(): void {
    const status = this.whole.status.peek();
    this.needsRest.value = this.#isAnyHeld;
    const driven = UNIT_LIST.filter(({ name }) => this.#isRivals(status?.[name].driver));
    void this.#send(driven.map(this.#wantedOf), true);
  }

  /** The deflections of all sources together. */
  readonly #deflections = computed((): Deflections => {
    const all = Object.values(this.#asked.value);
    const sumOf = (axis: string) => all.reduce((sum, asked) => sum + (asked[axis] ?? 0), 0);
    return Object.fromEntries(AXES.map(axis => [axis, Math.max(-1, Math.min(1, sumOf(axis)))]));
  });

  /** The deflections that count now. */
  readonly wanted = computed((): Deflections => (this.needsRest.value ? {} : this.#deflections.value));

  /** Why this unit cannot be driven from here. Empty if it can. */
  whyNot(unit: UnitName): string {
    const { fresh, status } = this.whole;
    const known = status.value;
    if (!this.whole.hasRightTo('drive')) return 'Your token may not drive';
    if (known === undefined || !fresh.value) return 'No contact';
    const { match, stopped } = known;
    const { online, mode, drivable, driver } = known[unit];
    if (match.lock !== null) return `Locked by ${match.lock.by}`;
    if (stopped) return 'Stopped';
    if (!match.allows.drive)
      return match.refereeSilent ? "The referee's desk is silent" : `Not in phase ${match.phase}`;
    if (!online) return 'Offline';
    if (mode !== 'manual') return `In ${mode}: switch to manual`;
    if (drivable === false) return 'Its firmware cannot be driven';
    if (this.#isRivals(driver)) return `Another driver: ${driver?.by}`;
    return '';
  }

  /** Why the robot does not do what sticks and keys ask for now, or why the page stopped driving. Empty if it does. */
  get hindrance(): string {
    const asked = this.#deflections.value;
    const moved = UNIT_LIST.filter(({ axes }) => axes.some(({ name }) => (asked[name] ?? 0) !== 0));
    const hindered = moved.find(({ name }) => this.whyNot(name) !== '');
    if (hindered !== undefined) return `${hindered.title}: ${this.whyNot(hindered.name)}.`;
    const isHeldBack = this.needsRest.value || moved.some(({ name }) => this.#hindered.value.includes(name));
    return `${this.#problem.value} ${isHeldBack ? LET_GO : ''}`.trim();
  }

  get isRivalDriving(): boolean {
    return UNIT_LIST.some(({ name }) => this.#isRivals(this.whole.status.value?.[name].driver));
  }

  #isRivals(driver: UnitStatus['driver']): boolean {
    return driver !== undefined && driver.id !== this.id;
  }

  /** Call this for each status. What somebody else changed under the driver's thumbs ends driving. */
  heardStatus(before: Status, after: Status): void {
    const isOther = UNIT_LIST.some(({ name }) => {
      const [old, now] = [before[name], after[name]];
      const isTaken = old.driver?.id === this.id && this.#isRivals(now.driver);
      // Something has ended the motion of this page, which began again at once.
      const sinceMs = this.time.msAt(now.driver?.sinceT ?? 0);
      const isEnded = now.driver?.id === this.id && sinceMs > this.#acceptedMs[name] + CLOCK_MS;
      return old.mode !== now.mode || isTaken || (isEnded && this.#moving[name]);
    });
    if (isOther || before.stopped !== after.stopped || after.uptimeS < before.uptimeS) this.interrupt('');
  }

  get #isAnyHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Sends what the robot should do now, if it differs from what was sent, or if a motion would end. */
  #pass(): void {
    const nowMs = this.whole.clock.nowMs();
    if (nowMs - this.#problemMs > REFUSAL_MS) this.#problem.value = '';
    const silentMs = nowMs - Math.min(this.time.heardMs, this.#unansweredMs);
    if (silentMs > SILENT_MS && this.#isAnyHeld && !this.needsRest.peek()) {
      const what = nowMs - this.time.heardMs > SILENT_MS ? 'readings' : 'answers';
      this.interrupt(`No ${what} came from the robot: driving has stopped.`);
      return;
    }
    this.#noteHindered();
    const all = UNIT_LIST.map(this.#wantedOf);
    this.#halt(all.filter(({ rates }) => !isDeflected(rates)));
    const isDue = nowMs - this.#sentMs >= 1000 / COMMANDS_HZ - 1;
    const isFree = this.#pending === 0 || nowMs - this.#sentMs >= HOLD_MS;
    if (!isDue || !isFree || !all.some(({ rates }) => isDeflected(rates))) return;
    // This command cancels an unanswered one that stops the other unit, so it stops that unit too.
    void this.#send(all.filter(({ name, rates }) => isDeflected(rates) || this.#halts.has(name)));
  }

  /** Stops those of these units that move. */
  #halt(resting: readonly UnitRates[]): void {
    const ending = resting.filter(({ name }) => this.#moving[name]);
    if (ending.length === 0) return;
    // This takes back an unanswered command that moves, which may stop the other unit, so it stops that unit too.
    if (this.#pendingMoves > 0)
      void this.#send(resting.filter(({ name }) => this.#moving[name] || this.#halts.has(name)));
    // Each in a command of its own, because the daemon may refuse to reach one of them.
    else for (const one of ending) void this.#send([one]);
  }

  /** What moves when a hindrance ends has nobody who began it: the stick or key must be at rest in between. */
  #noteHindered(): void {
    const asked = this.#deflections.peek();
    const isAsked = ({ axes }: Unit) => axes.some(({ name }) => (asked[name] ?? 0) !== 0);
    const before = this.#hindered.peek();
    const isHindered = (unit: Unit) =>
      before.includes(unit.name) ? this.#isAnyHeld : isAsked(unit) && this.whyNot(unit.name) !== '';
    const now = UNIT_LIST.filter(isHindered).map(({ name }) => name);
    if (now.join() !== before.join()) this.#hindered.value = now;
  }

  /** The rates that sticks and keys ask of this unit now. */
  readonly #wantedOf = ({ name, axes }: Unit): UnitRates => {
    const part = this.#isFast ? 1 : this.limit.peek();
    const wanted = this.#hindered.peek().includes(name) ? {} : this.wanted.peek();
    const rateOf = (axis: Axis) => (wanted[axis.name] ?? 0) * part * axis.greatestRate;
    const rates = axes.map(axis => [axis.name, Math.round(1000 * rateOf(axis)) / 1000]);
    return { name, rates: Object.fromEntries(rates) };
  };

  async #send(wanted: readonly UnitRates[], takeover = false): Promise<void> {
    if (wanted.length === 0) return;
    const { clock, daemon } = this.whole;
    const sentMs = clock.nowMs();
    for (const { name, rates } of wanted) {
      if (!this.#moving[name]) this.#acceptedMs[name] = Number.POSITIVE_INFINITY;
      this.#moving[name] = isDeflected(rates);
    }
    // A command that stops the robot does not count: the next one may begin at once.
    const isMoving = wanted.some(({ name }) => this.#moving[name]);
    if (isMoving) this.#sentMs = sentMs;
    if (isMoving) this.#unansweredMs = Math.min(this.#unansweredMs, sentMs);
    else if (!Object.values(this.#moving).includes(true)) this.#unansweredMs = Number.POSITIVE_INFINITY;
    // A newer command takes the place of an unanswered one, whose request is cancelled. A stop does not cancel another one.
    const renews = !isMoving && !takeover && this.#halts.size > 0 && this.#pendingMoves === 0;
    this.#pending += 1;
    if (isMoving) this.#pendingMoves += 1;
    const body = {
      ...Object.fromEntries(wanted.map(({ name, rates }) => [name, rates])),
      id: this.id,
      holdMs: HOLD_MS,
      notAfterT: this.time.tAt(sentMs + LATEST_MS),
      ...(takeover && { takeover }),
    };
    for (const { name } of wanted)
      if (this.#moving[name]) this.#halts.delete(name);
      else this.#halts.set(name, body);
    const outcome = await daemon.press({ path: '/api/drive', body, rule: 'moves', renews });
    this.#pending -= 1;
    if (isMoving) this.#pendingMoves -= 1;
    for (const [name, halt] of this.#halts) if (halt === body) this.#halts.delete(name);
    if (!isUnanswered(outcome)) this.#unansweredMs = Number.POSITIVE_INFINITY;
    if ('body' in outcome) {
      this.roundTripMs.value = Math.round(clock.nowMs() - sentMs);
      if (isMoving && wanted.some(({ name }) => this.#problemUnits.includes(name))) this.#problem.value = '';
      for (const { name } of wanted) this.#acceptedMs[name] = Math.min(this.#acceptedMs[name], clock.nowMs());
    } else if (!isUnanswered(outcome) && !PASSING.includes(outcome.refusal.code)) {
      const why = SHOWN.includes(outcome.refusal.code) ? '' : refusalText(outcome.refusal);
      // That a command cannot stop one unit says nothing about the other one.
      if (!isMoving && !takeover) {
        const units = wanted.map(({ name }) => name);
        if (why !== '') this.#show(why, units);
        return;
      }
      for (const { name } of UNIT_LIST) this.#moving[name] = false;
      this.interrupt(why);
    }
  }
}
