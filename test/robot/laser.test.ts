import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.js';
import { type Missing, RobotError } from '../../src/core/errors.js';
import type { Interlock, OutputPin } from '../../src/hardware/ports.js';
import { Laser } from '../../src/robot/laser.js';
import { codeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';

const LOST: Missing = { missing: 'GPIO line 529 cannot be written', cure: 'Wait.' };

class ScriptedPin implements OutputPin {
  level = false;
  unreadable = false;
  failing: 'none' | 'throws' | 'stays' = 'none';
  readonly writes: boolean[] = [];

  write(on: boolean): void {
    this.writes.push(on);
    if (this.failing === 'throws') throw new RobotError('pin-failed');
    if (this.failing === 'none') this.level = on;
  }

  read(): boolean {
    if (this.unreadable) throw new RobotError('pin-failed');
    return this.level;
  }
}

class ScriptedInterlock implements Interlock {
  closed = true;
  failing = false;
  readonly listeners: (() => void)[] = [];

  isClosed(): boolean {
    if (this.failing) {
      // A line that is lost counts as opened.
      for (const listener of this.listeners) listener();
      throw new RobotError('pin-failed');
    }
    return this.closed;
  }

  onOpen(listener: () => void): void {
    this.listeners.push(listener);
  }

  open(): void {
    this.closed = false;
    for (const listener of this.listeners) listener();
  }
}

function setUp({ maxOnS = 0, interlock }: { maxOnS?: number; interlock?: Interlock } = {}) {
  const pin = new ScriptedPin();
  const hardware: { laser: OutputPin | Missing } = { laser: pin };
  const clock = new ManualClock();
  const changes: string[] = [];
  const faults: string[] = [];
  const laser = new Laser({
    hardware: interlock === undefined ? hardware : Object.assign(hardware, { interlock }),
    clock,
    deadlines: new Deadlines(clock),
    maxOnS,
    requireAllowed: () => undefined,
    emit: event => {
      if (event.what === 'laser')
        changes.push(`${event.detail.before} ${event.detail.after} ${event.detail.reason}`);
      else if (event.what === 'laser-works') faults.push('works');
      else faults.push(`${event.error} ${event.detail.mayBeLit === true}`);
    },
  });
  return { pin, hardware, clock, laser, changes, faults };
}

describe('the laser', () => {
  it('reports the state that is read from its pin', () => {
    const { pin, laser, changes } = setUp();
    expect(laser.on()).to.equal('on');
    expect([pin.level, laser.report().state]).to.deep.equal([true, 'on']);
    expect(laser.off()).to.equal('off');
    expect([pin.level, laser.report().state]).to.deep.equal([false, 'off']);
    expect(changes).to.deep.equal(['off on undefined', 'on off undefined']);
  });

  for (const [what, off] of [
    ['the latest Off', laser => laser.off()],
    ['a stop', laser => laser.darken('stop')],
  ] as const satisfies readonly (readonly [string, (laser: Laser) => unknown])[])
    it(`refuses an On and stays dark if the On may have arrived before ${what}`, async () => {
      const { pin, clock, laser } = setUp();
      const pausedMs = clock.nowMs();
      await clock.advance(100);
      off(laser);
      expect(codeOf(() => laser.on(pausedMs))).to.equal('too-late');
      expect(pin.level).to.equal(false);
      expect(laser.on(clock.nowMs())).to.equal('on');
    });

  it('writes its pin at every Off, even if the laser was never switched on', () => {
    const { pin, laser } = setUp();
    pin.level = true;
    laser.off();
    expect(pin.level).to.equal(false);
  });

  it('goes dark at its time limit after the latest On, and reports the reason "time limit"', async () => {
    const { clock, laser } = setUp({ maxOnS: 2 });
    laser.on();
    await clock.advance(1500);
    laser.on();
    await clock.advance(1999);
    expect(laser.report().state).to.equal('on');
    await clock.advance(1);
    expect([laser.report().state, laser.report().reason]).to.deep.equal(['off', 'time limit']);
    laser.on();
    expect(laser.report().reason).to.equal(undefined);
    const unlimited = setUp();
    unlimited.laser.on();
    await unlimited.clock.advance(24 * 3600 * 1000);
    expect(unlimited.laser.report().state).to.equal('on');
  });

  it('does not report the reason "time limit" if an Off failed before the limit and takes effect only after the limit', async () => {
    const { pin, clock, laser } = setUp({ maxOnS: 2 });
    laser.on();
    pin.failing = 'stays';
    expect(codeOf(() => laser.off())).to.equal('pin-failed');
    await clock.advance(3000);
    pin.failing = 'none';
    laser.poll();
    expect([laser.report().state, laser.report().reason]).to.deep.equal(['off', undefined]);
  });

  it('goes dark when the interlock opens or a later check finds it open, and refuses every On until the interlock closes', () => {
    const interlock = new ScriptedInterlock();
    const { pin, laser } = setUp({ interlock });
    laser.on();
    interlock.open();
    expect([pin.level, laser.report().reason]).to.deep.equal([false, 'interlock opened']);
    expect(codeOf(() => laser.on())).to.equal('interlock-open');
    expect(pin.level).to.equal(false);
    interlock.closed = true;
    laser.on();
    // The contact opens without an edge, as if the edge had come before there was a listener.
    interlock.closed = false;
    laser.poll();
    expect(pin.level).to.equal(false);
  });

  it('goes dark and refuses every On if the interlock cannot be read', () => {
    const interlock = new ScriptedInterlock();
    const { pin, laser } = setUp({ interlock });
    laser.on();
    expect(laser.report().problem).to.equal(undefined);
    interlock.failing = true;
    // Reading the interlock itself switches the laser off.
    expect(laser.report()).to.include({ state: 'off', light: 'dark', reason: 'interlock opened' });
    interlock.failing = false;
    laser.on();
    interlock.failing = true;
    laser.poll();
    expect([pin.level, laser.report().reason]).to.deep.equal([false, 'interlock opened']);
    expect(laser.report().problem?.code).to.equal('pin-failed');
    expect(codeOf(() => laser.on())).to.equal('pin-failed');
    expect(pin.level).to.equal(false);
  });

  it('reports a fault only once while its pin cannot be read, and reports when the pin can be read again', () => {
    const { pin, laser, faults } = setUp();
    laser.on();
    laser.poll();
    expect(faults).to.deep.equal([]);
    pin.unreadable = true;
    laser.poll();
    laser.poll();
    expect(faults).to.deep.equal(['RobotError: pin-failed true']);
    expect(laser.report().light).to.equal('fault');
    pin.unreadable = false;
    laser.poll();
    expect(faults.slice(1)).to.deep.equal(['works']);
    expect(laser.report().light).to.equal('on');
  });

  it('reports "off" with the reason "pin lost" if it was switched on and a later check finds its pin at the off level', () => {
    const { pin, laser, changes } = setUp();
    laser.on();
    pin.level = false;
    laser.poll();
    expect(changes.at(-1)).to.equal('on off pin lost');
  });

  it('answers an On or an Off with "pin-failed" if the level of its pin does not change', () => {
    const { pin, laser } = setUp();
    pin.failing = 'stays';
    expect(codeOf(() => laser.on())).to.equal('pin-failed');
    pin.level = true;
    expect(codeOf(() => laser.off())).to.equal('pin-failed');
  });

  it('goes dark at the first check that finds its pin working again, if an Off has failed', () => {
    const { pin, laser, faults } = setUp();
    laser.on();
    pin.failing = 'throws';
    expect(codeOf(() => laser.off())).to.equal('pin-failed');
    laser.poll();
    expect(faults).to.deep.equal(['RobotError: pin-failed true']);
    expect(pin.level).to.equal(true);
    pin.failing = 'none';
    laser.poll();
    expect(faults.slice(1)).to.deep.equal(['works']);
    expect(pin.level).to.equal(false);
  });

  it('refuses On and Off with "laser-unavailable" if there is no pin, and reports that fault at the next check', () => {
    const { laser, hardware, faults } = setUp();
    hardware.laser = LOST;
    expect(codeOf(() => laser.on())).to.equal('laser-unavailable');
    expect(codeOf(() => laser.off())).to.equal('laser-unavailable');
    laser.poll();
    expect(faults).to.have.length(1);
    expect(faults[0]).to.match(/laser-unavailable.* false$/);
  });

  it('counts as dark after the loss of its pin only if it was off before', () => {
    for (const [before, code] of [
      ['off', undefined],
      ['on', 'laser-unavailable'],
    ] as const) {
      const { laser, hardware } = setUp();
      laser[before]();
      hardware.laser = LOST;
      expect(laser.darken('tuning')?.code).to.equal(code);
    }
  });

  it('is switched off when its lost pin comes back if the laser was on before, and reports the reason "pin lost"', () => {
    const { pin, laser, hardware, faults } = setUp();
    laser.on();
    hardware.laser = LOST;
    laser.poll();
    hardware.laser = pin;
    laser.poll();
    expect(faults.at(-1)).to.equal('works');
    expect(pin.level).to.equal(false);
    expect(laser.report()).to.include({ state: 'off', reason: 'pin lost' });
  });
});
