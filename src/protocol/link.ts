import type { Clock, Timer } from '../core/clock.js';
import { asRobotError, type ErrorCode, isRobotError, RobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { I2cBus } from '../hardware/ports.js';
import { decodeFrame, encodeFrame } from './codec.js';
import { type FieldValues, frameBytes, type Register } from './registers.js';

/** Most urgent first. `supervision` is heartbeat and status. `mode` is a caller's mode switch, `motion` a drive command. */
const PRIORITIES = ['stop', 'supervision', 'mode', 'motion', 'readings', 'gains', 'capture'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** While a switch waits, every third frame serves the longest-waiting lower priority. */
const SHARE_BESIDE_SWITCHES = 3;

/** The priority of a transaction, and the time (Clock milliseconds) after which it must not start. */
export interface Urgency {
  readonly priority: Priority;
  readonly untilMs: number;
}

interface BusCounters {
  transactions: number;
  retries: number;
  readonly errors: Partial<Record<ErrorCode, number>>;
}

/** The caller of one attempt is answered within this time, even if the kernel call hangs. */
const TRANSACTION_MS = 50;
const MAX_RETRIES = 2;

/**
 * The failures that are retried at once. Slow failures are not: a timeout of the adapter held the bus for about a
 * second, and a call past its deadline may still be running.
 */
const RETRIED: readonly ErrorCode[] = ['nack', 'bus-io', 'arbitration-lost', 'bad-frame'];

interface Job {
  readonly unit: Unit;
  readonly register: Register;
  readonly urgency: Urgency;
  readonly sinceMs: number;
  /** Fails the job if it still waits when its time is over. Undefined if the job never waited. */
  limit?: Timer;
  attempts: number;
  /** Whether the caller has been answered although the kernel call still runs. */
  isGivenUp: boolean;
  /** Begins a transaction. Throws if the frame is no longer due, and sends nothing then. */
  attempt(): Promise<void>;
  fail(error: RobotError): void;
}

/**
 * The only way to the bus. One transaction is in flight at a time, the most urgent first, with checksum, deadline and
 * retries. When a kernel call passes its deadline, its caller gets an error. The next transaction starts when the
 * call has ended.
 */
export class Link {
  readonly counters: BusCounters = { transactions: 0, retries: 0, errors: {} };
  /** The total time for which transactions had the bus. */
  busMs = 0;
  readonly #bus: I2cBus;
  readonly #clock: Clock;
  /** In order of arrival. Of two jobs with the same priority, the earlier one goes first. */
  readonly #waiting: Job[] = [];
  /**
   * Counts frames that are sent while both a mode switch and a lower priority wait. Restarts at
   * `SHARE_BESIDE_SWITCHES`.
   */
  #besideSwitches = 0;
  /** The job that has the bus until its kernel call has ended, even past its deadline. */
  #inFlight: Job | undefined;
  /** The time at which the last transaction of each address and register ended. */
  readonly #endedMs = new Map<number, number>();

  constructor(bus: I2cBus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  read<R extends Register>(unit: Unit, register: R, urgency: Urgency): Promise<FieldValues<R>> {
    const { address } = unit;
    return this.#submit(unit, register, urgency, async () => {
      const frame = await this.#bus.readBlock(address, register.address, frameBytes(register));
      return decodeFrame(address, register, frame);
    });
  }

  /** Resolves with the number of attempts. An earlier attempt may have arrived even if its answer was lost. */
  write<R extends Register>(
    unit: Unit,
    register: R,
    values: Readonly<FieldValues<R>>,
    urgency: Urgency,
  ): Promise<number> {
    return this.writeFresh(unit, register, () => values, urgency);
  }

  /**
   * As `write`. Asks for the values when an attempt begins. `values` may throw, and then no further attempt is made. Calls
   * `ended` when the kernel has ended an attempt, even if that is after its deadline.
   */
  writeFresh<R extends Register>(
    unit: Unit,
    register: R,
    values: () => Readonly<FieldValues<R>>,
    urgency: Urgency,
    ended?: () => void,
  ): Promise<number> {
    return this.#submit(unit, register, urgency, attempts => {
      const frame = encodeFrame(unit.address, register, values());
      const call = this.#bus.writeBlock(unit.address, register.address, frame);
      return call.finally(ended).then(() => attempts);
    });
  }

  /**
   * The time at which the last transaction with this register ended, including failed ones. If one is in flight or
   * waits for the bus, the current time. Undefined if there was none.
   */
  lastOnBusMs({ address }: Unit, register: Register): number | undefined {
    const jobs = [this.#inFlight, ...this.#waiting];
    const isUnderWay = jobs.some(job => job?.unit.address === address && job.register === register);
    if (isUnderWay) return this.#clock.nowMs();
    return this.#endedMs.get(placeOf(address, register));
  }

  #submit<T>(
    unit: Unit,
    register: Register,
    urgency: Urgency,
    call: (attempts: number) => Promise<T>,
  ): Promise<T> {
    const sinceMs = this.#clock.nowMs();
    return new Promise<T>((resolve, reject) => {
      const job: Job = {
        unit,
        register,
        urgency,
        sinceMs,
        attempts: 0,
        isGivenUp: false,
        attempt: () => call(job.attempts).then(resolve),
        fail: reject,
      };
      this.#waiting.push(job);
      this.#next();
      if (this.#waiting.includes(job)) this.#limit(job);
    });
  }

  #limit(job: Job): void {
    // The old timer may fire early, while the frame is on the bus, and then has no effect. So a frame that waits
    // again gets a new timer.
    job.limit?.cancel();
    job.limit = this.#clock.after(job.urgency.untilMs - this.#clock.nowMs(), () => this.#expire(job));
  }

  #next(): void {
    if (this.#inFlight !== undefined || this.#waiting.length === 0) return;
    const firsts = PRIORITIES.flatMap(one => this.#waiting.find(job => job.urgency.priority === one) ?? []);
    const [urgent, ...others] = firsts;
    if (urgent === undefined) return;
    const job = urgent.urgency.priority === 'mode' ? this.#besideSwitch(urgent, others) : urgent;
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#run(job);
  }

  /**
   * Mode switches go first. Callers who switch without a pause must still leave bus time for readings and
   * gains.
   */
  #besideSwitch(mode: Job, less: Job[]): Job {
    const [longest] = less.sort((one, other) => one.sinceMs - other.sinceMs);
    if (longest === undefined) return mode;
    this.#besideSwitches = (this.#besideSwitches + 1) % SHARE_BESIDE_SWITCHES;
    return this.#besideSwitches === 0 ? longest : mode;
  }

  #run(job: Job): void {
    job.attempts += 1;
    const beganMs = this.#clock.nowMs();
    this.#inFlight = job;
    let call: Promise<void>;
    try {
      call = job.attempt();
    } catch (error) {
      this.#inFlight = undefined;
      job.limit?.cancel();
      job.fail(asRobotError(error));
      this.#next();
      return;
    }
    this.counters.transactions += 1;
    let isOver = false;
    const giveUp = () => {
      if (isOver) return;
      job.isGivenUp = true;
      this.#failed(job, new RobotError('deadline'));
    };
    // If the whole process was paused, the call may have finished while its callback is still queued. The callback
    // then runs first.
    const deadline = this.#clock.after(TRANSACTION_MS, () => setImmediate(giveUp));
    const settled = (error?: unknown) => {
      isOver = true;
      deadline.cancel();
      this.#inFlight = undefined;
      const endedMs = this.#clock.nowMs();
      this.busMs += endedMs - beganMs;
      this.#endedMs.set(placeOf(job.unit.address, job.register), endedMs);
      if (error === undefined) job.limit?.cancel();
      else if (!job.isGivenUp) this.#failed(job, error);
      // The caller of this transaction continues first: its next frame may be more urgent than the waiting ones.
      process.nextTick(() => this.#next());
    };
    call.then(() => settled(), settled);
  }

  #expire(job: Job): void {
    const place = this.#waiting.indexOf(job);
    if (place < 0) return;
    this.#waiting.splice(place, 1);
    this.#failed(job, new RobotError('bus-busy'));
  }

  #failed(job: Job, error: unknown): void {
    const failure = isRobotError(error) ? error : new RobotError('bus-failed', {}, { cause: error });
    const { code } = failure;
    this.counters.errors[code] = (this.counters.errors[code] ?? 0) + 1;
    const inTime = this.#clock.nowMs() < job.urgency.untilMs;
    if (RETRIED.includes(code) && job.attempts <= MAX_RETRIES && inTime) {
      this.counters.retries += 1;
      this.#waiting.unshift(job);
      this.#limit(job);
      return;
    }
    job.limit?.cancel();
    const { unit, register, attempts } = job;
    job.fail(failure.with({ address: unit.address, register: register.name, attempts, unit: unit.name }));
  }
}

/** A key for a controller's register. Registers have addresses of one byte. */
function placeOf(address: number, register: Register): number {
  return address * 256 + register.address;
}
