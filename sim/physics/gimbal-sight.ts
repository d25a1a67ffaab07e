import type { Mode } from '../../src/core/units.js';
import { Camera } from './camera.js';
import type { Noise } from './noise.js';
import type { RobotMechanics } from './robot-mechanics.js';
import { Target } from './target.js';

/** What the gimbal's camera sees: the moving opponent, or in debug mode a test card. */
export class GimbalSight {
  readonly camera: Camera;
  readonly #mechanics: RobotMechanics;
  readonly #periodS: number;
  readonly #target = new Target();
  #ticks = 0;

  constructor(mechanics: RobotMechanics, rateHz: number, noise: Noise) {
    this.#mechanics = mechanics;
    this.#periodS = 1 / rateHz;
    this.camera = new Camera(rateHz, noise, mechanics.body.cameraLatencyS);
  }

  get axes(): Readonly<Record<string, unknown>> {
    const { yaw, pitch } = this.#mechanics.gimbal;
    return { yaw, pitch, target: this.#target.at(this.#timeS()) };
  }

  /** Runs one loop period. */
  tick(): void {
    this.#ticks += 1;
    const { yaw, pitch } = this.#mechanics.gimbal;
    this.camera.tick(yaw.angleRad, pitch.angleRad, this.#seen);
  }

  /** Mode or torque changed. In debug mode a test card is placed where the gimbal points. */
  enter(mode: Mode): void {
    const { yaw, pitch } = this.#mechanics.gimbal;
    const hadCard = this.#target.hasCard;
    if (mode === 'debug') this.#target.placeCard(this.#mechanics.chassis, yaw.angleRad, pitch.angleRad);
    else this.#target.removeCard();
    if (hadCard || this.#target.hasCard) this.camera.clear();
  }

  readonly #seen = () => this.#target.seenFrom(this.#mechanics.chassis, this.#timeS());

  #timeS(): number {
    return this.#ticks * this.#periodS;
  }
}
