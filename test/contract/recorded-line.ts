import type { Config } from '../../src/config/config.js';

/** A line of a recording: a daemon starts, time passes, the disk changes, or a request is sent and answered. */
export type Line = Start | { readonly wait: number } | { readonly diskFails: readonly string[] } | Exchange;

export interface Start {
  readonly start: {
    readonly config?: { readonly [Section in keyof Config]?: Partial<Config[Section]> };
    /** Names of state files and their text. */
    readonly files?: Readonly<Record<string, string>>;
    /** Whether the list of tokens holds one token for each name in `CALLERS`. */
    readonly tokens?: boolean;
  };
}

export interface Exchange {
  /** Method and path. */
  readonly ask: string;
  /** The name of the caller's token. */
  readonly as?: string;
  /** The caller's address. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. `{"id":"$name"}` sends an id that an earlier answer was kept for. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly text?: string;
  /** The id in the answer is kept under this name. */
  readonly keep?: string;
  /** How long the caller reads an event stream. */
  readonly listenMs?: number;
  /** Masked by `mask.ts`. Absent before the recording. */
  readonly answer?: Answer;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}
