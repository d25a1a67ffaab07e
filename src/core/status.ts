import type { Excitation, Mode, UnitName } from './units.js';

/** A complaint as people and programs read it: the code, and a sentence with the cure. */
export interface Complaint {
  readonly code: string;
  readonly detail: string;
}

export interface LaserStatus {
  /** As the pin says; null while it cannot be read or there is none. */
  readonly state: 'on' | 'off' | null;
  /**
   * What may be claimed: `dark` is proven by the pin, `fault` means that the pin does not obey and the laser may be lit,
   * `unknown` that there is no pin to ask.
   */
  readonly light: 'on' | 'dark' | 'unknown' | 'fault';
  /** Why it is dark although it was last switched on. */
  readonly reason?: string;
  readonly problem?: Complaint;
}

/**
 * `on` and `off` as the controller says. `silent`: it cannot be reached, and has heard nothing for so long that its own
 * silence rule has taken torque off. `unknown`: none of these is proven, so the motors may push.
 */
export type Torque = 'on' | 'off' | 'silent' | 'unknown';

export interface TrialStatus {
  readonly id: string;
  /** Whose it is: a token's name or an address. */
  readonly by: string;
  /** Monotonic seconds, as `t` of telemetry. */
  readonly endsAtT: number;
  readonly gains: Readonly<Record<string, { readonly kp: number; readonly ki: number; readonly kd: number }>>;
}

export interface UnitStatus {
  /** Null until the controller was heard from. */
  readonly mode: Mode | null;
  readonly online: boolean;
  readonly faults: readonly string[];
  readonly flags: readonly string[];
  readonly torque: Torque;
  readonly firmware?: string;
  readonly protocol?: number;
  /** The wave of debug mode as the controller has it; null outside debug mode and while it is not known. */
  readonly excitation: Excitation | null;
  readonly gains: {
    /** 0 before the first save. */
    readonly revision: number;
    readonly savedAt: string | null;
    /** The saved gains are the active ones. */
    readonly applied: boolean;
    readonly trial?: TrialStatus;
  };
  /** Why it is offline. */
  readonly problem?: Complaint;
}

export interface StorageStatus {
  readonly ok: boolean;
  readonly detail?: string;
  readonly cure?: string;
  /** Copies of damaged files in the state folder. */
  readonly setAside: readonly string[];
}

export interface BusStatus {
  readonly transactions: number;
  readonly retries: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** The body of GET /api/status and of event `status`. */
export type Status = {
  readonly version: string;
  readonly simulated: boolean;
  readonly uptimeS: number;
  readonly stopped: boolean;
  readonly laser: LaserStatus;
  readonly bus: BusStatus;
  readonly storage: StorageStatus;
  /** Event streams that are open. */
  readonly streams: number;
} & Readonly<Record<UnitName, UnitStatus>>;
