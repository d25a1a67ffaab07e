import { isObject } from '../core/json.js';

/** Answers root with the status and its member `board`. */
export const BOARD_PATH = '/api/board';

/** What the daemon shows only to root. */
export interface Board {
  /** The address and the port on which the daemon listens. */
  readonly host: string;
  readonly port: number;
  readonly stateFolder: string;
  readonly pid: number;
  /** The time from the start of the process to the open port. */
  readonly startMs: number;
  /** The processor time of all threads from the start of the process to the open port. */
  readonly startCpuMs: number;
  /** The time for which transactions had the bus since the start. */
  readonly busMs: number;
  readonly pollHz: number;
  readonly tokens: readonly { readonly name: string; readonly role: string }[];
}

/** The member `board` of an answer. Undefined if an older daemon answered. */
export function boardOf(answer: unknown): Board | undefined {
  const board = isObject(answer) ? answer.board : undefined;
  const isBoard = (value: unknown): value is Board =>
    isObject(value) && typeof value.port === 'number' && Array.isArray(value.tokens);
  return isBoard(board) ? board : undefined;
}

/** Whether only programs on this board can reach a port that listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
