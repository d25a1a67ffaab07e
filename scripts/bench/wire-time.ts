import { Worker } from 'node:worker_threads';

/** Waits in a thread, as the kernel's I2C driver does. The event loop's timers are too coarse for a transaction. */
const WAITING = `const { parentPort } = require('node:worker_threads');
const nobody = new Int32Array(new SharedArrayBuffer(4));
parentPort.on('message', ms => { Atomics.wait(nobody, 0, 0, ms); parentPort.postMessage(0); });`;

/** Makes each transaction take the time that it takes on a bus of this speed. Transactions run one at a time. */
export class WireTime {
  readonly #hz: number;
  readonly #worker = new Worker(WAITING, { eval: true });
  #done = () => {};

  constructor(hz: number) {
    this.#hz = hz;
    this.#worker.on('message', () => this.#done());
    this.#worker.unref();
  }

  take(bits: number): Promise<void> {
    return new Promise(resolve => {
      this.#done = resolve;
      this.#worker.postMessage((1000 * bits) / this.#hz);
    });
  }
}
