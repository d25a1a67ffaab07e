import type { BareRobot } from '../../sim/bare-robot.js';
import type { LoopReading } from '../../sim/firmware/unit-loops.js';
import { LONGEST_TUNING_S } from '../../src/core/tuning-terms.js';
import { type Gains, type Loop, type UnitName, unitNamed } from '../../src/core/units.js';
import { CAPTURE_SAMPLES } from '../../src/protocol/registers.js';
import { type HalfPeriod, halfPeriodOf } from '../../src/tuning/excited-run.js';
import { type Proposal, type ProposalTask, propose } from '../../src/tuning/propose.js';
import { Ringing } from '../../src/tuning/ringing.js';
import type { ExcitationRequest, Recording, TunerPort } from '../../src/tuning/tuner.js';

/** After this time, the motion of an ended excitation has faded. */
const FADE_S = 1.1;
/**
 * A loop is at rest if it moves less than this part of the amplitude for STILL_S. The daemon's port
 * (src/autotune/robot-port.ts) allows 3 %, because it has readings of 50 Hz only. The figures of docs/tuning.md were
 * measured with 2 %.
 */
const STILL = 0.02;
const STILL_S = 0.3;
const REST_S = 3;
/** The daemon's polling interval. */
const POLL_S = 0.02;

/** The tuner's port to a simulated robot without bus and daemon. It runs as fast as the computer allows. */
export class BareRobotPort implements TunerPort {
  readonly words: string[] = [];
  /** The simulated time used so far. */
  seconds = 0;
  /** The longest time for which the loop kept ringing, checked at every loop period. */
  longestRingingS = 0;
  readonly #robot: BareRobot;
  readonly #unit: UnitName;
  readonly #loop: Loop;

  constructor(robot: BareRobot, unit: UnitName, loop: Loop) {
    this.#robot = robot;
    this.#unit = unit;
    this.#loop = loop;
    robot.command(unit, { mode: 'debug' });
  }

  async tryGains(gains: Gains): Promise<void> {
    this.#robot.setGains(this.#unit, this.#loop.name, gains);
  }

  async propose(task: ProposalTask): Promise<Proposal> {
    return propose(task);
  }

  progress(words: string): void {
    this.words.push(words);
  }

  secondsLeft(): number {
    return LONGEST_TUNING_S - this.seconds;
  }

  async excite({
    amplitude,
    periodS,
    halves,
    runaway,
    swingsOn,
    rings,
  }: ExcitationRequest): Promise<Recording> {
    const robot = this.#robot;
    const loop = this.#loop.name;
    const exciteBy = (size: number) =>
      robot.command(this.#unit, { excitation: { loop, amplitude: size, periodS } });
    const { loopRateHz } = robot.physics;
    const reading = robot.reading(this.#unit, loop);
    const ringing = new Ringing(2 * amplitude);
    let end: Recording['end'] = 'whole';
    const isOver = () => end !== 'whole';
    let ticks = 0;
    const look = () => {
      ticks += 1;
      const { setpoint, measured } = reading;
      ringing.add(ticks / loopRateHz, setpoint, measured);
      this.longestRingingS = Math.max(this.longestRingingS, ringing.seconds);
      if (isOver() || ticks % Math.round(POLL_S * loopRateHz) !== 0) return;
      if (swingsOn(ticks / loopRateHz, setpoint, measured)) end = 'rings';
    };
    exciteBy(0);
    this.#rest(reading, STILL * amplitude, look, isOver);
    const { output } = reading;
    const most = runaway + Math.abs(reading.setpoint - reading.measured);
    const halfTicks = Math.round((periodS / 2) * loopRateHz);
    const decimation = Math.max(1, Math.ceil(halfTicks / CAPTURE_SAMPLES));
    const recorded: HalfPeriod[] = [];
    if (!isOver()) exciteBy(amplitude);
    while (recorded.length < halves && !isOver()) {
      const setpoint = [reading.setpoint];
      const measured = [reading.measured];
      let tick = 0;
      const record = () => {
        look();
        tick += 1;
        if (Math.abs(reading.setpoint - reading.measured) > most) end = 'ran away';
        if (tick % decimation !== 0 || setpoint.length >= CAPTURE_SAMPLES) return;
        setpoint.push(reading.setpoint);
        measured.push(reading.measured);
      };
      this.#run(periodS / 2, record, isOver);
      if (isOver()) break;
      const half = halfPeriodOf({ setpoint, measured });
      recorded.push(half);
      if (rings(half, decimation)) end = 'rings';
    }
    const recordedEnd = end;
    if (!isOver()) {
      exciteBy(0);
      this.#run(FADE_S, look, isOver);
    }
    if (isOver()) this.#cutOff();
    return { halfTicks, decimation, output, halves: recorded, end: recordedEnd };
  }

  /** Moves the excitation to another loop, so that this loop is excited no longer. */
  #cutOff(): void {
    const other = unitNamed(this.#unit).loops.find(loop => loop.name !== this.#loop.name);
    const excitation = { loop: other?.name ?? '', amplitude: 0, periodS: 1 };
    this.#robot.command(this.#unit, { excitation });
  }

  #rest(reading: LoopReading, still: number, watch: () => void, isOver: () => boolean): void {
    for (let waitedS = 0; waitedS < REST_S && !isOver(); waitedS += STILL_S) {
      let low = reading.measured;
      let high = low;
      const look = () => {
        watch();
        low = Math.min(low, reading.measured);
        high = Math.max(high, reading.measured);
      };
      this.#run(STILL_S, look, isOver);
      if (high - low <= still) return;
    }
  }

  #run(seconds: number, watch: () => void, isOver: () => boolean = () => false): void {
    const ticks = Math.round(seconds * this.#robot.physics.loopRateHz);
    for (let tick = 0; tick < ticks && !isOver(); tick += 1) {
      this.#robot.tick();
      this.seconds += 1 / this.#robot.physics.loopRateHz;
      watch();
    }
  }
}
