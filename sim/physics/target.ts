import type { Sight } from './camera.js';
import type { ChassisState } from './chassis-mechanics.js';

interface Spot {
  readonly xM: number;
  readonly yM: number;
  /** Height above the gimbal. */
  readonly zM: number;
}

const TEST_CARD_M = 6;

/** The target of the gimbal: an opponent that moves from side to side, or a test card at rest. */
export class Target {
  #card: Spot | undefined;

  /** Puts a test card where a gimbal at `from` points. */
  placeCard(from: ChassisState, yawRad: number, pitchRad: number): void {
    const bearing = from.headingRad + yawRad;
    this.#card = {
      xM: from.xM + TEST_CARD_M * Math.cos(pitchRad) * Math.cos(bearing),
      yM: from.yM + TEST_CARD_M * Math.cos(pitchRad) * Math.sin(bearing),
      zM: TEST_CARD_M * Math.sin(pitchRad),
    };
  }

  get hasCard(): boolean {
    return this.#card !== undefined;
  }

  removeCard(): void {
    this.#card = undefined;
  }

  at(timeS: number): Spot {
    return (
      this.#card ?? {
        xM: 6,
        yM: 1.5 + Math.sin((2 * Math.PI * timeS) / 12),
        zM: 0.5 * Math.sin((2 * Math.PI * timeS) / 9),
      }
    );
  }

  seenFrom(from: ChassisState, timeS: number): Sight {
    const { xM, yM, zM } = this.at(timeS);
    const cosine = Math.cos(from.headingRad);
    const sine = Math.sin(from.headingRad);
    return {
      forwardM: (xM - from.xM) * cosine + (yM - from.yM) * sine,
      leftM: (yM - from.yM) * cosine - (xM - from.xM) * sine,
      upM: zM,
    };
  }
}
