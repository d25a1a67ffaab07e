import { isObject } from '../../src/core/json.js';
import type { UnitName } from '../../src/core/units.js';
import { type Asked, bodyMember, isPost, isSameCaller } from './asked.js';
import { promise } from './broken-promise.js';
import type { UnitTruth } from './truth.js';

/** The longest transaction of a frame, and the loop periods until it takes effect. */
const FRAME_MS = 60;
/** A driver keeps a unit for this long after the last command has ended. */
const KEPT_MS = 1000;
/** Longer than any request takes. A caller who hangs up never gets an answer. */
const REQUEST_MS = 10_000;

/** Knows what may move one unit: a command that still holds, of the unit's driver. */
export class DriveModel {
  readonly #unit: UnitName;
  /** Commands that ask this unit to move, newest last. */
  #commands: Asked[] = [];
  /** The last command that was answered 200. Undefined if something may have ended driving since. */
  #last: Asked | undefined;
  /** Requests that may end driving, from their sending to their answer. */
  #enders: Asked[] = [];
  /** How much later the frame of a command may take effect, because the event loop was late while a frame was on the bus. */
  readonly #delayMs = new WeakMap<Asked, number>();

  constructor(unit: UnitName) {
    this.#unit = unit;
  }

  sent(asked: Asked): void {
    if (moves(asked, this.#unit)) this.#commands.push(asked);
    else if (asked.method !== 'GET' && !isPost(asked, '/api/drive')) this.#enders.push(asked);
  }

  answered(asked: Asked): void {
    if (asked.answer?.status !== 200 || !isPost(asked, '/api/drive')) return;
    // A unit that a newer command took is left out of the answer.
    if (asked.answer.body?.[this.#unit] === undefined) return;
    const before = this.#last;
    this.#last = asked;
    this.#enders = this.#enders.filter(({ sentMs }) => asked.sentMs - sentMs < REQUEST_MS);
    if (before?.answer === undefined || before.answer.at > asked.sent) return;
    if (this.#enders.some(({ answer }) => answer === undefined || answer.at > before.sent)) return;
    const isOther =
      isSameCaller(before.identities, asked.identities) === false ||
      bodyMember(before, 'id') !== bodyMember(asked, 'id');
    const isKept = asked.sentMs < holdsUntilMs(before) && bodyMember(asked, 'takeover') !== true;
    promise(!(isOther && isKept), 'one driver', () => `the ${this.#unit} obeyed two drivers at once`);
  }

  /** Something may have ended driving: another driver may begin. */
  mayEnd(): void {
    this.#last = undefined;
  }

  /** The simulated bus has the time of the event loop: a frame that is on it arrives this much later. */
  frameIsLate(ms: number): void {
    for (const asked of this.#commands) this.#delayMs.set(asked, (this.#delayMs.get(asked) ?? 0) + ms);
  }

  /** `isTroubled`: a fault may delay frames, because a bus call hangs. */
  watch({ moves: isMoving, mode, strays }: UnitTruth, isTroubled: boolean, nowMs: number): void {
    this.#commands = this.#commands.filter(asked => nowMs < this.#movesUntilMs(asked) + KEPT_MS);
    if (!isMoving) return;
    promise(!strays, 'no motion where it is forbidden', () => `the ${this.#unit} moves in ${mode}`);
    const lives = this.#commands.some(asked => nowMs <= this.#movesUntilMs(asked));
    promise(
      lives || isTroubled,
      'motion has an author',
      () => `the ${this.#unit} moves, and no command holds`,
    );
  }

  #movesUntilMs(asked: Asked): number {
    return holdsUntilMs(asked) + FRAME_MS + (this.#delayMs.get(asked) ?? 0);
  }
}

function holdsUntilMs(asked: Asked): number {
  return asked.sentMs + Number(bodyMember(asked, 'holdMs'));
}

function moves(asked: Asked, unit: UnitName): boolean {
  const rates = bodyMember(asked, unit);
  return isPost(asked, '/api/drive') && isObject(rates) && Object.values(rates).some(Boolean);
}
