import type { Gains } from '../core/units.js';
import type { LoopShape } from './loop-shape.js';
import type { Plant } from './plant.js';

const FREQUENCIES = 80;
const LOWEST_RAD_S = 0.3;

/**
 * The peak of |1 / (1 + L)| over the frequencies, without friction and limits. 1 is calm, 2 is lively, and more is nearly
 * swinging. Sampling counts as a delay of half a loop period.
 */
export function peakSensitivity(plant: Plant, shape: LoopShape, { kp, ki, kd }: Gains): number {
  const highest = (0.9 * Math.PI) / shape.periodS;
  const delayS = plant.delayS + shape.periodS / 2;
  const filterS = shape.derivativeFilterS;
  let most = 0;
  for (let index = 0; index < FREQUENCIES; index += 1) {
    const w = LOWEST_RAD_S * (highest / LOWEST_RAD_S) ** (index / (FREQUENCIES - 1));
    // Controller: kp + ki / jw + kd jw / (1 + jw Tf)
    const filtered = 1 + (w * filterS) ** 2;
    const cRe = kp + (kd * w * w * filterS) / filtered;
    const cIm = -ki / w + (kd * w) / filtered;
    // Plant: gain / (jw + 1 / tau), and once more 1 / jw for what moves by its rate.
    const slow = 1 / plant.tauS;
    const size = plant.gain / (slow * slow + w * w);
    let pRe = size * slow;
    let pIm = -size * w;
    if (shape.plant !== 'lag') [pRe, pIm] = [pIm / w, -pRe / w];
    const sensed = 1 / Math.hypot(1, w * plant.sensorS);
    const turn = w * delayS + Math.atan(w * plant.sensorS);
    const cosine = sensed * Math.cos(turn);
    const sine = -sensed * Math.sin(turn);
    const re = pRe * cosine - pIm * sine;
    const im = pRe * sine + pIm * cosine;
    const openRe = cRe * re - cIm * im;
    const openIm = cRe * im + cIm * re;
    most = Math.max(most, 1 / Math.hypot(1 + openRe, openIm));
  }
  return most;
}
