import { effect, signal } from '@preact/signals';
import { isObject, parsedJson } from '../../core/json.js';
import { MODES, type Mode, perUnit, UNIT_LIST, type UnitName } from '../../core/units.js';
import { Part } from './whole.js';

const KEY = 'trunnion.go';
/** If an answer took longer, the page was frozen meanwhile, and Go sends nothing more. */
const MOST_MS = 4000;

/** The driver's start in a match: a resume, and then the mode that the driver chose for each unit. */
export class Go extends Part {
  readonly modes = perUnit(({ name }) => {
    const stored = parsedJson(this.whole.storage.read(KEY));
    return signal<Mode>(MODES.find(mode => isObject(stored) && stored[name] === mode) ?? 'manual');
  });

  /**
   * True while a match has the robot stopped, or had it stopped when contact was lost: a choice must not become a mode
   * switch meanwhile. Go then takes the place of Resume, and modes are chosen for it.
   */
  get isOffered(): boolean {
    const { stopped, match } = this.whole.status.value ?? {};
    return stopped === true && match !== undefined && match.phase !== 'none';
  }

  /** Nothing is sent before `run`. */
  choose(unit: UnitName, mode: Mode): void {
    this.modes[unit].value = mode;
    this.whole.storage.write(KEY, JSON.stringify(perUnit(({ name }) => this.modes[name].value)));
  }

  /** The first refusal ends the rest. So does a STOP, whoever presses it, and an answer that took longer than MOST_MS. */
  async run(): Promise<void> {
    const { clock, daemon, status } = this.whole;
    const since = daemon.asks.presses;
    // The page's clock may stop while a phone sleeps.
    const nowMs = () => clock.wallTime().getTime();
    let untilMs = nowMs() + MOST_MS;
    let [hasRun, isStopped] = [false, false];
    // A status that arrives late may still show the stop that the resume ends.
    const unwatch = effect(() => {
      if (status.value?.stopped === false) hasRun = true;
      else isStopped ||= hasRun;
    });
    let isDone = await this.whole.resume(since);
    for (const { name } of UNIT_LIST)
      if (isDone && !isStopped && nowMs() < untilMs) {
        untilMs = nowMs() + MOST_MS;
        isDone = await this.whole.switchMode(name, this.modes[name].value, since);
      }
    unwatch();
  }
}
