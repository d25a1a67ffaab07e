import type { Noise } from './noise.js';

/** A pinhole camera on the gimbal's boresight. Its pictures arrive with a delay. */
const FRAME_RATE_HZ = 60;
const FOCAL_PX = 520;
const HALF_WIDTH_PX = 320;
const HALF_HEIGHT_PX = 240;
const NOISE_PX = 0.25;
const NEAREST_M = 0.1;

/** Position of the target relative to the gimbal's base on a level chassis. */
export interface Sight {
  readonly forwardM: number;
  readonly leftM: number;
  readonly upM: number;
}

/** The place of the target in a picture. */
interface Picture {
  readonly tick: number;
  readonly visible: boolean;
  /** The target's angle to the left of the boresight. If `visible` is false, the angle when it was last seen. */
  readonly yawRad: number;
  /** The target's angle above the boresight, with the same exception. */
  readonly pitchRad: number;
}

const NO_PICTURE: Picture = { tick: 0, visible: false, yawRad: 0, pitchRad: 0 };

export class Camera {
  readonly #rateHz: number;
  readonly #noise: Noise;
  readonly #latencyS: number;
  #tick = 0;
  #pending: Picture[] = [];
  #shown: Picture | undefined;

  constructor(rateHz: number, noise: Noise, latencyS: number) {
    this.#latencyS = latencyS;
    this.#rateHz = rateHz;
    this.#noise = noise;
  }

  /** The newest picture that has arrived. */
  get picture(): Picture {
    return this.#shown ?? NO_PICTURE;
  }

  /** Runs one loop period. `sight` is called when a picture is taken. */
  tick(yawRad: number, pitchRad: number, sight: () => Sight): void {
    this.#tick += 1;
    if ((this.#tick * FRAME_RATE_HZ) % this.#rateHz < FRAME_RATE_HZ) {
      this.#pending.push(this.#picture(yawRad, pitchRad, sight()));
    }
    const oldest = this.#pending[0];
    if (oldest !== undefined && this.#tick - oldest.tick >= this.#latencyS * this.#rateHz) {
      this.#pending.shift();
      this.#shown = oldest.visible || this.#shown === undefined ? oldest : { ...this.#shown, visible: false };
    }
  }

  /** Drops the pending pictures and the last one shown. */
  clear(): void {
    this.#pending = [];
    this.#shown = undefined;
  }

  #picture(yawRad: number, pitchRad: number, { forwardM, leftM, upM }: Sight): Picture {
    const ahead = forwardM * Math.cos(yawRad) + leftM * Math.sin(yawRad);
    const aside = leftM * Math.cos(yawRad) - forwardM * Math.sin(yawRad);
    const depth = ahead * Math.cos(pitchRad) + upM * Math.sin(pitchRad);
    const above = upM * Math.cos(pitchRad) - ahead * Math.sin(pitchRad);
    if (depth < NEAREST_M) return { ...NO_PICTURE, tick: this.#tick };
    const acrossPx = (FOCAL_PX * aside) / depth + NOISE_PX * this.#noise();
    const upPx = (FOCAL_PX * above) / depth + NOISE_PX * this.#noise();
    return {
      tick: this.#tick,
      visible: Math.abs(acrossPx) <= HALF_WIDTH_PX && Math.abs(upPx) <= HALF_HEIGHT_PX,
      yawRad: Math.atan(acrossPx / FOCAL_PX),
      pitchRad: Math.atan(upPx / FOCAL_PX),
    };
  }
}
