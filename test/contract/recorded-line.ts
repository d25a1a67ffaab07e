import type { AwaitedRequest, Settings } from '../support/clocked-daemon.js';

/** A line of a recording: a daemon starts, time passes, the disk changes, or a request is sent and answered. */
export type Line = Start | { readonly wait: number } | { readonly diskFails: readonly string[] } | Exchange;

export interface Start {
  readonly start: Settings;
}

/** In the request's body, `{"id":"$name"}` stands for an id that was kept under that name. */
export interface Exchange extends AwaitedRequest {
  /** The name under which the id in the answer is kept for later requests. */
  readonly keep?: string;
  /** Masked by `mask.ts`. Absent before the recording. */
  readonly answer?: RecordedAnswer;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}
