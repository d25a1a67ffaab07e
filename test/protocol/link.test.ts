import { expect } from 'chai';
import { type ErrorCode, RobotError } from '../../src/core/errors.js';
import { unitNamed } from '../../src/core/units.js';
import { encodeFrame } from '../../src/protocol/codec.js';
import { Link, type Priority } from '../../src/protocol/link.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ManualClock } from '../support/manual-clock.js';
import { ScriptedBus } from '../support/scripted-bus.js';

const GIMBAL = unitNamed('gimbal');
const manual = encodeFrame(GIMBAL.address, REGISTERS.mode, { mode: 1 });
const failure = (code: ErrorCode) => new RobotError(code, { errno: 1 });

function setUp(...answers: ConstructorParameters<typeof ScriptedBus>[0]) {
  const clock = new ManualClock();
  const bus = new ScriptedBus(answers);
  const link = new Link(bus, clock);
  const ends: string[] = [];
  const read = (priority: Priority = 'mode', waitMs = 400) =>
    link.read(GIMBAL, REGISTERS.mode, { priority, untilMs: clock.nowMs() + waitMs }).then(
      ({ mode }) => ends.push(`${priority} ${mode}`),
      error => ends.push(`${priority} ${error.code}`),
    );
  return { clock, bus, link, ends, read };
}

describe('the I2C link to the controllers', () => {
  const flipped = Buffer.from(manual);
  flipped[0] = 0;
  const [nack, lost, io] = [failure('nack'), failure('arbitration-lost'), failure('bus-io')];
  const cases: [
    name: string,
    answers: ConstructorParameters<typeof ScriptedBus>[0],
    end: string,
    errors: Record<string, number>,
  ][] = [
    [
      'reads a value in one transaction, without a retry, if the controller answers the first time',
      [manual],
      '1',
      {},
    ],
    ['retries a transfer that the controller does not acknowledge (NACK)', [nack, manual], '1', { nack: 1 }],
    ['retries a frame at most twice', [nack, nack, nack], 'nack', { nack: 3 }],
    [
      'retries a transfer after a bus error or a lost arbitration',
      [io, lost, manual],
      '1',
      { 'bus-io': 1, 'arbitration-lost': 1 },
    ],
    ['retries a read whose checksum is wrong', [flipped, manual], '1', { 'bad-frame': 1 }],
    [
      'does not retry a transfer that timed out on the bus',
      [failure('bus-timeout')],
      'bus-timeout',
      { 'bus-timeout': 1 },
    ],
    [
      'does not retry a transfer if the bus is missing',
      [failure('bus-unavailable')],
      'bus-unavailable',
      { 'bus-unavailable': 1 },
    ],
    [
      'reports an unknown error as “bus-failed”, without a retry',
      [new Error('boom')],
      'bus-failed',
      { 'bus-failed': 1 },
    ],
  ];
  for (const [name, answers, end, errors] of cases) {
    it(name, async () => {
      const { bus, link, ends, read } = setUp(...answers);
      await read();
      expect(ends).to.deep.equal([`mode ${end}`]);
      const transactions = answers.length;
      expect(link.counters).to.deep.equal({ transactions, retries: transactions - 1, errors });
      expect(bus.left).to.equal(0);
    });
  }

  it('drops a write that became forbidden while the write waited for the bus, and does not count it as a transaction', async () => {
    const { clock, bus, link, ends, read } = setUp('hang', manual);
    const first = read();
    const urgency = { priority: 'motion', untilMs: 400 } as const;
    const undue = () => {
      throw new RobotError('stopped');
    };
    const late = link
      .writeFresh(GIMBAL, REGISTERS.mode, undue, urgency)
      .catch(error => ends.push(error.code));
    const after = read('readings');
    bus.settle(manual);
    await clock.advance(1);
    await Promise.all([first, late, after]);
    expect(ends).to.deep.equal(['mode 1', 'stopped', 'readings 1']);
    expect(link.counters).to.deep.equal({ transactions: 2, retries: 0, errors: {} });
  });

  it('retries a failed frame before it sends a later frame of the same priority', async () => {
    const { ends, read } = setUp(nack, manual, nack, nack, nack);
    const first = read().then(() => ends.push('first has ended'));
    await Promise.all([first, read()]);
    expect(ends).to.deep.equal(['mode 1', 'first has ended', 'mode nack']);
  });

  it('names unit, register, number of attempts and cause in the error if a transfer fails', async () => {
    const cause = new Error('EREMOTEIO, Remote I/O error');
    const nack = new RobotError('nack', { errno: 1 }, { cause });
    const { link } = setUp(nack, nack, nack);
    const error = await link.read(GIMBAL, REGISTERS.mode, { priority: 'mode', untilMs: 100 }).catch(e => e);
    expect(error.context).to.deep.equal({
      errno: 1,
      unit: 'gimbal',
      address: GIMBAL.address,
      register: 'mode',
      attempts: 3,
    });
    expect(error.cause).to.equal(cause);
  });

  it('has at most one transaction in flight, and sends the most urgent pending frame next', async () => {
    const { bus, ends, read } = setUp('hang', ...Array.from({ length: 6 }, () => manual));
    const waiting = ['capture', 'gains', 'readings', 'mode', 'supervision', 'stop'] as const;
    const all = [read('capture'), ...waiting.map(priority => read(priority))];
    bus.settle(manual);
    await Promise.all(all);
    expect(ends.map(end => end.split(' ')[0])).to.deep.equal(['capture', ...waiting.toReversed()]);
    expect(bus.mostInFlight).to.equal(1);
  });

  it('sends the next frame of a mode switch before readings that already wait', async () => {
    const { clock, ends, read } = setUp(manual, manual, manual);
    const goesOn = async () => {
      await read('mode');
      // As many turns of promises as the daemon takes between two frames of one act.
      for (let turn = 0; turn < 8; turn += 1) await undefined;
      await read('mode');
    };
    const all = Promise.all([goesOn(), read('readings')]);
    await clock.advance(1);
    await all;
    expect(ends).to.deep.equal(['mode 1', 'mode 1', 'readings 1']);
  });

  it('sends the longest-waiting frame in every third transaction while mode switches keep the bus busy', async () => {
    const { clock, bus, ends, read } = setUp('hang', ...Array.from({ length: 8 }, () => manual));
    const all = [read('gains'), read('gains')];
    await clock.advance(1);
    all.push(read('readings'), ...Array.from({ length: 6 }, () => read('mode')));
    bus.settle(manual);
    await clock.advance(1);
    await Promise.all(all);
    const order = ends.map(end => end.split(' ')[0]);
    expect(order).to.deep.equal([
      ...['gains', 'mode', 'mode', 'gains', 'mode', 'mode', 'readings'],
      ...['mode', 'mode'],
    ]);
  });

  it('says that a register was used last now while a frame for it is pending, and afterwards when that frame ended', async () => {
    const { clock, bus, link, ends, read } = setUp('hang', manual);
    const heartbeat = () => link.lastOnBusMs(GIMBAL, REGISTERS.heartbeat);
    expect(heartbeat()).to.equal(undefined);
    void read('mode', 1000);
    const beat = link.write(
      GIMBAL,
      REGISTERS.heartbeat,
      { count: 1, silence_ms: 500 },
      { priority: 'mode', untilMs: 1000 },
    );
    await clock.advance(30);
    expect([heartbeat(), link.lastOnBusMs(GIMBAL, REGISTERS.mode)]).to.deep.equal([30, 30]);
    bus.settle(manual);
    await beat;
    await clock.advance(20);
    expect(ends).to.deep.equal(['mode 1']);
    expect(heartbeat()).to.equal(30);
  });

  it('fails a frame after 50 ms if the kernel hangs, and sends no other frame until the kernel returns', async () => {
    const { clock, bus, ends, read } = setUp('hang', manual);
    void read();
    const second = read('stop', 1000);
    await clock.advance(49);
    expect(ends).to.deep.equal([]);
    await clock.advance(1);
    expect(ends).to.deep.equal(['mode deadline']);
    await clock.advance(500);
    expect(bus.asked).to.have.length(1);
    bus.settle(manual);
    await second;
    expect(ends).to.deep.equal(['mode deadline', 'stop 1']);
    expect(bus.mostInFlight).to.equal(1);
  });

  it('fails a waiting request at its own deadline if the bus stays stuck until then', async () => {
    const { clock, bus, ends, read } = setUp('hang');
    void read('capture', 1000);
    void read('mode', 400);
    await clock.advance(400);
    expect(ends).to.deep.equal(['capture deadline', 'mode bus-busy']);
    expect(bus.asked).to.have.length(1);
  });

  it('reports `bus-busy` if a retry was not sent before the deadline, even if the deadline timer fires 2 ms early', async () => {
    const { clock, bus, ends, read } = setUp('hang', 'hang', 'hang', 'hang');
    // Timers of Node come up to 2 ms early.
    const after = clock.after.bind(clock);
    clock.after = (delayMs, act) => after(delayMs - 2, act);
    void read('gains', 1000);
    void read('gains', 20);
    void read('stop', 1000);
    bus.settle(manual);
    await clock.advance(10);
    bus.settle(manual);
    await clock.advance(9);
    void read('stop', 1000);
    bus.settle(nack);
    await clock.advance(10);
    expect(ends).to.deep.equal(['gains 1', 'stop 1', 'gains bus-busy']);
  });

  it('puts a write and a read on the bus with the bytes that the protocol documentation shows', async () => {
    const { bus, link } = setUp(undefined, manual);
    await link.write(GIMBAL, REGISTERS.mode, { mode: 2 }, { priority: 'mode', untilMs: 100 });
    await link.read(GIMBAL, REGISTERS.mode, { priority: 'mode', untilMs: 100 });
    const crc = encodeFrame(GIMBAL.address, REGISTERS.mode, { mode: 2 }).subarray(1).toString('hex');
    expect(bus.asked).to.deep.equal([`write 20 50 02${crc}`, 'read 20 50 2']);
  });
});
