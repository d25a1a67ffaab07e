import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { CoreController } from '../../sim/pico/core-controller.js';
import type { Unit } from '../../src/core/units.js';
import { frameBytes, registerMap } from '../../src/protocol/registers.js';
import { Random } from '../walk/random.js';
import { RandomFrames } from './frames.js';
import { ScriptedLoops } from './scripted-loops.js';

const RATE_HZ = 1000;
/** A frame takes effect in the next loop period. */
const EFFECT_MS = 1;
/** A bus of 400 kHz carries at most this many accepted frames in a loop period. */
const FRAMES_A_PERIOD = 15;
/** A kept capture and a shown refusal end within this many loop periods. */
const LONG_PAUSE = { min: 997, max: 1001 };
const SHOWN_STEPS = 20;

/** The first answer in which the core differs from the simulated firmware, with the steps before it. */
export interface Difference {
  readonly steps: readonly string[];
  readonly simulated: string;
  readonly core: string;
}

/**
 * Sends the same random transactions to the C core and to the simulated firmware. With `isCapturing` an excitation runs
 * all the time.
 */
export function compareProtocols(
  module: WebAssembly.Module,
  unit: Unit,
  seed: number,
  transactions: number,
  isCapturing: boolean,
): Difference | undefined {
  const random = new Random(seed);
  const frames = new RandomFrames(unit, random);
  const readable = registerMap(unit).filter(register => register.access !== 'write');
  const loops = () => new ScriptedLoops(unit, new Random(seed + 1));
  const simulated = new SimulatedController(unit, loops(), RATE_HZ, EFFECT_MS);
  const core = new CoreController(module, unit, { loops: loops() }, () => null);
  const both: readonly Controller[] = [simulated, core];
  const steps: string[] = [];
  let framesLeft = FRAMES_A_PERIOD;
  const pass = (periods: number) => {
    for (let period = 0; period < periods; period += 1) for (const one of both) one.tick();
    framesLeft = FRAMES_A_PERIOD;
    steps.push(`${periods} loop periods`);
  };

  const write = ({ place, data }: { place: number; data: Buffer }) => {
    steps.push(`write 0x${place.toString(16)} ${data.toString('hex')}`);
    for (const one of both) one.write(place, data);
    framesLeft -= 1;
  };
  if (isCapturing) for (const frame of frames.excitation()) write(frame);

  for (let sent = 0; sent < transactions; ) {
    if (steps.length > 2 * SHOWN_STEPS) steps.splice(0, SHOWN_STEPS);
    const dice = random.whole(0, 999);
    if (dice < 330 || framesLeft === 0) {
      pass(random.chance(0.02) ? random.whole(LONG_PAUSE.min, LONG_PAUSE.max) : random.whole(1, 3));
    } else if (dice === 330 && !isCapturing && random.chance(0.05)) {
      steps.push('reset');
      for (const one of both) one.reset();
      pass(1);
    } else if (dice < (isCapturing ? 340 : 620)) {
      write(frames.next());
      sent += 1;
    } else {
      const register = random.among(readable);
      const [place, bytes] = random.chance(0.1)
        ? [random.whole(0, 255), random.whole(1, 64)]
        : [register.address, frameBytes(register)];
      const answers = { simulated: simulated.read(place, bytes), core: core.read(place, bytes) };
      steps.push(`read 0x${place.toString(16)}, ${bytes} bytes`);
      sent += 1;
      if (!answers.simulated.equals(answers.core))
        return {
          steps: steps.slice(-SHOWN_STEPS),
          simulated: answers.simulated.toString('hex'),
          core: answers.core.toString('hex'),
        };
    }
  }
  return undefined;
}
