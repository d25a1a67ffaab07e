import type { Logger } from 'pino';
import type { Access } from '../access/access.js';
import type { Board } from '../access/board.js';
import type { Autotune } from '../autotune/autotune.js';
import type { Config } from '../config/settings.js';
import type { Clock } from '../core/clock.js';
import type { FileLog } from '../events/file-log.js';
import type { MemoryLog } from '../events/memory-log.js';
import type { MatchControl } from '../match/match-control.js';
import type { ProfileStore } from '../profiles/profile-store.js';
import type { Robot } from '../robot/robot.js';
import type { StepMemory } from '../steps/step-memory.js';
import type { Arrivals } from './arrivals.js';
import type { Route } from './route.js';

/** What the HTTP interface needs from the daemon. */
export interface AppOptions {
  readonly robot: Robot;
  readonly autotune: Autotune;
  readonly steps: StepMemory;
  readonly profiles: ProfileStore;
  readonly log: Logger;
  readonly eventLog: MemoryLog;
  readonly fileLog: FileLog;
  readonly clock: Clock;
  readonly config: Config;
  readonly access: Access;
  readonly match: MatchControl;
  readonly board: () => Board;
  readonly arrivals: Arrivals;
  /** Null while the state folder cannot be read. */
  readonly robotId: () => string | null;
  /** The simulator's own routes. */
  readonly extraRoutes?: readonly Route[] | undefined;
}
