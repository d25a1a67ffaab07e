import { expect } from 'chai';
import type { FaultBody } from '../../sim/bus/faults.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { perUnit, type UnitName, unitNamed } from '../../src/core/units.js';
import { isMissing } from '../../src/hardware/ports.js';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.js';
import { frameBytes, REGISTERS } from '../../src/protocol/registers.js';
import { outcomeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';
import { ScriptedLoops } from '../support/scripted-loops.js';

const { address } = unitNamed('gimbal');

function setUp(loopRateHz = 1000) {
  const clock = new ManualClock();
  const loops = perUnit(unit => new ScriptedLoops(unit));
  let steps = 0;
  const step = () => {
    steps += 1;
  };
  const robot = new SimulatedRobot({ clock, physics: { loops, loopRateHz, step } });
  const { bus, laser } = robot.hardware;
  if (isMissing(laser)) throw new Error('no pin');
  // biome-ignore lint/suspicious/noExplicitAny: tests look into a truth whose shape they assert.
  const truth = (): any => robot.truth();
  const inject = (target: FaultBody['target'], fault: FaultBody['fault'], count?: number) =>
    robot.inject({ target, fault, ...(count !== undefined && { count }) });
  const status = async (name: UnitName) => {
    const unit = unitNamed(name);
    const frame = await bus.readBlock(unit.address, REGISTERS.status.address, frameBytes(REGISTERS.status));
    return decodeFrame(unit.address, REGISTERS.status, frame);
  };
  const toggle = async () => laser.write(!laser.read());
  /** `done`, or the code of the failure. */
  const ask = (name: UnitName | 'pin') => outcomeOf(name === 'pin' ? toggle() : status(name));
  const enterDebug = () =>
    bus.writeBlock(address, REGISTERS.mode.address, encodeFrame(address, REGISTERS.mode, { mode: 2 }));
  return {
    clock,
    loops,
    steps: () => steps,
    robot,
    bus,
    laser,
    truth,
    inject,
    status,
    ask,
    enterDebug,
  };
}

describe('the simulated robot', () => {
  it('starts with a dark laser and with both units in manual, without torque and without gains', () => {
    const { robot, truth } = setUp();
    const at = { mode: 'manual', stopped: false, torque: false, gains: null };
    const unit = { powered: true, boots: 1, ...at, axes: { scripted: true } };
    expect(robot.hardware.simulated).to.equal(true);
    expect(truth()).to.deep.equal({ laser: { level: 0 }, gimbal: unit, chassis: unit, lagMs: 0 });
  });

  it('runs its loops in real time (15 periods in 15 ms at 1000 Hz), even if its state is read in between', async () => {
    for (const [rateHz, ticks] of [
      [1000, 15],
      [500, 7],
    ] as const) {
      const { clock, loops, steps, truth } = setUp(rateHz);
      for (let look = 0; look < 10; look += 1) {
        await clock.advance(1.5);
        truth();
      }
      const { gimbal, chassis } = loops;
      expect([gimbal.commands.length, chassis.commands.length, steps()]).to.deep.equal([ticks, ticks, ticks]);
    }
  });

  it('after a pause of 10 s makes up for only 2 s, and shows the other 8 s as its lag', async () => {
    const { clock, steps, truth } = setUp();
    for (const [ms, done] of [
      [10_000, 2000],
      [10, 2010],
    ] as const) {
      await clock.advance(ms);
      expect([truth().lagMs, steps()]).to.deep.equal([8000, done]);
    }
  });

  it('allows one bus transaction at a time, of 1 to 32 bytes, and lets a write take effect only at its end', async () => {
    const { bus, ask, truth, enterDebug } = setUp();
    expect(await Promise.all([ask('gimbal'), ask('chassis')])).to.deep.equal(['done', 'bus-failed']);
    for (const length of [0, 33]) {
      expect(await outcomeOf(bus.readBlock(address, 0, length))).to.equal('bus-failed');
      expect(await outcomeOf(bus.writeBlock(address, 0, Buffer.alloc(length)))).to.equal('bus-failed');
    }
    const written = enterDebug();
    expect(truth().gimbal.mode).to.equal('manual');
    await written;
    expect(truth().gimbal.mode).to.equal('debug');
  });

  type Fault = Parameters<ReturnType<typeof setUp>['inject']>;
  type Ends = Partial<Record<UnitName | 'pin', readonly string[]>>;
  const faults: readonly (readonly [what: string, faults: readonly Fault[], ends: Ends])[] = [
    [
      'fails exactly two transactions of the gimbal if the fault “nack” is injected into the gimbal with the count 2',
      [['gimbal', 'nack', 2]],
      { gimbal: ['nack', 'nack', 'done'], chassis: ['done'] },
    ],
    [
      'corrupts exactly one frame of the chassis if the fault “corrupt” is injected into the chassis with the count 1',
      [['chassis', 'corrupt', 1]],
      { gimbal: ['done'], chassis: ['bad-frame', 'done'] },
    ],
    [
      'fails the transactions of both units, but not those of the laser pin, if the fault “nack” is injected into the bus',
      [['bus', 'nack']],
      { gimbal: ['nack', 'nack'], chassis: ['nack'], pin: ['done'] },
    ],
    [
      'applies the newest of several injected faults first',
      [
        ['gimbal', 'nack'],
        ['gimbal', 'corrupt', 1],
      ],
      { gimbal: ['bad-frame', 'nack', 'nack'] },
    ],
    [
      'plugs the chassis in again after two failed transactions if the fault “unplug” was injected into the chassis with the count 2',
      [['chassis', 'unplug', 2]],
      { chassis: ['nack', 'nack', 'done'] },
    ],
    [
      'still applies the injected fault “corrupt” to the chassis after the chassis was unplugged and plugged in again',
      [
        ['chassis', 'corrupt', 1],
        ['chassis', 'unplug'],
        ['chassis', 'plug'],
      ],
      { chassis: ['bad-frame', 'done'] },
    ],
    [
      'answers every transaction of an unplugged chassis with “nack”, even if the fault “hang” was injected before',
      [
        ['chassis', 'hang', 1],
        ['chassis', 'unplug'],
      ],
      { gimbal: ['done'], chassis: ['nack', 'nack'] },
    ],
    [
      'fails exactly the next two writes of the laser pin if the fault “nack” is injected into the pin with the count 2',
      [['pin', 'nack', 2]],
      { pin: ['pin-failed', 'pin-failed', 'done'] },
    ],
    ...(['gimbal', 'chassis', 'pin', 'bus'] as const).map(target => {
      const is = (name: string, fault: string) => [target === name || target === 'bus' ? 'done' : fault];
      const ends = {
        gimbal: is('gimbal', 'nack'),
        chassis: is('chassis', 'nack'),
        pin: is('pin', 'pin-failed'),
      };
      const all: Fault[] = [
        ['gimbal', 'nack'],
        ['chassis', 'unplug'],
        ['pin', 'nack'],
        [target, 'clear'],
      ];
      return [
        `ends ${target === 'bus' ? 'the faults of gimbal, chassis and laser pin' : `only the faults of the ${target === 'pin' ? 'laser pin' : target}`} when “clear” is injected for the ${target === 'pin' ? 'laser pin' : target}`,
        all,
        ends,
      ] as const;
    }),
  ];
  for (const [what, injected, ends] of faults)
    it(what, async () => {
      const { inject, ask } = setUp();
      for (const fault of injected) inject(...fault);
      for (const name of ['gimbal', 'chassis', 'pin'] as const)
        for (const end of ends[name] ?? []) expect(await ask(name), name).to.equal(end);
    });

  it('refuses and counts a written frame if its bits were flipped on the bus', async () => {
    const { inject, enterDebug, truth, status } = setUp();
    inject('gimbal', 'corrupt', 1);
    await enterDebug();
    expect([truth().gimbal.mode, (await status('gimbal')).refused]).to.deep.equal(['manual', 1]);
  });

  for (const [fault, target, ends] of [
    ['timeout', 'gimbal', (_: unknown, pass: (ms: number) => Promise<void>) => pass(30)],
    ['hang', 'gimbal', (inject: (...of: Fault) => void) => inject('bus', 'clear')],
    ['hang', 'bus', (inject: (...of: Fault) => void) => inject('bus', 'clear')],
  ] as const)
    it(`keeps the bus busy ${fault === 'hang' ? '' : 'for 30 ms '}after the fault “${fault}” of the ${target}${fault === 'hang' ? ' until “clear” is injected for the bus' : ''}`, async () => {
      const { clock, inject, ask } = setUp();
      inject(target, fault, 1);
      let end: unknown;
      const asked = ask('gimbal').then(found => {
        end = found;
      });
      await clock.advance(fault === 'hang' ? 3_600_000 : 0);
      inject('chassis', 'clear');
      await clock.advance(29);
      expect([end, await ask('chassis')]).to.deep.equal([undefined, 'bus-failed']);
      await ends(inject, ms => clock.advance(ms - 29));
      await asked;
      expect([end, await ask('gimbal')]).to.deep.equal(['bus-timeout', 'done']);
    });

  it('restarts a controller at a brown-out, but not when the cable of the controller is unplugged', async () => {
    const { inject, truth, loops, status } = setUp();
    inject('gimbal', 'brownout');
    inject('chassis', 'unplug', 1);
    expect([truth().gimbal.boots, truth().chassis.boots]).to.deep.equal([2, 1]);
    expect([loops.gimbal.resets, loops.chassis.resets]).to.deep.equal([1, 0]);
    expect((await status('gimbal')).boot_id).to.equal(2);
  });

  it('ends a hanging transaction with an error when the hardware connection is closed, but does not darken the laser', async () => {
    const { robot, inject, clock, laser, truth, ask } = setUp();
    laser.write(true);
    inject('gimbal', 'hang', 1);
    const hung = ask('gimbal');
    await clock.advance(1);
    await robot.hardware.close();
    expect([await hung, await ask('gimbal'), truth().laser.level]).to.deep.equal([
      'bus-timeout',
      'bus-closed',
      1,
    ]);
  });
});
