import { fstatSync, writeSync } from 'node:fs';
import { type Clock, every, systemClock } from '../core/clock.js';

export type Notifier = ReturnType<typeof createNotifier>;

/** The number of feeds per watchdog period. It allows for a few late feeds. */
const FEEDS_PER_WATCHDOG = 8;

/**
 * Reports the daemon's state to systemd. Does nothing without systemd. Never throws. `onFailure` is called at the first
 * failure only. `send` sends one datagram without waiting, and throws if systemd does
 * not accept it.
 */
export function createNotifier(
  env: NodeJS.ProcessEnv,
  onFailure: (error: unknown) => void,
  clock: Clock = systemClock,
  send = (message: string) => sendTo(env.TRUNNION_NOTIFY_FD, message),
) {
  const connected = Boolean(env.NOTIFY_SOCKET);
  const forUs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid;
  const watchdogMs = connected && forUs ? Number(env.WATCHDOG_USEC ?? 0) / 1000 : 0;
  let failed = false;
  let endFeeding = () => {};

  const notify = (message: string) => {
    try {
      if (connected) send(message);
    } catch (error) {
      if (!failed) onFailure(error);
      failed = true;
    }
  };
  const feed = () => notify('WATCHDOG=1');
  return {
    /**
     * Reports that the daemon serves requests. From now on a timer feeds the watchdog, so that systemd kills
     * a daemon whose event loop hangs. The first feed starts the watchdog, because a start may take longer
     * than the watchdog allows.
     */
    ready: () => {
      notify('READY=1');
      if (!(watchdogMs > 0)) return;
      feed();
      endFeeding = every(clock, watchdogMs / FEEDS_PER_WATCHDOG, feed);
    },
    /**
     * Reports that the daemon is stopping. The watchdog is no longer fed, because systemd itself limits how
     * long stopping may take.
     */
    stopping: () => {
      endFeeding();
      notify('STOPPING=1');
    },
  };
}

/** Node cannot make a Unix datagram socket. The command with-notify-socket makes it and then becomes this process. */
function sendTo(descriptor: string | undefined, message: string): void {
  const fd = Number(descriptor);
  if (descriptor === undefined || !fstatSync(fd).isSocket())
    throw new Error('no socket to systemd: start the daemon by /usr/bin/trunnion, or by with-notify-socket');
  writeSync(fd, message);
}
