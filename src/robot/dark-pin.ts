import type { Logger } from 'pino';
import { describeError } from '../core/errors.js';
import { type Hardware, isMissing } from '../hardware/ports.js';

/**
 * Writes the laser pin dark where there is no `Laser` yet or any more: before the port opens, at the end of the
 * process, and after a defect. Does not throw, so that a pin that does not obey keeps nobody from ending in order.
 */
export function darkenPin({ laser }: Pick<Hardware, 'laser'>, log: Logger): void {
  if (isMissing(laser)) return;
  try {
    laser.write(false);
  } catch (error) {
    log.error(describeError(error), 'the laser pin does not obey');
  }
}
