import type { ReadonlySignal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import type { Mode, UnitName } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import type { DaemonClient } from '../daemon/daemon.js';
import type { PageStorage } from '../daemon/surroundings.js';
import type { LoopChoice } from './loop-choice.js';
import type { RobotTime } from './robot-time.js';

/** What a part of the model asks of the whole model. */
export interface Whole {
  readonly daemon: DaemonClient;
  readonly clock: Clock;
  readonly storage: PageStorage;
  readonly status: ReadonlySignal<Status | undefined>;
  /** Whether `status` is known to be true now. */
  readonly fresh: ReadonlySignal<boolean>;
  readonly robotTime: RobotTime;
  /** Nobody sees a hidden page. */
  readonly isHidden: boolean;
  readonly choice: ReadonlySignal<LoopChoice>;
  choose(choice: LoopChoice): void;
  hasRightTo(operation: 'drive'): boolean;
  /** `since` goes into the ask. */
  resume(since: number): Promise<boolean>;
  switchMode(unit: UnitName, mode: Mode, since?: number): Promise<boolean>;
}

/** A part of the model. */
export class Part {
  protected readonly whole: Whole;

  constructor(whole: Whole) {
    this.whole = whole;
  }
}
