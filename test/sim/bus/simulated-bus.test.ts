import { expect } from 'chai';
import { SimulatedBus } from '../../../sim/bus/simulated-bus.js';
import { isRobotError } from '../../../src/core/errors.js';
import { decodeFrame, encodeFrame } from '../../../src/protocol/codec.js';
import { frameBytes, REGISTERS } from '../../../src/protocol/registers.js';
import { busContract } from '../../support/bus-contract.js';
import { ControllerHost } from '../../support/controller-host.js';
import { ManualClock } from '../../support/manual-clock.js';

const STATUS = frameBytes(REGISTERS.status);

function setUp() {
  const clock = new ManualClock();
  const gimbal = new ControllerHost('gimbal');
  const chassis = new ControllerHost('chassis');
  const bus = new SimulatedBus({
    controllers: [gimbal.controller, chassis.controller],
    clock,
    beforeEach: () => undefined,
  });
  /** The end of a read of the unit's status: `well`, or why not. */
  const ask = async ({ unit }: ControllerHost) => {
    try {
      const frame = await bus.readBlock(unit.address, REGISTERS.status.address, STATUS);
      decodeFrame(unit.address, REGISTERS.status, frame);
      return 'well';
    } catch (error) {
      if (isRobotError(error, 'nack', 'bus-timeout')) return `${error.code} ${error.context.errno}`;
      return isRobotError(error) ? error.code : error;
    }
  };
  const several = async (host: ControllerHost, count: number) => {
    const ends: unknown[] = [];
    for (let done = 0; done < count; done += 1) ends.push(await ask(host));
    return ends;
  };
  return { clock, gimbal, chassis, bus, ask, several };
}

busContract('the simulated bus', () => setUp().bus);

describe('SimulatedBus', () => {
  it('refuses blocks of 0 and 33 bytes', async () => {
    const { bus, gimbal } = setUp();
    const { address } = gimbal.unit;
    for (const length of [0, 33]) {
      for (const call of [
        bus.readBlock(address, 0, length),
        bus.writeBlock(address, 0, Buffer.alloc(length)),
      ])
        expect(await call.catch(error => error.code)).to.equal('bus-failed');
    }
  });

  it('refuses a second transaction in flight, and finishes the first', async () => {
    const { gimbal, chassis, ask } = setUp();
    expect(await Promise.all([ask(gimbal), ask(chassis)])).to.deep.equal(['well', 'bus-failed']);
    expect(await ask(chassis)).to.equal('well');
  });

  it('answers later, never within the call', async () => {
    const { bus, gimbal } = setUp();
    const written = bus.writeBlock(
      gimbal.unit.address,
      REGISTERS.mode.address,
      encodeFrame(gimbal.unit.address, REGISTERS.mode, { mode: 0 }),
    );
    expect(gimbal.status().mode).to.equal('manual');
    await written;
    expect(gimbal.status().mode).to.equal('auto');
  });

  const shown = { nack: 'nack 121', corrupt: 'bad-frame' } as const;
  for (const fault of ['nack', 'corrupt'] as const) {
    it(`${fault}: of one unit for two transactions; the other is untouched`, async () => {
      const { bus, gimbal, chassis, ask, several } = setUp();
      bus.inject('gimbal', fault, 2);
      expect(await ask(chassis)).to.equal('well');
      expect(await several(gimbal, 3)).to.deep.equal([shown[fault], shown[fault], 'well']);
    });
    it(`${fault}: of the bus for every unit, until cleared`, async () => {
      const { bus, gimbal, chassis, ask } = setUp();
      bus.inject('bus', fault);
      expect([await ask(chassis), await ask(gimbal)]).to.deep.equal([shown[fault], shown[fault]]);
      bus.clear('chassis');
      expect(await ask(chassis)).to.equal(shown[fault]);
      bus.clear('bus');
      expect([await ask(chassis), await ask(gimbal)]).to.deep.equal(['well', 'well']);
    });
  }

  it('corrupt: what is written arrives wrong and is refused', async () => {
    const { bus, gimbal } = setUp();
    const { address } = gimbal.unit;
    bus.inject('gimbal', 'corrupt', 1);
    const frame = encodeFrame(address, REGISTERS.mode, { mode: 0 });
    await bus.writeBlock(address, REGISTERS.mode.address, frame);
    expect(gimbal.status()).to.deep.include({ mode: 'manual', refused: 1 });
    await bus.writeBlock(address, REGISTERS.mode.address, frame);
    expect(gimbal.status().mode).to.equal('auto');
  });

  it('timeout: fails after 30 ms and holds the bus until then', async () => {
    const { bus, clock, gimbal, chassis, ask } = setUp();
    bus.inject('gimbal', 'timeout', 1);
    let end: unknown = 'waiting';
    const asked = ask(gimbal).then(result => {
      end = result;
    });
    await clock.advance(29);
    bus.clear('gimbal');
    expect(await ask(chassis)).to.equal('bus-failed');
    expect(end).to.equal('waiting');
    await clock.advance(1);
    await asked;
    expect(end).to.equal('bus-timeout 110');
    expect(await ask(gimbal)).to.equal('well');
  });

  for (const target of ['gimbal', 'bus'] as const) {
    it(`hang: never ends until ${target} is cleared`, async () => {
      const { bus, clock, gimbal, ask } = setUp();
      bus.inject(target, 'hang');
      let end: unknown = 'waiting';
      const asked = ask(gimbal).then(result => {
        end = result;
      });
      await clock.advance(3_600_000);
      bus.clear('chassis');
      await clock.advance(1);
      expect(end).to.equal('waiting');
      bus.clear(target);
      await asked;
      expect(end).to.equal('bus-timeout 110');
      expect(await ask(gimbal)).to.equal('well');
    });
  }

  for (const undo of ['plug', 'clear'] as const) {
    it(`unplug: nobody answers, whatever else is wrong with the unit, until ${undo}`, async () => {
      const { bus, gimbal, chassis, ask, several } = setUp();
      bus.unplug('chassis');
      bus.inject('chassis', 'hang', 1);
      bus.inject('chassis', 'corrupt', 1);
      expect(await several(chassis, 5)).to.deep.equal(Array(5).fill('nack 121'));
      expect(await ask(gimbal)).to.equal('well');
      bus[undo]('chassis');
      expect(await ask(chassis)).to.equal(undo === 'plug' ? 'bad-frame' : 'well');
    });
  }

  it('of several faults the latest comes first', async () => {
    const { bus, gimbal, several } = setUp();
    bus.inject('gimbal', 'nack');
    bus.inject('gimbal', 'corrupt', 1);
    expect(await several(gimbal, 2)).to.deep.equal(['bad-frame', 'nack 121']);
    bus.clear('gimbal');
    bus.unplug('gimbal', 2);
    expect(await several(gimbal, 3)).to.deep.equal(['nack 121', 'nack 121', 'well']);
  });

  it('fails when closed, also what hangs', async () => {
    const { bus, clock, gimbal, ask } = setUp();
    bus.inject('gimbal', 'hang', 1);
    const hung = ask(gimbal);
    await clock.advance(1);
    bus.close();
    expect([await hung, await ask(gimbal)]).to.deep.equal(['bus-timeout 110', 'bus-closed']);
  });
});
