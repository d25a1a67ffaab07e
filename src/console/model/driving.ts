import { computed, type Signal, signal } from '@preact/signals';
import { every } from '../../core/clock.js';
import { type Axis, UNIT_LIST, type Unit, type UnitName } from '../../core/units.js';
import type { Status, UnitStatus } from '../../schemas/status.js';
import { isUnanswered, type Outcome } from '../daemon/request.js';
import { refusalText } from './action.js';
import { COMMANDS_HZ, DriveCommands, type UnitRates } from './drive-commands.js';
import { Part, type Whole } from './whole.js';

/** How far each axis is deflected, from -1 to 1, by its name. Positive is ahead, to the left and upwards. */
export type Deflections = Readonly<Record<string, number>>;
export type Source = 'left stick' | 'right stick' | 'keys' | 'gamepad';

const UNIT_NAMES = UNIT_LIST.map(({ name }) => name);
const AXES = UNIT_LIST.flatMap(unit => unit.axes.map(({ name }) => name));

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
 * page sends a command 25 times a second. When those of a unit are at rest, it sends one command that stops the unit. When something
 * interrupts driving, every stick and key must be at rest before the robot moves again.
 */
export class Driving extends Part {
  /** The part of the greatest rates that a full deflection asks for. */
  readonly limit: Signal<number>;
  /** True while a stick or key must be let go before the robot moves. */
  readonly needsRest = signal(false);
  readonly hasGamepad = signal(false);
  readonly commands: DriveCommands;
  /** Why the last command was refused, or why the page stopped driving. Empty if another part of the page says so. */
  readonly #problem = signal('');
  readonly #asked = signal<Readonly<Partial<Record<Source, Deflections>>>>({});
  #isFast = false;
  /** Sources with a stick or key that is not let go. Two opposite keys deflect nothing. */
  readonly #held = new Set<Source>();
  /** Units that could not be driven while they were asked to move. All sticks and keys must be let go first. */
  readonly #hindered: Signal<readonly UnitName[]> = signal([]);
  #problemMs = 0;
  /** The units that the problem is about. */
  #problemUnits: readonly UnitName[] = [];

  constructor(whole: Whole) {
    super(whole);
    const { clock, storage } = whole;
    const stored = Number(storage.read(LIMIT_KEY) ?? Number.NaN);
    this.commands = new DriveCommands(whole);
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
    if (!this.#isAnyHeld && !this.commands.isMoving) return;
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
    for (const unit of UNIT_LIST)
      if (this.#isRivals(status?.[unit.name].driver)) void this.#halt(unit, { takeover: true });
    this.#pass();
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
    return driver !== undefined && driver.id !== this.commands.id;
  }

  /** Call this for each status. What somebody else changed under the driver's thumbs ends driving. */
  heardStatus(before: Status, after: Status): void {
    const isOther = UNIT_LIST.some(({ name }) => {
      const [old, now] = [before[name], after[name]];
      const isTaken = old.driver?.id === this.commands.id && this.#isRivals(now.driver);
      // Something has ended the motion of this page, which began again at once.
      const sinceMs = this.whole.robotTime.msAt(now.driver?.sinceT ?? 0);
      const isEnded =
        now.driver?.id === this.commands.id && sinceMs > this.commands.acceptedMs[name] + CLOCK_MS;
      return old.mode !== now.mode || isTaken || (isEnded && this.commands.moving[name]);
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
    const silentMs = nowMs - Math.min(this.whole.robotTime.heardMs, this.commands.unansweredMs);
    if (silentMs > SILENT_MS && this.#isAnyHeld && !this.needsRest.peek()) {
      const what = nowMs - this.whole.robotTime.heardMs > SILENT_MS ? 'readings' : 'answers';
      this.interrupt(`No ${what} came from the robot: driving has stopped.`);
      return;
    }
    this.#noteHindered();
    const all = UNIT_LIST.map(this.#wantedOf);
    const moved = all.filter(({ rates }) => isDeflected(rates));
    for (const unit of UNIT_LIST)
      if (this.commands.moving[unit.name] && !moved.some(({ name }) => name === unit.name))
        void this.#halt(unit);
    if (this.commands.isDue && moved.length > 0) void this.#move(moved);
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

  async #halt(unit: Unit, more?: { readonly takeover?: true }): Promise<void> {
    const why = problemText(await this.commands.halt(unit, more));
    if (why !== '') this.#show(why, [unit.name]);
  }

  async #move(wanted: readonly UnitRates[]): Promise<void> {
    const outcome = await this.commands.move(wanted);
    const isAbout = ({ name }: UnitRates) => this.#problemUnits.includes(name);
    if ('body' in outcome) {
      if (wanted.some(isAbout)) this.#problem.value = '';
    } else if (!isUnanswered(outcome) && !PASSING.includes(outcome.refusal.code))
      this.interrupt(problemText(outcome));
  }
}

/** What the page says about a refused command. Empty if it says nothing about the next one, or if `whyNot` says it. */
function problemText(outcome: Outcome<unknown>): string {
  if (!('refusal' in outcome) || isUnanswered(outcome)) return '';
  const { refusal } = outcome;
  return [...PASSING, ...SHOWN].includes(refusal.code) ? '' : refusalText(refusal);
}
