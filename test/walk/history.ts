import type { FaultBody } from '../../sim/bus/faults.js';
import type { Request, TokenList } from './request.js';
import type { DiskWeather } from './walk-disk.js';
import type { Network, Pressed } from './walk-page.js';

/** One event of a history. The next step does not wait for it to finish, so steps overlap. */
export type WalkStep =
  | { readonly do: 'ask'; readonly request: Request; readonly hangUpAfterMs?: number }
  /** A person presses a button of the page. The page is logged in as operator. */
  | { readonly do: 'press'; readonly pressed: Pressed }
  /** The network of the page changes. */
  | { readonly do: 'network'; readonly network: Network }
  /** Several callers repeat a request. Each waits for `pauseMs` after an answer. */
  | {
      readonly do: 'flood';
      readonly request: Request;
      readonly callers: number;
      readonly pauseMs: number;
      readonly forMs: number;
    }
  | { readonly do: 'wait'; readonly ms: number }
  /** The event loop of the daemon is late: the request is read before any timer of this time runs. */
  | { readonly do: 'late'; readonly ms: number; readonly request: Request }
  | { readonly do: 'fault'; readonly fault: FaultBody }
  /** The next `count` frames reach their controller, but their transactions fail. */
  | { readonly do: 'lose answers'; readonly count: number }
  | { readonly do: 'disk'; readonly weather: DiskWeather }
  /** Writes the token list, as `trunnion token` does while a daemon runs. An empty list leaves the robot open. */
  | { readonly do: 'tokens'; readonly list: TokenList }
  | { readonly do: 'wall clock'; readonly jumpMs: number }
  | { readonly do: 'interlock'; readonly closed: boolean }
  /** The daemon ends and starts again. With `cut` the disk also loses data that was not synced. */
  | {
      readonly do: 'end';
      readonly how: 'term' | 'kill' | 'cut';
      /** The part of that data that survives, from 0 to 1. */
      readonly left: number;
      readonly downMs: number;
      readonly controllersToo: boolean;
      /** A new setting for the next run. */
      readonly hostSilenceMs?: number;
    }
  /** Every fault ends. Two seconds later, every unit must be consistent. */
  | { readonly do: 'settle' };

export const SETTLE: WalkStep = { do: 'settle' };

export function ask(request: Request): WalkStep {
  return { do: 'ask', request };
}

export function wait(ms: number): WalkStep {
  return { do: 'wait', ms };
}

export interface WalkSettings {
  readonly pollHz: number;
  readonly hostSilenceMs: number;
  readonly onControllerReset: 'manual' | 'restore';
  readonly laserMaxOnS: number;
  readonly refereeSilenceMs: number;
  readonly onRefereeSilence: 'stop' | 'hold';
  /** The duration of one bus transaction. */
  readonly frameMs: number;
  /** The delay until mode, stop, excitation and commit take effect in a controller. The protocol allows 20 ms. */
  readonly effectMs: number;
}

export interface History {
  readonly settings: WalkSettings;
  readonly steps: readonly WalkStep[];
}

/** In the body of a request, this stands for the id of the unit's latest trial or tuning. */
export const LATEST_ID = 'latest';
