import type { LogEvent } from '../schemas/log.js';

/** The most events that wait for a disk that fails or is too slow. */
const MOST_WAITING = 2000;

interface Waiting {
  readonly event: LogEvent;
  readonly hasRights: boolean;
}

/** The events that wait for the disk. If they are too many, those of callers without rights go first, then the oldest. */
export class LogQueue {
  #lost = 0;
  #waiting: Waiting[] = [];
  #underWay: Waiting[] = [];

  /** The number of events that were lost and that no line on the medium counts yet. */
  get lost(): number {
    return this.#lost;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(event: LogEvent, hasRights: boolean): void {
    this.#waiting.push({ event, hasRights });
    this.#bound();
  }

  /** Takes all events. The caller then calls `written` or `failed`. */
  take(): LogEvent[] {
    this.#underWay = this.#waiting;
    this.#waiting = [];
    return this.#underWay.map(({ event }) => event);
  }

  /** The taken events are on the medium, with a line that counts this many lost events. */
  written(lost: number): void {
    this.#underWay = [];
    this.#lost -= lost;
  }

  failed(): void {
    this.#waiting = [...this.#underWay, ...this.#waiting];
    this.#underWay = [];
    this.#bound();
  }

  #bound(): void {
    while (this.#waiting.length > MOST_WAITING) {
      const withoutRights = this.#waiting.findIndex(({ hasRights }) => !hasRights);
      this.#waiting.splice(Math.max(0, withoutRights), 1);
      this.#lost += 1;
    }
  }
}
