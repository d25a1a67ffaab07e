import type { Mode, UnitName } from '../core/units.js';

/** What the daemon tells of itself, as far as the page reads it. */
export interface Told {
  readonly code: string;
  readonly detail: string;
  readonly cure?: string;
}

export interface UnitStatus {
  readonly mode: Mode | null;
  readonly online: boolean;
  readonly faults: readonly string[];
  readonly gains: { readonly revision: number; readonly savedAt: string | null; readonly applied: boolean };
  readonly problem?: Told;
}

export interface LaserStatus {
  readonly state: 'on' | 'off' | null;
  readonly reason?: string;
  readonly problem?: Told;
}

export interface StorageStatus {
  readonly ok: boolean;
  readonly detail?: string;
  readonly cure?: string;
  readonly setAside?: readonly string[];
}

export type Status = {
  readonly version: string;
  readonly simulated: boolean;
  readonly stopped: boolean;
  readonly laser: LaserStatus;
  readonly storage?: StorageStatus;
} & Readonly<Record<UnitName, UnitStatus>>;

export interface Reading {
  readonly setpoint: number;
  readonly measured: number;
  readonly output: number;
}

export interface Pose {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
}

/** Of one unit: its loops by name, and what stands beside them. */
export type UnitSample = Readonly<Record<string, unknown>>;
export type Sample = { readonly t: number } & Readonly<Record<UnitName, UnitSample | null>>;

export interface StepFigures {
  readonly overshootPercent: number | null;
  readonly riseS: number | null;
  readonly settlingS: number | null;
  readonly peakTimeS: number | null;
  readonly steadyError: number | null;
}

export interface Step {
  readonly unit: UnitName;
  readonly loop: string;
  readonly number: number;
  /** Of one sample. */
  readonly periodS: number;
  readonly samples: { readonly setpoint: readonly number[]; readonly measured: readonly number[] };
  readonly figures: StepFigures;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export function isReading(value: unknown): value is Reading {
  return isRecord(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isRecord(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}
