import type { Clock } from '../../core/clock.js';
import { parsedJson } from '../../core/json.js';

/** The parts of the browser that the page uses, besides drawing. Tests pass a fake. */
export interface Surroundings {
  readonly clock: Clock;
  /** The version of the page, inserted by the build. */
  readonly version: string;
  readonly fetch: (path: string, asked: HttpRequest) => Promise<HttpAnswer>;
  readonly openStream: (path: string) => ServerEvents;
  readonly storage: PageStorage;
  /** Sends a message to the other windows of this browser. */
  readonly tellWindows: (message: unknown) => void;
  readonly reload: () => void;
}

export interface HttpRequest {
  readonly method: string;
  /** JSON; only a POST has one. */
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  json<T>(): Promise<T>;
}

/** A stream of server-sent events. */
export interface ServerEvents {
  /** Calls `act` for each event of this type. The type `open` stands for the opening of the stream. */
  on(type: string, act: (data: string) => void): void;
  /** True if the daemon refused the stream, or if it was closed. */
  isClosed(): boolean;
  close(): void;
}

/** Texts by key. They outlive a reload, and all windows of one browser share them. */
export interface PageStorage {
  read(key: string): string | null;
  /** Does nothing if the browser cannot store it. */
  write(key: string, text: string): void;
  /** Calls `act` now, and when another window has written. */
  follow(key: string, act: () => void): void;
}

/** The list that is stored as JSON. Empty if there is none, or if it is damaged. */
export function readList(storage: PageStorage, key: string): readonly unknown[] {
  const list = parsedJson(storage.read(key));
  return Array.isArray(list) ? list : [];
}
