import { Core } from '../../sim/core/core.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import type { Unit } from '../../src/core/units.js';
import { encodeFrame } from '../../src/protocol/codec.js';
import { frameBytes, REGISTERS, RESET_CAUSES, registerMap } from '../../src/protocol/registers.js';
import { Random } from '../support/random.js';
import { type Frame, RandomFrames } from './frames.js';
import { ScriptedLoops } from './scripted-loops.js';

const RATE_HZ = 1000;
/** A frame takes effect in the next loop period. */
const EFFECT_MS = 1;
/** A bus of 400 kHz carries at most this many accepted frames in a loop period. */
const FRAMES_A_PERIOD = 15;
/** A kept capture and a shown refusal end within this many loop periods. */
const LONG_PAUSE = { min: 997, max: 1001 };
const SHOWN_STEPS = 20;
const BUILD = { image_crc: 0x9abcdef0, longest_loop_us: 0x1234, reset_cause: RESET_CAUSES.watchdog };

export interface Exchange {
  readonly unit: Unit;
  readonly seed: number;
  readonly transactions: number;
  /** If true, an excitation runs all the time. */
  readonly isCapturing: boolean;
  /** The chance of a pause, the chance that a pause is long, and the most loop periods of a short pause. */
  readonly pauses: { readonly chance: number; readonly longChance: number; readonly most: number };
}

/**
 * A controller that runs the simulated firmware, and one that runs the core. The loops of both show the same readings.
 * The gimbals have the register `build`.
 */
export function firmwareAndCore(module: WebAssembly.Module, unit: Unit, seed: number): readonly Controller[] {
  const loops = () => new ScriptedLoops(unit, new Random(seed + 1));
  const build = unit.hasCamera ? BUILD : undefined;
  const frame = build && encodeFrame(unit.address, REGISTERS.build, build);
  return [
    new SimulatedController(unit, loops(), RATE_HZ, EFFECT_MS, build),
    new Core(module, unit, { ...(frame && { build: () => frame }) }, loops()),
  ];
}

/** Sends the same random transactions to all of the controllers. Throws if two of them answer differently. */
export function compareProtocols(
  controllers: readonly Controller[],
  { unit, seed, transactions, isCapturing, pauses }: Exchange,
): void {
  const random = new Random(seed);
  const frames = new RandomFrames(unit, random);
  const readable = registerMap(unit).filter(register => register.access !== 'write');
  const steps: string[] = [];
  let framesLeft = FRAMES_A_PERIOD;
  const pass = (periods: number) => {
    for (let period = 0; period < periods; period += 1) for (const one of controllers) one.tick();
    framesLeft = FRAMES_A_PERIOD;
    steps.push(`${periods} loop periods`);
  };

  const write = ({ place, data }: Frame) => {
    steps.push(`write 0x${place.toString(16)} ${data.toString('hex')}`);
    for (const one of controllers) one.write(place, data);
    framesLeft -= 1;
  };
  if (isCapturing) for (const frame of frames.excitation()) write(frame);

  for (let sent = 0; sent < transactions; ) {
    if (steps.length > 2 * SHOWN_STEPS) steps.splice(0, SHOWN_STEPS);
    const dice = random.whole(0, 999);
    if (dice < pauses.chance * 1000 || framesLeft === 0) {
      const isLong = random.chance(pauses.longChance);
      pass(isLong ? random.whole(LONG_PAUSE.min, LONG_PAUSE.max) : random.whole(1, pauses.most));
    } else if (dice === 330 && !isCapturing && random.chance(0.05)) {
      steps.push('reset');
      for (const one of controllers) one.reset();
      pass(1);
    } else if (dice < (isCapturing ? 340 : 620)) {
      write(frames.next());
      sent += 1;
    } else {
      const register = random.among(readable);
      const [place, bytes] = random.chance(0.1)
        ? [random.whole(0, 255), random.whole(1, 64)]
        : [register.address, frameBytes(register)];
      const answers = controllers.map(one => one.read(place, bytes).toString('hex'));
      steps.push(`read 0x${place.toString(16)}, ${bytes} bytes`);
      sent += 1;
      if (new Set(answers).size > 1) {
        const shown = steps.slice(-SHOWN_STEPS).join('; ');
        throw new Error(`${unit.name}, seed ${seed}: ${shown}; ${answers.join(' or ')}`);
      }
    }
  }
}
