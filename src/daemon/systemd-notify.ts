import { fstatSync, writeSync } from 'node:fs';
import { type Clock, systemClock } from '../core/clock.js';

/** Reports to systemd how the daemon is. Without systemd every call does nothing, and no call ever throws. */
export interface Notifier {
  /**
   * The daemon serves. From here on the watchdog is fed by a timer of the event loop, which asks nothing of the bus:
   * it goes hungry when the loop hangs and at no other time. Not fed earlier, for the first feed starts the watchdog,
   * and a start may take longer than systemd bears.
   */
  ready(): void;
  /** The daemon ends in order. systemd now counts the time of the stop, and the feeding ends. */
  stopping(): void;
}

/** Sends one datagram to systemd. Throws when systemd does not take it; never waits. */
type SendMessage = (message: string) => void;

/** How often the watchdog is fed within the time after which systemd kills, so that a late feed or two do no harm. */
const FEEDS_PER_WATCHDOG = 8;

/** `onFailure` hears of the first failure only. */
export function createNotifier(
  env: NodeJS.ProcessEnv,
  onFailure: (error: unknown) => void,
  clock: Clock = systemClock,
  send: SendMessage = message => sendTo(env.TRUNNION_NOTIFY_FD, message),
): Notifier {
  const connected = Boolean(env.NOTIFY_SOCKET);
  const forUs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid;
  const watchdogMs = forUs ? Number(env.WATCHDOG_USEC ?? 0) / 1000 : 0;
  let failed = false;
  let endFeeding = () => {};

  const notify: SendMessage = message => {
    if (!connected) return;
    try {
      send(message);
    } catch (error) {
      if (!failed) onFailure(error);
      failed = true;
    }
  };
  const feed = () => {
    notify('WATCHDOG=1');
    const next = clock.after(watchdogMs / FEEDS_PER_WATCHDOG, feed);
    endFeeding = () => next.cancel();
  };
  return {
    ready: () => {
      notify('READY=1');
      if (connected && watchdogMs > 0) feed();
    },
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
