import type { I2cBus } from '../../src/hardware/ports.js';

type BusAnswer = Buffer | Error | 'hang' | undefined;

/** Plays a list of transactions. Any other transaction is an error, and so is one that is left over. */
export class ScriptedBus implements I2cBus {
  readonly asked: string[] = [];
  readonly #answers: BusAnswer[];
  readonly #hung: ((answer: Buffer | Error) => void)[] = [];
  inFlight = 0;
  mostInFlight = 0;

  constructor(answers: readonly BusAnswer[]) {
    this.#answers = [...answers];
  }

  get left(): number {
    return this.#answers.length;
  }

  readBlock(address: number, register: number, length: number): Promise<Buffer> {
    return this.#play(`read ${hex(address)} ${hex(register)} ${length}`);
  }

  async writeBlock(address: number, register: number, data: Buffer): Promise<void> {
    await this.#play(`write ${hex(address)} ${hex(register)} ${data.toString('hex')}`);
  }

  /** Ends the oldest call that hangs. */
  settle(answer: Buffer | Error): void {
    this.#hung.shift()?.(answer);
  }

  async #play(what: string): Promise<Buffer> {
    this.asked.push(what);
    if (this.#answers.length === 0) throw new Error(`not in the script: ${what}`);
    const answer = this.#answers.shift();
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const end =
      answer === 'hang' ? await new Promise<Buffer | Error>(settle => this.#hung.push(settle)) : answer;
    this.inFlight -= 1;
    if (end instanceof Error) throw end;
    return end ?? Buffer.alloc(0);
  }
}

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
