import { type Gains, type Loop, type UnitName, unitNamed } from '../../src/core/units.js';
import { CAPTURE_SAMPLES } from '../../src/protocol/registers.js';
import { type Proposal, propose } from '../../src/tuning/propose.js';
import type { ProposalTask, Recording, TunerPort, WaveRequest } from '../../src/tuning/tuner.js';
import type { RobotTrial } from './robot-trial.js';

/** A wave that ended has faded after a second. */
const FADE_S = 1.1;
/** A loop stands still when it has moved less than this part of the amplitude for so long. */
const STILL = 0.02;
const STILL_S = 0.3;
const REST_S = 3;

/** The simulated robot as a tuner sees it, without bus and daemon, as fast as it computes. */
export class TrialPort implements TunerPort {
  readonly words: string[] = [];
  /** How long the robot was busy so far. */
  seconds = 0;
  readonly #robot: RobotTrial;
  readonly #unit: UnitName;
  readonly #loop: Loop;

  constructor(robot: RobotTrial, unit: UnitName, loop: Loop) {
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

  async excite({ amplitude, periodS, halves, runaway, rings }: WaveRequest): Promise<Recording> {
    const robot = this.#robot;
    const loop = this.#loop.name;
    const wave = (size: number) =>
      robot.command(this.#unit, { excitation: { loop, amplitude: size, periodS } });
    wave(0);
    const reading = robot.reading(this.#unit, loop);
    this.#rest(reading, STILL * amplitude);
    const { output } = reading;
    const most = runaway + Math.abs(reading.setpoint - reading.measured);
    const halfTicks = Math.round((periodS / 2) * robot.physics.loopRateHz);
    const decimation = Math.max(1, Math.ceil(halfTicks / CAPTURE_SAMPLES));
    const recorded: { setpoint: number[]; measured: number[] }[] = [];
    let ranAway = false;
    let isCutOff = false;
    wave(amplitude);
    for (let half = 0; half < halves && !isCutOff; half += 1) {
      const setpoint = [reading.setpoint];
      const measured = [reading.measured];
      let tick = 0;
      this.#run(periodS / 2, () => {
        tick += 1;
        if (Math.abs(reading.setpoint - reading.measured) > most) {
          ranAway = true;
          isCutOff = true;
          this.#cutOff();
        }
        if (tick % decimation !== 0 || setpoint.length >= CAPTURE_SAMPLES) return;
        setpoint.push(reading.setpoint);
        measured.push(reading.measured);
      });
      if (ranAway) break;
      recorded.push({ setpoint, measured });
      isCutOff = rings({ setpoint, measured }, decimation);
    }
    if (isCutOff) this.#cutOff();
    else {
      wave(0);
      this.#run(FADE_S);
    }
    return { halfTicks, decimation, output, halves: recorded, ranAway };
  }

  /** A wave that moves to another loop leaves nothing behind, at once. */
  #cutOff(): void {
    const other = unitNamed(this.#unit).loops.find(loop => loop.name !== this.#loop.name);
    const excitation = { loop: other?.name ?? '', amplitude: 0, periodS: 1 };
    this.#robot.command(this.#unit, { excitation });
  }

  #rest(reading: { readonly measured: number }, still: number): void {
    for (let waitedS = 0; waitedS < REST_S; waitedS += STILL_S) {
      let low = reading.measured;
      let high = low;
      this.#run(STILL_S, () => {
        low = Math.min(low, reading.measured);
        high = Math.max(high, reading.measured);
      });
      if (high - low <= still) return;
    }
  }

  #run(seconds: number, watch?: () => void): void {
    this.#robot.run(seconds, watch);
    this.seconds += seconds;
  }
}
