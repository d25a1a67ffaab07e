import type { LoopCommand, Pose, UnitLoops } from '../firmware/unit-loops.js';
import { wrapped } from '../physics/angles.js';
import { Odometer } from '../physics/odometer.js';
import type { RobotMechanics } from '../physics/robot-mechanics.js';
import { ChassisReference } from './chassis-reference.js';
import { ExcitationSignal } from './excitation-signal.js';
import { Activity, excitedLoop, type LoopNameOf, readingsOf } from './loop-parts.js';
import { NO_GAINS, pidOf } from './pid.js';

/**
 * The chassis' firmware. The position loop sets the setpoint of the speed loop. In auto the course sets the setpoints of
 * position and heading.
 */
export class ChassisLoops implements UnitLoops {
  readonly readings = readingsOf('chassis');
  readonly targetVisible = false;
  readonly #mechanics: RobotMechanics;
  #odometer: Odometer;
  readonly #reference: ChassisReference;
  #activity = new Activity();
  readonly #signal: ExcitationSignal;
  #pids;
  readonly #periodS: number;
  #speedSetpointMS = 0;
  readonly #relax = {
    driving: () => {
      const { speedMS } = this.#odometer;
      this.#pids.speed.follow(0, speedMS, speedMS);
      this.#pids.position.follow(0, this.#reference.placeM, this.#reference.placeM);
    },
    turning: () => {
      const { courseRad } = this.#odometer;
      this.#pids.angle.follow(0, courseRad, courseRad);
    },
  };
  /** The heading at which debug mode was entered. In debug mode, headings are measured from it. */
  #entryRad = 0;

  constructor(mechanics: RobotMechanics, rateHz: number) {
    this.#periodS = 1 / rateHz;
    this.#mechanics = mechanics;
    this.#odometer = new Odometer(this.#periodS, mechanics.body);
    this.#reference = new ChassisReference(this.#periodS);
    this.#signal = new ExcitationSignal(rateHz);
    this.#pids = pidsOf(this.#periodS);
  }

  get edges(): number {
    return this.#signal.edges;
  }

  get pose(): Pose {
    return this.#odometer;
  }

  get axes(): Readonly<Record<string, unknown>> {
    return { ...this.#mechanics.chassis, besideCourseM: this.#reference.besideM };
  }

  tick(command: LoopCommand): void {
    this.#odometer.sense(this.#mechanics.chassis);
    this.#turn(command);
    const drive = this.#mechanics.chassisDrive;
    drive.open = !command.torque;
    if (!command.torque) {
      this.#rest();
      drive.leftV = 0;
      drive.rightV = 0;
      return;
    }
    this.#place(command);
    const drivingV = this.#driveV(command);
    const turningV = this.#turnV(command);
    drive.leftV = drivingV - turningV;
    drive.rightV = drivingV + turningV;
  }

  dropExcitation(): void {
    this.#signal.end();
    for (const pid of Object.values(this.#pids)) pid.join();
  }

  reset(): void {
    this.#pids = pidsOf(this.#periodS);
    this.#odometer = new Odometer(this.#periodS, this.#mechanics.body);
    this.#activity = new Activity();
    this.#signal.end();
    this.#speedSetpointMS = 0;
  }

  #turn(command: LoopCommand): void {
    const turn = this.#activity.turn(command);
    if (turn !== 'same') this.dropExcitation();
    if (turn === 'entered') {
      this.#reference.enter(this.#odometer, this.#relax);
      this.#pids.position.start();
      this.#entryRad = command.mode === 'debug' ? this.#odometer.courseRad : 0;
    }
    this.#signal.tick(command);
  }

  #rest(): void {
    const { speedMS, courseRad } = this.#odometer;
    const reference = this.#reference;
    reference.yield(this.#odometer);
    this.#speedSetpointMS = speedMS;
    this.#relax.driving();
    this.#relax.turning();
    const headingRad = wrapped(courseRad - this.#entryRad);
    this.readings.speed.show(speedMS, speedMS, 0);
    this.readings.angle.show(headingRad, headingRad, 0);
    this.readings.position.show(reference.placeM, reference.placeM, 0);
  }

  /** Runs the position loop, which sets the speed loop's setpoint. */
  #place(command: LoopCommand): void {
    const reference = this.#reference;
    const excited = excitedLoop(command);
    const excitation = this.#signal.value;
    if (excited === 'speed' && excitation !== 0) {
      reference.yield(this.#odometer);
      this.#pids.position.follow(0, reference.placeM, reference.placeM);
      this.#speedSetpointMS = excitation;
      this.readings.position.show(reference.placeM, reference.placeM, excitation);
      return;
    }
    if (command.mode === 'auto') reference.drive(this.#odometer, this.#relax);
    else reference.hold(this.#odometer, command.rates, this.#relax);
    const aimM = reference.aimM + (excited === 'position' ? excitation : 0);
    const placeM = reference.placeM;
    const catchUpMS = this.#pids.position.update(aimM, placeM, command.gains.position ?? NO_GAINS);
    this.#speedSetpointMS = reference.speedMS + catchUpMS;
    const { shownM } = reference;
    this.readings.position.show(shownM + aimM - placeM, shownM, this.#speedSetpointMS);
  }

  #driveV(command: LoopCommand): number {
    const { speedMS } = this.#odometer;
    const setpoint = this.#speedSetpointMS;
    const voltage = this.#pids.speed.update(setpoint, speedMS, command.gains.speed ?? NO_GAINS);
    this.readings.speed.show(setpoint, speedMS, voltage);
    return voltage;
  }

  #turnV(command: LoopCommand): number {
    const { courseRad } = this.#odometer;
    const excitation = excitedLoop(command) === 'angle' ? this.#signal.value : 0;
    const error = wrapped(this.#reference.headingRad + excitation - courseRad);
    const voltage = this.#pids.angle.update(courseRad + error, courseRad, command.gains.angle ?? NO_GAINS);
    const shownRad = wrapped(courseRad - this.#entryRad);
    this.readings.angle.show(shownRad + error, shownRad, voltage);
    return voltage;
  }
}

function pidsOf(periodS: number) {
  const pid = (name: LoopNameOf<'chassis'>) => pidOf({ unit: 'chassis', name }, periodS);
  return { speed: pid('speed'), angle: pid('angle'), position: pid('position') };
}
