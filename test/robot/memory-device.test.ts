import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { encodeFrame } from '../../src/protocol/codec.js';
import { Link } from '../../src/protocol/link.js';
import { FLAGS, MAGIC, PROTOCOL_VERSION, REGISTERS, SPACE_BYTES } from '../../src/protocol/registers.js';
import { MotorController } from '../../src/robot/motor-controller.js';
import { outcomeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';

const ZEROS = { flags: 0, faults: 0, active_checksum: 0, staged: 0, refused: 0, capture: 0 };
const STATUS = { boot_id: 1, mode: 1, ...ZEROS };

/** 256 bytes that keep what is written, like an EEPROM or i2c-stub, without firmware. */
class MemoryDevice implements I2cBus {
  readonly memory = Buffer.alloc(SPACE_BYTES);

  async readBlock(_address: number, register: number, length: number): Promise<Buffer> {
    return Buffer.from(this.memory.subarray(register, register + length));
  }

  async writeBlock(_address: number, register: number, data: Buffer): Promise<void> {
    data.copy(this.memory, register);
  }

  shows(changed: Partial<typeof STATUS>): void {
    const frame = encodeFrame(unit.address, REGISTERS.status, { ...STATUS, ...changed });
    frame.copy(this.memory, REGISTERS.status.address);
  }
}

const STOPPED = 1 << FLAGS.indexOf('stopped');
const unit = unitNamed('chassis');
const IDENTITY = {
  magic: MAGIC,
  kind: unit.kind,
  protocol: PROTOCOL_VERSION,
  ...{ firmware_major: 1, firmware_minor: 2, firmware_patch: 3 },
  loops: unit.loops.length,
  loop_rate_hz: 1000,
};
const UNTIL_MS = 500;
const URGENCY = { priority: 'gains', untilMs: UNTIL_MS } as const;

/** A plain memory with `identity` written into it, and the host that reads it. */
function host(identity: Partial<typeof IDENTITY> = {}) {
  const device = new MemoryDevice();
  encodeFrame(unit.address, REGISTERS.identity, { ...IDENTITY, ...identity }).copy(device.memory);
  const clock = new ManualClock();
  return { device, clock, controller: new MotorController({ unit, link: new Link(device, clock), clock }) };
}

const always = (untilMs: number) => ({ untilMs, requireDue: () => undefined });

describe('a memory chip at the I2C address of a controller', () => {
  it('is identified as a controller if its memory holds a valid identity frame', async () => {
    expect(await host().controller.identify(URGENCY)).to.deep.equal({
      firmware: '1.2.3',
      protocol: 1,
      loopRateHz: 1000,
    });
  });

  for (const other of [{ magic: 1 }, { kind: 1 }, { protocol: 2 }, { loops: 4 }]) {
    it(`is refused if the field "${Object.keys(other)[0]}" of its identity is wrong, and the error names that field`, async () => {
      const refusal = await host(other)
        .controller.identify(URGENCY)
        .catch(error => error);
      const [[field, found]] = Object.entries(other) as [[string, number]];
      expect(refusal).to.deep.include({ code: 'wrong-identity' });
      expect(refusal.context).to.deep.include({ unit: 'chassis', field, found });
    });
  }

  it('makes a write of gains fail with "not-confirmed", because its status does not show the gains', async () => {
    const { device, clock, controller } = host();
    device.shows({});
    const applied = outcomeOf(controller.commitGains(defaultGains(unit), always(UNTIL_MS)));
    await clock.advance(1000);
    expect(await applied).to.equal('not-confirmed');
  });

  for (const [does, register, shown, ask] of [
    ['sets the latch', 'stop', { flags: STOPPED }, (one, untilMs) => one.setLatch(true, always(untilMs))],
    ['changes the mode', 'mode', { mode: 2 }, (one, untilMs) => one.setMode('debug', always(untilMs))],
  ] satisfies [
    string,
    'stop' | 'mode',
    Partial<typeof STATUS>,
    (one: MotorController, untilMs: number) => Promise<unknown>,
  ][]) {
    it(`stores a frame that ${does}, but the frame fails with "not-confirmed" until the chip's status shows the effect`, async () => {
      const { device, clock, controller } = host();
      device.shows({});
      const end = outcomeOf(ask(controller, UNTIL_MS));
      await clock.advance(1000);
      expect(await end).to.equal('not-confirmed');
      expect(device.memory[REGISTERS[register].address]).to.equal(register === 'stop' ? 1 : 2);

      let confirmed = false;
      const late = ask(controller, clock.nowMs() + UNTIL_MS).then(() => {
        confirmed = true;
      });
      await clock.advance(15);
      expect(confirmed).to.equal(false);
      device.shows(shown);
      await clock.advance(5);
      await late;
    });
  }

  for (const fill of [0x00, 0xff]) {
    it(`is not identified as a controller while all its bytes are ${fill}`, async () => {
      const { device, controller } = host();
      device.memory.fill(fill);
      expect(await outcomeOf(controller.identify(URGENCY))).to.equal('bad-frame');
    });
  }
});
