import type { Programs } from './programs.js';

/** How long everything is measured. All times in ms. */
export interface Plan {
  readonly rounds: number;
  readonly rateMs: number;
  readonly starts: number;
  /** Measured requests of each latency. */
  readonly latencies: number;
  /** The pause after a start in which V8 compiles what runs often; only then is anything measured. */
  readonly warmMs: number;
  readonly idleMs: number;
  readonly diskMs: number;
  readonly watchdogMs: number;
  /** How many requests are made before the memory is looked at. */
  readonly requests: number;
  readonly npmStart: boolean;
}

export const FULL: Plan = {
  rounds: 7,
  rateMs: 1500,
  starts: 9,
  latencies: 400,
  warmMs: 30_000,
  idleMs: 15_000,
  diskMs: 60_000,
  watchdogMs: 30_000,
  requests: 1_000_000,
  npmStart: true,
};

/** Shows that everything is measured, not how fast anything is. */
export const QUICK: Plan = {
  rounds: 2,
  rateMs: 200,
  starts: 2,
  latencies: 30,
  warmMs: 200,
  idleMs: 1000,
  diskMs: 1000,
  watchdogMs: 1000,
  requests: 10_000,
  npmStart: false,
};

/** What every figure is measured with. */
export interface Bench {
  readonly plan: Plan;
  readonly programs: Programs;
  /** Temporary: logs, state. */
  readonly folder: string;
}
