import type { LoopCommand, UnitLoops } from '../firmware/unit-loops.js';
import { towards } from '../physics/angles.js';
import { encoded } from '../physics/dc-motor.js';
import { GimbalSight } from '../physics/gimbal-sight.js';
import type { Noise } from '../physics/noise.js';
import type { RobotMechanics } from '../physics/robot-mechanics.js';
import { ExcitationSignal } from './excitation-signal.js';
import { GimbalAxis } from './gimbal-axis.js';
import { Activity, excitedLoop, readingsOf } from './loop-parts.js';

/** Time without a target after which the gimbal sweeps to find one. */
const SEARCH_AFTER_S = 1;
const SEARCH_RAD = 1.8;
const SEARCH_RAD_S = 0.8;

/** The gimbal's firmware. It holds, follows the target by its camera, or is excited. */
export class GimbalLoops implements UnitLoops {
  readonly readings = readingsOf('gimbal');
  readonly pose = undefined;
  readonly #mechanics: RobotMechanics;
  readonly #periodS: number;
  readonly #sight: GimbalSight;
  #activity = new Activity();
  readonly #signal: ExcitationSignal;
  #yaw: GimbalAxis;
  #pitch: GimbalAxis;
  #unseenS = 0;
  #searchSide = 1;

  constructor(mechanics: RobotMechanics, rateHz: number, noise: Noise) {
    this.#mechanics = mechanics;
    this.#periodS = 1 / rateHz;
    this.#sight = new GimbalSight(mechanics, rateHz, noise);
    this.#signal = new ExcitationSignal(rateHz);
    this.#yaw = new GimbalAxis('yaw', this.readings, this.#periodS);
    this.#pitch = new GimbalAxis('pitch', this.readings, this.#periodS);
  }

  get edges(): number {
    return this.#signal.edges;
  }

  get targetVisible(): boolean {
    return this.#sight.camera.picture.visible;
  }

  get axes(): Readonly<Record<string, unknown>> {
    return this.#sight.axes;
  }

  tick(command: LoopCommand): void {
    const { yaw, pitch } = this.#mechanics.gimbal;
    this.#sight.tick();
    const counts = this.#mechanics.body.encoderCountsPerTurn;
    const yawRad = encoded(yaw.angleRad, counts.yaw);
    const pitchRad = encoded(pitch.angleRad, counts.pitch);
    this.#turn(command, yawRad, pitchRad);
    if (command.mode === 'auto' && command.torque) this.#search();
    const drive = this.#mechanics.gimbalDrive;
    drive.open = !command.torque;
    const { picture } = this.#sight.camera;
    drive.yawV = this.#drive(this.#yaw, command, yawRad, picture.yawRad);
    drive.pitchV = this.#drive(this.#pitch, command, pitchRad, picture.pitchRad);
  }

  dropExcitation(): void {
    this.#signal.end();
    this.#yaw.join();
    this.#pitch.join();
  }

  reset(): void {
    this.#yaw = new GimbalAxis('yaw', this.readings, this.#periodS);
    this.#pitch = new GimbalAxis('pitch', this.readings, this.#periodS);
    this.#activity = new Activity();
    this.#sight.camera.clear();
    this.#signal.end();
  }

  #turn(command: LoopCommand, yawRad: number, pitchRad: number): void {
    const turn = this.#activity.turn(command);
    if (turn !== 'same') this.dropExcitation();
    if (turn === 'entered') {
      this.#yaw.enter(yawRad);
      this.#pitch.enter(pitchRad);
      this.#unseenS = 0;
      this.#sight.enter(command.mode);
    }
    this.#signal.tick(command);
  }

  #search(): void {
    this.#unseenS = this.#sight.camera.picture.visible ? 0 : this.#unseenS + this.#periodS;
    if (this.#unseenS < SEARCH_AFTER_S) return;
    const step = SEARCH_RAD_S * this.#periodS;
    if (this.#yaw.aimRad * this.#searchSide >= SEARCH_RAD) this.#searchSide = -this.#searchSide;
    this.#yaw.aimAt(this.#yaw.aimRad + this.#searchSide * step);
    this.#pitch.aimAt(towards(this.#pitch.aimRad, 0, step));
  }

  #drive(axis: GimbalAxis, command: LoopCommand, angleRad: number, offsetRad: number): number {
    if (!command.torque) {
      axis.rest(angleRad, offsetRad);
      return 0;
    }
    const excited = excitedLoop(command);
    const excitation = this.#signal.value;
    const tracks = command.mode === 'auto' || (excited === axis.visualName && excitation !== 0);
    if (tracks && this.#sight.camera.picture.visible)
      return axis.track(angleRad, offsetRad, command.gains, excitation);
    const rate = command.rates[axis.name] ?? 0;
    return axis.hold(angleRad, offsetRad, command.gains, excited === axis.angleName ? excitation : 0, rate);
  }
}
