import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { simulatorSocket } from '../../src/access/root-socket.js';
import { loadConfig } from '../../src/config/config.js';
import { systemClock } from '../../src/core/clock.js';
import { serve } from '../../src/daemon/run.js';
import { createStdoutLog } from '../../src/events/stdout-log.js';
import { isMissing, type OutputPin } from '../../src/hardware/ports.js';
import { realDisk } from '../../src/storage/disk.js';
import { RecordingDisk } from './recording-disk.js';

const YEAR_MS = 365 * 24 * 3600 * 1000;
const HANGING = 'hangs its disk';

const memory = new RecordingDisk();

/** Faults of the process. One of them happens on SIGUSR2. */
const FAULTS: Readonly<Record<string, () => void>> = {
  throws: () => {
    throw new Error('a defect');
  },
  'throws while its disk hangs': () => {
    // Nobody writes to this FIFO, so the kernel call never ends.
    void open(join(state, 'fifo'));
    throw new Error('a defect');
  },
  rejects: () => {
    void Promise.reject(new Error('a defect'));
  },
  leaks: () => {
    const kept: string[][] = [];
    setInterval(() => kept.push(Array.from({ length: 10_000 }, (_, index) => `${kept.length} ${index}`)), 20);
  },
  [HANGING]: () => void memory.hang(),
  'a year ahead': () => shiftCalendar(YEAR_MS),
  'a year back': () => shiftCalendar(-YEAR_MS),
};

/** Moves the wall clock, as NTP does on a board without a clock. */
function shiftCalendar(byMs: number): void {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) =>
      Reflect.construct(target, args.length === 0 ? [RealDate.now() + byMs] : args),
    get: (target, name) => (name === 'now' ? () => RealDate.now() + byMs : Reflect.get(target, name)),
  });
}

/** A daemon in which a fault happens on SIGUSR2. It prints each level of its laser's pin. */
const [state = '', fault = 'throws'] = process.argv.slice(2);
const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
const { laser } = robot.hardware;
if (isMissing(laser)) throw new Error('the simulated robot has a laser');
const told: OutputPin = {
  read: () => laser.read(),
  write: on => {
    laser.write(on);
    process.stderr.write(`level ${on ? 1 : 0}\n`);
  },
};
process.on('SIGUSR2', () => FAULTS[fault]?.());
await serve({
  rootSocket: simulatorSocket(state),
  config: loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state }),
  hardware: { ...robot.hardware, laser: told },
  log: createStdoutLog({ level: 'info' }),
  clock: systemClock,
  disk: fault === HANGING ? memory : realDisk,
});
