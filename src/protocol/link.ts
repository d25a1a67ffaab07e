import type { Clock, Timer } from '../core/clock.js';
import { type ErrorCode, isRobotError, RobotError } from '../core/errors.js';
import type { I2cBus } from '../hardware/ports.js';
import { decodeFrame, encodeFrame } from './codec.js';
import { type FieldValues, frameBytes, type Register } from './registers.js';

/**
 * In order of urgency: a waiting stop goes before everything else, then what keeps a controller alive and watched
 * (heartbeat and status), then what callers ask, and telemetry last.
 */
const PRIORITIES = ['stop', 'supervision', 'mode', 'gains', 'telemetry'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** How urgent a transaction is, and until when (Clock milliseconds) it is worth starting. */
export interface Urgency {
  readonly priority: Priority;
  readonly untilMs: number;
}

export interface BusCounters {
  transactions: number;
  retries: number;
  readonly errors: Partial<Record<ErrorCode, number>>;
}

/** The caller of one attempt is answered by then, whatever the kernel does. */
const TRANSACTION_MS = 50;
const MAX_RETRIES = 2;

/**
 * What may be tried again at once. Not the slow failures: an adapter that timed out held the bus for about a second,
 * and a call past its deadline may still be running.
 */
const RETRIED: Partial<Record<ErrorCode, true>> = {
  nack: true,
  'bus-io': true,
  'arbitration-lost': true,
  'bad-frame': true,
};

interface Job {
  readonly address: number;
  readonly register: string;
  readonly urgency: Urgency;
  attempts: number;
  giveUp: Timer;
  attempt(): Promise<void>;
  fail(error: RobotError): void;
}

/**
 * The only way to the bus: one transaction in flight, the most urgent first, checksummed, with deadline and retries.
 * A kernel call past its deadline fails for its caller, and nothing else is started until the call has ended.
 */
export class Link {
  readonly counters: BusCounters = { transactions: 0, retries: 0, errors: {} };
  readonly #bus: I2cBus;
  readonly #clock: Clock;
  readonly #waiting: Record<Priority, Job[]> = {
    stop: [],
    supervision: [],
    mode: [],
    gains: [],
    telemetry: [],
  };
  /** What the bus is doing; it goes on past its deadline, until the kernel call has ended. */
  #inFlight: Job | undefined;
  /** When the last transaction of each address and register ended. */
  readonly #endedMs = new Map<string, number>();

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
   * When the last transaction with this register ended, failed ones included; now, while one is in flight or waits for
   * the bus. Undefined when there was none.
   */
  lastOnBusMs(address: number, { name }: Register): number | undefined {
    const jobs = [this.#inFlight, ...Object.values(this.#waiting).flat()];
    const isUnderWay = jobs.some(job => job?.address === address && job.register === name);
    if (isUnderWay) return this.#clock.nowMs();
    return this.#endedMs.get(`${address} ${name}`);
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
        register: register.name,
        urgency,
        attempts: 0,
        giveUp: this.#clock.after(Math.max(0, urgency.untilMs - this.#clock.nowMs()), () => {
          const queue = this.#waiting[urgency.priority];
          const place = queue.indexOf(job);
          if (place < 0) return;
          queue.splice(place, 1);
          this.#failed(job, new RobotError('bus-busy'));
        }),
        attempt: () => call(job.attempts).then(resolve),
        fail: reject,
      };
      this.#waiting[urgency.priority].push(job);
      this.#next();
    });
  }

  #next(): void {
    if (this.#inFlight !== undefined) return;
    const queue = PRIORITIES.map(priority => this.#waiting[priority]).find(jobs => jobs.length > 0);
    const job = queue?.shift();
    if (job === undefined) return;
    this.#inFlight = job;
    this.#run(job);
  }

  #run(job: Job): void {
    this.counters.transactions += 1;
    job.attempts += 1;
    let answered = false;
    let settledInTime = false;
    const deadline = this.#clock.after(TRANSACTION_MS, () => {
      // After a pause of the whole process the call may be done and only its callback late: that comes first.
      setImmediate(() => {
        if (settledInTime) return;
        answered = true;
        this.#failed(job, new RobotError('deadline'));
      });
    });
    const settled = (error?: unknown) => {
      settledInTime = true;
      deadline.cancel();
      this.#inFlight = undefined;
      this.#endedMs.set(`${job.address} ${job.register}`, this.#clock.nowMs());
      if (!answered) {
        if (error === undefined) job.giveUp.cancel();
        else this.#failed(job, error);
      }
      this.#next();
    };
    job.attempt().then(() => settled(), settled);
  }

  #failed(job: Job, error: unknown): void {
    const failure = isRobotError(error) ? error : new RobotError('bus-failed', {}, { cause: error });
    const { code } = failure;
    this.counters.errors[code] = (this.counters.errors[code] ?? 0) + 1;
    const inTime = this.#clock.nowMs() < job.urgency.untilMs;
    if (RETRIED[code] && job.attempts <= MAX_RETRIES && inTime) {
      this.counters.retries += 1;
      this.#waiting[job.urgency.priority].unshift(job);
      return;
    }
    job.giveUp.cancel();
    const { address, register, attempts } = job;
    job.fail(failure.with({ address, register, attempts }));
  }
}
