import type { Logger } from 'pino';
import { describeError } from '../core/errors.js';
import { type Hardware, isMissing } from '../hardware/ports.js';

/**
 * Writes the laser pin dark while there is no `Laser`: before the port opens, at the end of the process, and after a
 * defect. Does not throw, so that the process ends in order even if the pin does not obey.
 */
export function darkenPin({ laser }: Pick<Hardware, 'laser'>, log: Logger): void {
  if (isMissing(laser)) return;
  try {
    laser.write(false);
  } catch (error) {
    log.error(describeError(error), 'the laser pin does not obey');
  }
}
