import { execFile } from 'node:child_process';
import { type Clock, systemClock } from '../core/clock.js';

/** Tells systemd how the daemon is. Without systemd every call does nothing. */
export interface Notifier {
  ready(): void;
  /**
   * Feeds the watchdog. May be called at any rate: what comes too soon is left out. Before `ready()` it does nothing,
   * for the first feed starts the watchdog, and a start may take longer than systemd bears.
   */
  alive(): void;
  stopping(): void;
  /** `alive()` is due at least this often, a quarter of what systemd bears; undefined without a watchdog. */
  readonly watchdogIntervalMs: number | undefined;
}

/** Sends one message to systemd; `done` follows exactly once. */
export type SendMessage = (message: string, done: (error: Error | null) => void) => void;

/** A call takes about 4 ms on a desktop; one that hangs is ended, but not one that a busy board delays. */
const SEND_TIMEOUT_MS = 5000;

/** Node has no Unix datagram sockets: this program of systemd's sends for us (`NotifyAccess=all`). */
const sendBySystemdNotify: SendMessage = (message, done) => {
  execFile('systemd-notify', [message], { timeout: SEND_TIMEOUT_MS, killSignal: 'SIGKILL' }, done);
};

/** `onFailure` hears of the first failure only. */
export function createNotifier(
  env: NodeJS.ProcessEnv,
  onFailure: (error: Error) => void,
  clock: Clock = systemClock,
  send: SendMessage = sendBySystemdNotify,
): Notifier {
  const connected = Boolean(env.NOTIFY_SOCKET);
  const forUs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid;
  const watchdogMs = connected && forUs ? Number(env.WATCHDOG_USEC ?? 0) / 1000 : 0;
  const watchdogIntervalMs = watchdogMs > 0 ? watchdogMs / 4 : undefined;

  const waiting: string[] = [];
  let sending = false;
  let failed = false;
  let isReady = false;
  let fedAtMs = Number.NEGATIVE_INFINITY;

  function next(): void {
    const message = waiting.shift();
    if (message === undefined) return;
    sending = true;
    send(message, error => {
      sending = false;
      if (error !== null && !failed) {
        failed = true;
        onFailure(error);
      }
      next();
    });
  }

  function tell(message: string): void {
    if (!connected) return;
    waiting.push(message);
    if (!sending) next();
  }

  return {
    watchdogIntervalMs,
    ready: () => {
      isReady = true;
      tell('READY=1');
    },
    stopping: () => tell('STOPPING=1'),
    alive: () => {
      if (watchdogIntervalMs === undefined || !isReady || sending) return;
      if (clock.nowMs() - fedAtMs < watchdogIntervalMs) return;
      fedAtMs = clock.nowMs();
      tell('WATCHDOG=1');
    },
  };
}
