import { join } from 'node:path';
import type { Case } from './case.js';
import { type Found, fine, unknown, wrong } from './finding.js';

const CURE = "Use the board's own supply and a short cable; feed motors and servos from another one.";
const NOW = 1 << 0;
const SINCE_BOOT = 1 << 16;

export async function supply(asked: Case): Promise<Found> {
  return (await byFirmware(asked)) ?? (await byKernel(asked)) ?? unknown('the board has no such sensor');
}

/** Parses `throttled=0x50005`: the low bits are the state now, the bits 16 higher the state since boot. */
async function byFirmware({ system }: Case): Promise<Found | undefined> {
  try {
    const { stdout } = await system.run('vcgencmd', 'get_throttled');
    const bits = Number(/^throttled=(0x[0-9a-f]+)$/im.exec(stdout)?.[1] ?? Number.NaN);
    if (Number.isNaN(bits)) return undefined;
    if (bits & NOW) return wrong('under-voltage now', CURE);
    return bits & SINCE_BOOT ? wrong('under-voltage since boot', CURE) : fine('no under-voltage since boot');
  } catch {
    return undefined;
  }
}

async function byKernel({ system }: Case): Promise<Found | undefined> {
  const root = '/sys/class/hwmon';
  const text = async (...path: readonly string[]) =>
    (await system.readFile(join(root, ...path))).toString().trim();
  try {
    for (const name of await system.list(root)) {
      if ((await text(name, 'name').catch(() => '')) !== 'rpi_volt') continue;
      const alarm = await text(name, 'in0_lcrit_alarm');
      return alarm === '1' ? wrong('under-voltage', CURE) : fine('no under-voltage');
    }
  } catch {
    return undefined;
  }
  return undefined;
}
