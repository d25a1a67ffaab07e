import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { type I2cNative, LinuxI2cBus, type NativeBus } from '../../src/hardware/i2c.js';
import { failureOf } from './expecting.js';

type KernelAnswer = Error | number | 'hang';

/**
 * An error of the kernel as JavaScript receives it. From `fs` it has a code and a negative errno. From block calls it has
 * only a positive errno.
 */
function recorded(errno: number, syscall: string, code = ''): Error {
  return Object.assign(new Error(`${code}, recorded`), { errno, syscall, code });
}

/** Plays the addon, with one result per transaction: an error, or the number of bytes. */
class ScriptedNative implements I2cNative {
  readonly asked: string[] = [];
  readonly answers: KernelAnswer[];
  #hung: (() => void) | undefined;

  constructor(answers: readonly KernelAnswer[]) {
    this.answers = [...answers];
  }

  openSync(bus: number): NativeBus {
    this.asked.push(`open ${bus}`);
    return {
      readI2cBlock: (address, register, length, into, done) => {
        into.fill(0xab);
        this.#play(`read ${address} ${register} ${length}`, error => done(error, this.#bytes ?? length));
      },
      writeI2cBlock: (address, register, length, data, done) =>
        this.#play(`write ${address} ${register} ${length} ${data.toString('hex')}`, done),
      closeSync: () => this.asked.push('close'),
    };
  }

  release(): void {
    this.#hung?.();
  }

  #bytes: number | undefined;

  #play(what: string, done: (error: unknown) => void): void {
    this.asked.push(what);
    const answer = this.answers.shift();
    this.#bytes = typeof answer === 'number' ? answer : undefined;
    const settle = () => done(answer instanceof Error ? answer : null);
    if (answer === 'hang') this.#hung = settle;
    else setImmediate(settle);
  }
}

describe('the driver of the I2C bus on Linux', () => {
  type BusCode = 'nack' | 'bus-io' | 'bus-timeout' | 'arbitration-lost' | 'bus-unavailable' | 'bus-failed';
  const errors: [what: string, BusCode, Error, { reopens: boolean; cure?: RegExp }][] = [
    ['a missing acknowledgement', 'nack', recorded(121, 'readI2cBlock'), { reopens: false }],
    ['a missing acknowledgement', 'nack', recorded(6, 'readI2cBlock', 'ENXIO'), { reopens: false }],
    ['a missing acknowledgement', 'nack', recorded(-121, 'readI2cBlock', 'EREMOTEIO'), { reopens: false }],
    ['an input or output error', 'bus-io', recorded(5, 'readI2cBlock', 'EIO'), { reopens: false }],
    ['a timeout', 'bus-timeout', recorded(110, 'readI2cBlock', 'ETIMEDOUT'), { reopens: false }],
    ['a lost arbitration', 'arbitration-lost', recorded(11, 'readI2cBlock', 'EAGAIN'), { reopens: false }],
    [
      'a bus that is gone',
      'bus-unavailable',
      recorded(19, 'readI2cBlock', 'ENODEV'),
      { reopens: true, cure: /do_i2c 0/ },
    ],
    [
      'a bus without a device file',
      'bus-unavailable',
      recorded(-2, 'open', 'ENOENT'),
      { reopens: true, cure: /do_i2c 0/ },
    ],
    [
      'denied access',
      'bus-unavailable',
      recorded(-13, 'open', 'EACCES'),
      { reopens: true, cure: /usermod -aG i2c/ },
    ],
    [
      'a bus whose use the system forbids',
      'bus-unavailable',
      recorded(-1, 'open', 'EPERM'),
      { reopens: true, cure: /usermod -aG i2c/ },
    ],
    [
      'an address that a kernel driver uses',
      'bus-unavailable',
      recorded(16, 'setAddr', 'EBUSY'),
      { reopens: true, cure: /dtoverlay/ },
    ],
    [
      'an argument that the kernel refuses',
      'bus-failed',
      recorded(22, 'setAddr', 'EINVAL'),
      { reopens: true },
    ],
    ['a protocol error', 'bus-failed', recorded(71, 'readI2cBlock', 'EPROTO'), { reopens: false }],
    ['an invalid address', 'bus-failed', new Error('Invalid I2C address 200'), { reopens: true }],
  ];
  for (const [what, code, error, { reopens, cure }] of errors) {
    const { errno, syscall } = Object(error);
    it(`reports ${what}${errno === undefined ? '' : ` (errno ${errno} of ${syscall})`} as "${code}"${reopens ? ', and reopens the bus for the next call' : ''}`, async () => {
      const native = new ScriptedNative([error, 4]);
      const bus = new LinuxI2cBus(native, 1);
      const failed = await failureOf(bus.readBlock(0x20, 0, 4), code);
      expect(failed.cause).to.equal(error);
      if (cure === undefined) expect(failed.context.cure).to.equal(undefined);
      else expect(failed.context.cure).to.match(cure);
      expect(await bus.readBlock(0x20, 0, 4)).to.deep.equal(Buffer.alloc(4, 0xab));
      const second = reopens ? ['close', 'open 1', 'read 32 0 4'] : ['read 32 0 4'];
      expect(native.asked).to.deep.equal(['open 1', 'read 32 0 4', ...second]);
    });
  }

  it('writes a block in one kernel call', async () => {
    const native = new ScriptedNative([3]);
    await new LinuxI2cBus(native, 1).writeBlock(0x21, 0x50, Buffer.from([1, 2, 3]));
    expect(native.asked).to.deep.equal(['open 1', 'write 33 80 3 010203']);
  });

  it('reports "bus-io" if a read returns too few bytes', async () => {
    const bus = new LinuxI2cBus(new ScriptedNative([3]), 1);
    expect((await failureOf(bus.readBlock(0x20, 0, 4))).code).to.equal('bus-io');
  });

  it('makes only one kernel call at a time, even for different addresses', async () => {
    const native = new ScriptedNative(['hang', 1, 1]);
    const bus = new LinuxI2cBus(native, 1);
    const calls = [bus.readBlock(0x20, 0, 1), bus.readBlock(0x21, 0, 1), bus.readBlock(0x20, 0, 1)];
    await new Promise(setImmediate);
    expect(native.asked).to.deep.equal(['open 1', 'read 32 0 1']);
    native.release();
    await Promise.all(calls);
    expect(native.asked.slice(2)).to.deep.equal(['read 33 0 1', 'read 32 0 1']);
  });

  it('lets a call finish if the bus is closed during the call, and refuses later calls with "bus-closed"', async () => {
    const native = new ScriptedNative(['hang']);
    const bus = new LinuxI2cBus(native, 1);
    const inFlight = bus.readBlock(0x20, 0, 1);
    await new Promise(setImmediate);
    const closing = bus.close();
    const late = failureOf(bus.writeBlock(0x20, 0, Buffer.alloc(1)));
    await new Promise(setImmediate);
    expect(native.asked).to.deep.equal(['open 1', 'read 32 0 1']);
    native.release();
    await inFlight;
    await closing;
    expect((await late).code).to.equal('bus-closed');
    expect(native.asked).to.deep.equal(['open 1', 'read 32 0 1', 'close']);
  });

  it('refuses a read if its native addon did not load, and says why the addon did not load', async () => {
    const reason = new RobotError('addon-missing', { missing: 'No i2c-bus', cure: 'Install it.' });
    const bus = new LinuxI2cBus(reason, 1);
    expect(await failureOf(bus.readBlock(0x20, 0, 1))).to.equal(reason);
    await bus.close();
  });
});
