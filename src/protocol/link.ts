import type { Clock, Timer } from '../core/clock.js';
import { type ErrorCode, isRobotError, RobotError } from '../core/errors.js';
import type { I2cBus } from '../hardware/ports.js';
import { decodeFrame, encodeFrame } from './codec.js';
import { type FieldValues, frameBytes, type Register } from './registers.js';

/**
 * The priorities, most urgent first: a waiting stop goes before everything else, then what keeps a controller alive and
 * watched (heartbeat and status), then what callers switch, then readings, gains, and the samples of a captured step
 * last.
 */
const PRIORITIES = ['stop', 'supervision', 'mode', 'readings', 'gains', 'capture'] as const;
export type Priority = (typeof PRIORITIES)[number];

const BELOW_SWITCHES = PRIORITIES.slice(PRIORITIES.indexOf('mode') + 1);
/** While a switch waits, every third frame is of what has waited longest among what is less urgent. */
const SHARE_BESIDE_SWITCHES = 3;

/** How urgent a transaction is, and until when (Clock milliseconds) it is worth starting. */
export interface Urgency {
  readonly priority: Priority;
  readonly untilMs: number;
}

interface BusCounters {
  transactions: number;
  retries: number;
  readonly errors: Partial<Record<ErrorCode, number>>;
}

/** The caller of one attempt is answered within this time, whatever the kernel does. */
const TRANSACTION_MS = 50;
const MAX_RETRIES = 2;

/**
 * The failures that are tried again at once. Slow ones are not among them: an adapter that timed out held the bus for
 * about a second, and a call past its deadline may still be running.
 */
const RETRIED: Partial<Record<ErrorCode, true>> = {
  nack: true,
  'bus-io': true,
  'arbitration-lost': true,
  'bad-frame': true,
};

interface Job {
  readonly address: number;
  readonly register: Register;
  readonly urgency: Urgency;
  readonly sinceMs: number;
  attempts: number;
  attempt(): Promise<void>;
  fail(error: RobotError): void;
}

/** One attempt of a job, from its start to the end of the kernel call. */
interface Attempt {
  readonly job: Job;
  readonly untilMs: number;
  /** Whether the caller has been answered although the call still runs. */
  isGivenUp: boolean;
}

/**
 * The only way to the bus. One transaction is in flight at a time, the most urgent first, with checksum, deadline and
 * retries. A kernel call past its deadline fails for its caller, and nothing else is started until the call has ended.
 */
export class Link {
  readonly counters: BusCounters = { transactions: 0, retries: 0, errors: {} };
  readonly #bus: I2cBus;
  readonly #clock: Clock;
  readonly #waiting: Record<Priority, Job[]> = {
    stop: [],
    supervision: [],
    mode: [],
    readings: [],
    gains: [],
    capture: [],
  };
  /** Counts the frames that begin while both a switch and something less urgent wait, up to the share of the latter. */
  #besideSwitches = 0;
  /** The attempt that has the bus, also past its deadline until the kernel call has ended. */
  #inFlight: Attempt | undefined;
  /** The time at which the last transaction of each address and register ended. */
  readonly #endedMs = new Map<number, number>();
  /**
   * The time before which nothing can be late. One timer serves all, since two for each transaction would cost more
   * than the transaction.
   */
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined;

  constructor(bus: I2cBus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  read<R extends Register>(address: number, register: R, urgency: Urgency): Promise<FieldValues<R>> {
    return this.#submit(address, register, urgency, async () => {
      const frame = await this.#bus.readBlock(address, register.address, frameBytes(register));
      return decodeFrame(address, register, frame);
    });
  }

  /** Resolves with the number of attempts: those before the last may have arrived too, and only their answers been lost. */
  write<R extends Register>(
    address: number,
    register: R,
    values: Readonly<FieldValues<R>>,
    urgency: Urgency,
  ): Promise<number> {
    const frame = encodeFrame(address, register, values);
    return this.#submit(address, register, urgency, async attempts => {
      await this.#bus.writeBlock(address, register.address, frame);
      return attempts;
    });
  }

  /**
   * The time at which the last transaction with this register ended, failed ones included; now, while one is in flight
   * or waits for the bus; undefined when there was none.
   */
  lastOnBusMs(address: number, register: Register): number | undefined {
    const jobs = [this.#inFlight?.job, ...Object.values(this.#waiting).flat()];
    const isUnderWay = jobs.some(job => job?.address === address && job.register === register);
    if (isUnderWay) return this.#clock.nowMs();
    return this.#endedMs.get(placeOf(address, register));
  }

  #submit<T>(
    address: number,
    register: Register,
    urgency: Urgency,
    call: (attempts: number) => Promise<T>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const job: Job = {
        address,
        register,
        urgency,
        sinceMs: this.#clock.nowMs(),
        attempts: 0,
        attempt: () => call(job.attempts).then(resolve),
        fail: reject,
      };
      this.#waiting[urgency.priority].push(job);
      this.#lookBy(urgency.untilMs);
      this.#next();
    });
  }

  #next(): void {
    if (this.#inFlight !== undefined) return;
    const urgent = PRIORITIES.find(one => this.#waiting[one].length > 0);
    const priority = urgent === 'mode' ? this.#nextBesideSwitches() : urgent;
    const job = priority && this.#waiting[priority].shift();
    if (job !== undefined) this.#run(job);
  }

  /** Switches go first, but callers who switch without a pause must not keep readings and gains from the bus for ever. */
  #nextBesideSwitches(): Priority {
    const sinceMs = (one: Priority) => this.#waiting[one][0]?.sinceMs ?? Number.POSITIVE_INFINITY;
    const [longest] = BELOW_SWITCHES.filter(one => this.#waiting[one].length > 0).sort(
      (one, other) => sinceMs(one) - sinceMs(other),
    );
    if (longest === undefined) return 'mode';
    this.#besideSwitches = (this.#besideSwitches + 1) % SHARE_BESIDE_SWITCHES;
    return this.#besideSwitches === 0 ? longest : 'mode';
  }

  #run(job: Job): void {
    this.counters.transactions += 1;
    job.attempts += 1;
    const attempt: Attempt = { job, untilMs: this.#clock.nowMs() + TRANSACTION_MS, isGivenUp: false };
    this.#inFlight = attempt;
    this.#lookBy(attempt.untilMs);
    const settled = (error?: unknown) => {
      this.#inFlight = undefined;
      this.#endedMs.set(placeOf(job.address, job.register), this.#clock.nowMs());
      if (error !== undefined && !attempt.isGivenUp) this.#failed(job, error);
      // Once every promise that waits for this one has gone on: its caller may have a next frame, more urgent than
      // those that wait.
      process.nextTick(() => this.#next());
    };
    job.attempt().then(() => settled(), settled);
  }

  /** Has whatever is late at `atMs` found then. */
  #lookBy(atMs: number): void {
    if (this.#alarm !== undefined && this.#alarm.atMs <= atMs) return;
    this.#alarm?.timer.cancel();
    const delayMs = Math.max(0, atMs - this.#clock.nowMs());
    this.#alarm = { atMs, timer: this.#clock.after(delayMs, () => this.#look()) };
  }

  #look(): void {
    this.#alarm = undefined;
    const nowMs = this.#clock.nowMs();
    const attempt = this.#inFlight;
    if (attempt !== undefined && !attempt.isGivenUp) {
      if (nowMs >= attempt.untilMs) this.#giveUp(attempt);
      else this.#lookBy(attempt.untilMs);
    }
    for (const jobs of Object.values(this.#waiting)) {
      for (const job of [...jobs]) {
        const { untilMs } = job.urgency;
        if (nowMs < untilMs) {
          this.#lookBy(untilMs);
          continue;
        }
        jobs.splice(jobs.indexOf(job), 1);
        this.#failed(job, new RobotError('bus-busy'));
      }
    }
  }

  #giveUp(attempt: Attempt): void {
    // After a pause of the whole process the call may be done and only its callback late: that comes first.
    setImmediate(() => {
      if (this.#inFlight !== attempt || attempt.isGivenUp) return;
      attempt.isGivenUp = true;
      this.#failed(attempt.job, new RobotError('deadline'));
    });
  }

  #failed(job: Job, error: unknown): void {
    const failure = isRobotError(error) ? error : new RobotError('bus-failed', {}, { cause: error });
    const { code } = failure;
    this.counters.errors[code] = (this.counters.errors[code] ?? 0) + 1;
    const inTime = this.#clock.nowMs() < job.urgency.untilMs;
    if (RETRIED[code] && job.attempts <= MAX_RETRIES && inTime) {
      this.counters.retries += 1;
      this.#waiting[job.urgency.priority].unshift(job);
      this.#lookBy(job.urgency.untilMs);
      return;
    }
    const { address, register, attempts } = job;
    job.fail(failure.with({ address, register: register.name, attempts }));
  }
}

/** Registers have addresses of one byte. */
function placeOf(address: number, register: Register): number {
  return address * 256 + register.address;
}
