import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, type Missing, RobotError } from '../core/errors.js';
import { isMissing } from './ports.js';

const RETRY_MS = 1000;

/**
 * A device that may disappear and return. While it is missing, it is opened again every second. If it fails
 * after more than a second in use, it is opened again at once.
 */
export function reopened<T extends { release(): void }>(
  clock: Clock,
  open: () => Promise<T>,
  onLost = () => {},
) {
  let current: T | Missing = { missing: 'Not opened yet', cure: 'Wait a moment.' };
  let openedMs = Number.NEGATIVE_INFINITY;
  let retry: Timer | undefined;
  let isClosed = false;

  /** Tries to open the device once. Resolves even if that fails. */
  const start = async (): Promise<void> => {
    try {
      const opened = await open();
      openedMs = clock.nowMs();
      if (isClosed) opened.release();
      else current = opened;
    } catch (error) {
      lost(error, RETRY_MS);
    }
  };
  const lost = (error: unknown, retryMs: number): void => {
    const known = isRobotError(error, 'pin-failed', 'addon-missing') ? error.context : {};
    const { missing = String(error), cure = 'Look at the kernel log with "dmesg".' } = known;
    current = { missing, cure };
    if (!isClosed) retry = clock.after(retryMs, () => void start());
  };
  return {
    start,

    get missing(): Missing | undefined {
      return isMissing(current) ? current : undefined;
    },

    /** Calls `act` with the open device. Throws `pin-failed`. A device that fails in use is released and opened again. */
    use: <R>(act: (opened: T) => R): R => {
      const device = current;
      if (isMissing(device)) throw new RobotError('pin-failed', { ...device });
      try {
        return act(device);
      } catch (error) {
        device.release();
        const wasThere = clock.nowMs() - openedMs > RETRY_MS;
        lost(error, wasThere ? 0 : RETRY_MS);
        onLost();
        throw error;
      }
    },

    /** Opens nothing from now on. An open device stays in use unless `release` is true. */
    close: ({ release }: { release: boolean }): void => {
      isClosed = true;
      retry?.cancel();
      if (!release || isMissing(current)) return;
      current.release();
      current = { missing: 'Released', cure: 'Start the daemon again.' };
    },
  };
}
