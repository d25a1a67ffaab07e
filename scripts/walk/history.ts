import type { FaultBody } from '../../sim/bus/faults.js';
import type { Request } from './caller.js';
import type { DiskWeather, Left } from './walk-disk.js';
import type { Network, Pressed } from './walk-page.js';
import type { TokenList } from './walk-tokens.js';

/** One thing that happens. None waits for what it began, so that any of them overlap. */
export type Step =
  | { readonly do: 'ask'; readonly request: Request; readonly hangUpAfterMs?: number }
  /** Somebody presses a button of the page, which is logged in as operator. */
  | { readonly do: 'press'; readonly pressed: Pressed }
  /** The network of the page changes. */
  | { readonly do: 'network'; readonly network: Network }
  /** Callers who repeat a request, each `pauseMs` after its answer. */
  | {
      readonly do: 'flood';
      readonly request: Request;
      readonly callers: number;
      readonly pauseMs: number;
      readonly forMs: number;
    }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fault'; readonly fault: FaultBody }
  /** So many frames reach their controller, and seem not to. */
  | { readonly do: 'lose answers'; readonly count: number }
  | { readonly do: 'disk'; readonly weather: DiskWeather }
  /** As `trunnion token` does beside the daemon; none leaves the robot open. */
  | { readonly do: 'tokens'; readonly list: TokenList }
  | { readonly do: 'wall clock'; readonly jumpMs: number }
  | { readonly do: 'interlock'; readonly closed: boolean }
  /** The daemon ends and starts again; with `cut` its disk loses what was not synced. */
  | {
      readonly do: 'end';
      readonly how: 'term' | 'kill' | 'cut';
      readonly left: Left;
      readonly downMs: number;
      readonly controllersToo: boolean;
      /** A change of the configuration for the next life. */
      readonly hostSilenceMs?: number;
    }
  /** Every fault ends. Two seconds later, every unit must be consistent. */
  | { readonly do: 'settle' };

export interface WalkSettings {
  readonly pollHz: number;
  readonly hostSilenceMs: number;
  readonly onControllerReset: 'manual' | 'restore';
  readonly laserMaxOnS: number;
  readonly refereeSilenceMs: number;
  readonly onRefereeSilence: 'stop' | 'hold';
  /** How long one bus transaction takes. */
  readonly frameMs: number;
  /** How late frames take effect that the protocol gives time: at most 20 ms. */
  readonly effectMs: number;
}

export interface History {
  readonly settings: WalkSettings;
  readonly steps: readonly Step[];
}

/** In a request's body: the id that the unit's latest trial, or tuning, was answered with. */
export const LATEST_ID = 'latest';
