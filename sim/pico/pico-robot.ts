import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Unit } from '../../src/core/units.js';
import { GimbalSight } from '../physics/gimbal-sight.js';
import { seededNoise } from '../physics/noise.js';
import { RobotMechanics } from '../physics/robot-mechanics.js';
import { RATE_HZ } from './core-robot.js';
import { PicoController, type PicoImage } from './pico-controller.js';

const SUBSTEPS = 2;

/** The image that scripts/firmware/image compiled. Needs the Debian package binutils-arm-none-eabi. */
export function picoImage({ name }: Unit, folder = 'dist/firmware'): PicoImage {
  const symbols = execFileSync('arm-none-eabi-nm', ['-S', `${folder}/${name}.elf`], { encoding: 'utf8' });
  const variable = (wanted: string) => {
    const line = symbols.split('\n').find(symbol => symbol.endsWith(` ${wanted}`));
    if (line === undefined) throw new TypeError(`the image has no variable ${wanted}`);
    const [address = '', bytes = ''] = line.split(' ');
    return { address: Number.parseInt(address, 16), bytes: Number.parseInt(bytes, 16) };
  };
  return {
    bytes: readFileSync(`${folder}/${name}.bin`),
    motor: variable('motor'),
    build: variable('build'),
    longest_us: variable('longest_us'),
  };
}

/** A robot in which one unit is an emulated Pico. Each loop period of the image moves the mechanics. */
export function createPico(
  unit: Unit,
  core: WebAssembly.Module,
  { seed, image = picoImage(unit), hz }: { seed: number; image?: PicoImage; hz?: number },
): { pico: PicoController; mechanics: RobotMechanics; sight: GimbalSight } {
  const noise = seededNoise(seed);
  const mechanics = new RobotMechanics();
  const sight = new GimbalSight(mechanics, RATE_HZ, seededNoise(seed));
  const random = () => Math.abs(noise()) % 1;
  const step = () => {
    for (let part = 0; part < SUBSTEPS; part += 1) mechanics.step(1 / RATE_HZ / SUBSTEPS);
  };
  const pico = new PicoController(unit, { image, core, mechanics, sight, random, step, ...(hz && { hz }) });
  return { pico, mechanics, sight };
}
