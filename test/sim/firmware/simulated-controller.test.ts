import { expect } from 'chai';
import {
  defaultGains,
  EXCITATION_PERIOD_S,
  type GainSet,
  MODES,
  UNIT_LIST,
} from '../../../src/core/units.js';
import { encodeFrame, gainsChecksum } from '../../../src/protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  MAGIC,
  PROTOCOL_VERSION,
  REGISTERS,
  registerMap,
  telemetryRegister,
} from '../../../src/protocol/registers.js';
import { ControllerHost } from '../../support/controller-host.js';

/** The flags of a controller with these, in the order of their bits. */
const flags = (...names: string[]) => [...names, 'gains_committed', 'guarded_excitation'];

/** Gains in, alive for good: everything a motor needs. */
function running(name: 'gimbal' | 'chassis' = 'gimbal') {
  const host = new ControllerHost(name);
  host.heartbeat(0);
  host.stage();
  host.commit();
  return host;
}

describe('SimulatedController', () => {
  describe('at start', () => {
    for (const unit of UNIT_LIST) {
      it(`is the ${unit.name}, in manual, without torque or gains`, () => {
        const host = new ControllerHost(unit.name);
        expect(host.read(REGISTERS.identity)).to.include({
          magic: MAGIC,
          kind: unit.kind,
          protocol: PROTOCOL_VERSION,
          loops: unit.loops.length,
          loop_rate_hz: 1000,
        });
        expect(host.status()).to.deep.equal({
          boot_id: 1,
          mode: 'manual',
          flags: ['guarded_excitation'],
          faults: [],
          active_checksum: 0,
          staged: 0,
          refused: 0,
          capture: 0,
        });
        expect(host.read(REGISTERS.excitation)).to.deep.equal({
          slot: 0,
          amplitude: 0,
          period_s: EXCITATION_PERIOD_S.default,
        });
      });
    }
  });

  describe('as 256 bytes of memory', () => {
    const host = running('chassis');
    const whole = Buffer.concat([0, 64, 128, 192].map(at => host.controller.read(at, 64)));

    it('holds every readable frame at its place, and 0 between them', () => {
      const known = Buffer.alloc(256);
      for (const register of registerMap(host.unit).filter(one => one.access !== 'write')) {
        host.read(register);
        host.controller.read(register.address, frameBytes(register)).copy(known, register.address);
      }
      expect(whole.toString('hex')).to.equal(known.toString('hex'));
    });
    it('answers any part of it, and goes on at the beginning past the end', () => {
      const twice = Buffer.concat([whole, whole]);
      for (const [at, length] of [
        [0x13, 7],
        [0x0e, 32],
        [0xff, 1],
        [0xf8, 32],
      ] as const) {
        expect(host.controller.read(at, length)).to.deep.equal(twice.subarray(at, at + length));
      }
    });
  });

  describe('refuses a frame, counts it, shows it for a while and changes nothing:', () => {
    const { address } = new ControllerHost().unit;
    const debug = encodeFrame(address, REGISTERS.mode, { mode: MODES.indexOf('debug') });
    const excitation = (slot: number, amplitude: number, period_s: number) =>
      encodeFrame(address, REGISTERS.excitation, { slot, amplitude, period_s });
    const guarded = (deviation: number) =>
      encodeFrame(address, REGISTERS.guarded_excitation, { slot: 0, amplitude: 0.1, period_s: 1, deviation });
    const raw = (values: number[]) => {
      const free = { name: 'mode', address: REGISTERS.mode.address, access: 'write', doc: '' } as const;
      return encodeFrame(
        address,
        { ...free, fields: values.map((_, at) => ({ name: `${at}`, type: 'u8', doc: '' }) as const) },
        { ...values },
      );
    };
    const frames: readonly [string, number, Buffer][] = [
      ['a flipped bit', REGISTERS.mode.address, Buffer.from(debug.map((byte, at) => (at ? byte : byte ^ 1)))],
      ['a wrong CRC', REGISTERS.mode.address, Buffer.from(debug.map((byte, at) => (at ? byte ^ 1 : byte)))],
      ['half a frame', REGISTERS.mode.address, debug.subarray(0, 1)],
      ['more than a frame', REGISTERS.mode.address, Buffer.concat([debug, debug])],
      ['a CRC for another register', REGISTERS.stop.address, debug],
      ['a CRC for another unit', REGISTERS.mode.address, encodeFrame(0x21, REGISTERS.mode, { mode: 2 })],
      ['an unknown mode', REGISTERS.mode.address, raw([MODES.length])],
      ['a register that is only read', REGISTERS.status.address, debug],
      ['a place between registers', 0x5f, debug],
      ['the slot of no loop', gainsRegister(4).address, Buffer.alloc(13)],
      ['an unknown slot', REGISTERS.excitation.address, excitation(4, 0.1, 1)],
      ['an amplitude beyond the loop', REGISTERS.excitation.address, excitation(0, 0.201, 1)],
      ['a negative amplitude', REGISTERS.excitation.address, excitation(0, -0.1, 1)],
      ['a negative deviation', REGISTERS.guarded_excitation.address, guarded(-1)],
      ['the guard of 0.2.0', 0x74, Buffer.alloc(5)],
      ['a period too short', REGISTERS.excitation.address, excitation(0, 0.1, 0.099)],
      ['a period too long', REGISTERS.excitation.address, excitation(0, 0.1, 20.1)],
      ['gains that are not numbers', gainsRegister(0).address, notNumbers(address)],
    ];
    for (const [what, at, frame] of frames) {
      it(what, () => {
        const host = running();
        const before = host.status();
        const excited = host.read(REGISTERS.excitation);
        host.controller.write(at, frame);
        expect(host.status()).to.deep.equal({ ...before, refused: 1, faults: ['frame_refused'] });
        expect(host.read(REGISTERS.excitation)).to.deep.equal(excited);
        host.tick(1000);
        expect(host.status()).to.deep.equal({ ...before, refused: 1 });
      });
    }
  });

  it('takes an excitation at every limit', () => {
    for (const { slot, maxAmplitude } of new ControllerHost().unit.loops) {
      for (const periodS of [EXCITATION_PERIOD_S.min, EXCITATION_PERIOD_S.max]) {
        const host = running();
        host.excite(slot, maxAmplitude, periodS);
        expect(host.status().refused).to.equal(0);
        expect(host.read(REGISTERS.excitation).amplitude).to.equal(Math.fround(maxAmplitude));
      }
    }
  });

  describe('mode', () => {
    it('is read back and given to the loops', () => {
      const host = running();
      for (const mode of MODES) {
        host.enter(mode);
        host.tick();
        expect(MODES[host.read(REGISTERS.mode).mode]).to.equal(mode);
        expect(host.loops.last).to.include({ mode, torque: true });
      }
    });
    it('debug begins at amplitude 0, whatever was asked before, and keeps it when asked again', () => {
      const host = running();
      host.excite(2, 0.25, 0.5);
      host.enter('debug');
      expect(host.read(REGISTERS.excitation).amplitude).to.equal(0);
      host.excite(2, 0.25, 0.5);
      host.enter('debug');
      expect(host.read(REGISTERS.excitation)).to.deep.equal({ slot: 2, amplitude: 0.25, period_s: 0.5 });
      host.tick();
      expect(host.loops.last?.excitation).to.deep.equal({ loop: 'angle_yaw', amplitude: 0.25, periodS: 0.5 });
    });
  });

  describe('stop', () => {
    it('takes torque off at once, and latches until released', () => {
      const host = running();
      host.enter('auto');
      host.write(REGISTERS.stop, { stop: 1 });
      expect(host.status()).to.deep.include({
        mode: 'auto',
        flags: flags('stopped'),
      });
      host.heartbeat();
      host.enter('manual');
      host.stage();
      host.commit();
      host.tick();
      expect(host.read(REGISTERS.stop).stop).to.equal(1);
      expect(host.loops.last?.torque).to.equal(false);
      host.write(REGISTERS.stop, { stop: 0 });
      host.tick();
      expect(host.loops.last?.torque).to.equal(true);
    });
  });

  describe('host silence', () => {
    it('takes torque off after 500 ms from the start, without a latch, and goes on in the same mode', () => {
      const host = new ControllerHost();
      host.stage();
      host.commit();
      host.enter('auto');
      host.tick(499);
      expect(host.status()).to.deep.include({
        faults: [],
        flags: flags('torque'),
      });
      host.tick(1);
      expect(host.status()).to.deep.include({
        mode: 'auto',
        faults: ['silent'],
        flags: flags(),
      });
      host.heartbeat();
      host.tick();
      expect(host.status()).to.deep.include({ mode: 'auto', faults: [] });
      expect(host.loops.last?.torque).to.equal(true);
    });
    it('is borne as long as the heartbeat says, or for ever', () => {
      for (const [silenceMs, aliveMs, faults] of [
        [100, 99, []],
        [100, 100, ['silent']],
        [0, 60_000, []],
      ] as const) {
        const host = running();
        host.heartbeat(silenceMs);
        host.tick(aliveMs);
        expect(host.status().faults).to.deep.equal(faults);
      }
    });
    it('does not end a stop', () => {
      const host = running();
      host.write(REGISTERS.stop, { stop: 1 });
      host.heartbeat(10);
      host.tick(20);
      host.heartbeat(10);
      expect(host.status().flags).to.deep.equal(flags('stopped'));
    });
  });

  describe('gains', () => {
    const unit = UNIT_LIST[0]!;
    const other = Object.fromEntries(
      unit.loops.map(({ name, slot }) => [name, { kp: slot, ki: 0.1, kd: -1 }]),
    );

    it('are staged loop by loop and active all at once', () => {
      const host = new ControllerHost();
      host.heartbeat(0);
      let staged = 0;
      // In whatever order.
      for (const { name, slot } of [...unit.loops].reverse()) {
        expect(host.status()).to.deep.include({ staged, active_checksum: 0, flags: ['guarded_excitation'] });
        host.stage({ [name]: other[name]! });
        expect(host.read(gainsRegister(slot)).ki).to.equal(Math.fround(0.1));
        staged |= 1 << slot;
      }
      host.commit(other);
      host.tick();
      expect(host.status()).to.deep.include({
        staged: 0,
        active_checksum: gainsChecksum(unit, other),
        flags: flags('torque'),
      });
      expect(host.loops.last?.gains.angle_yaw).to.deep.equal({ kp: 2, ki: Math.fround(0.1), kd: -1 });
      expect(host.read(gainsRegister(2)).kp).to.equal(2);
      expect(Object.keys(host.loops.last?.gains ?? {})).to.deep.equal(unit.loops.map(({ name }) => name));
    });

    const { angle_pitch: _, ...incomplete } = other;
    const refused: readonly [string, GainSet, GainSet][] = [
      ['nothing is staged', {}, defaultGains(unit)],
      ['one loop is not staged', incomplete, other],
      ['the checksum is of another set', other, defaultGains(unit)],
    ];
    for (const [why, staged, committed] of refused) {
      it(`stay as they were when ${why}, until a good commit`, () => {
        const host = running();
        const before = host.status().active_checksum;
        host.stage(staged);
        host.commit(committed);
        host.tick(5000);
        expect(host.status()).to.deep.include({ active_checksum: before, faults: ['commit_refused'] });
        expect(host.loops.last?.gains.angle_yaw?.kp).to.equal(Math.fround(unit.loops[2]!.defaults.kp));
        host.stage(other);
        host.commit(other);
        expect(host.status()).to.deep.include({ active_checksum: gainsChecksum(unit, other), faults: [] });
      });
    }
  });

  it('forgets everything but the mechanics when power fails', () => {
    const host = running();
    host.enter('debug');
    host.excite(1, 0.1, 2);
    host.write(REGISTERS.stop, { stop: 1 });
    host.stage({ angle_yaw: { kp: 1, ki: 1, kd: 1 } });
    host.controller.write(0, Buffer.alloc(1));
    host.controller.reset();
    expect(host.status()).to.deep.equal({ ...new ControllerHost().status(), boot_id: 2 });
    expect(host.read(REGISTERS.excitation)).to.deep.equal({ slot: 0, amplitude: 0, period_s: 1 });
    expect(host.loops.resets).to.equal(1);
    host.stage();
    host.commit();
    host.tick(500);
    expect(host.status().faults, 'silence is 500 ms again').to.deep.equal(['silent']);
  });

  describe('the guard of the excitation', () => {
    const { guarded_excitation } = REGISTERS;
    const guard = (host: ControllerHost, deviation: number) =>
      host.write(guarded_excitation, { slot: 2, amplitude: 0.25, period_s: 0.5, deviation });
    const guarded = (deviation: number) => {
      const host = running();
      host.enter('debug');
      guard(host, deviation);
      Object.assign(host.loops.readings.angle_yaw!, { setpoint: 0.25 });
      return host;
    };
    const amplitude = (host: ControllerHost) => host.read(REGISTERS.excitation).amplitude;

    it('ends the wave in the loop period in which the loop is too far from its setpoint, and shows it', () => {
      const host = guarded(0.5);
      // The measured value grows by a thousandth in each period.
      host.tick(750);
      expect([amplitude(host), host.loops.drops, host.status().faults]).to.deep.equal([0.25, 0, []]);
      host.tick();
      expect([amplitude(host), host.loops.drops, host.status().faults]).to.deep.equal([0, 1, ['ran_away']]);
      host.tick(5);
      expect(host.loops.last?.excitation.amplitude).to.equal(0);
      expect([host.loops.drops, host.status().faults]).to.deep.equal([1, ['ran_away']]);
      host.excite(2, 0, 0.5);
      expect(host.status().faults).to.deep.equal([]);
    });
    it('comes and goes with the frame of its wave, which both registers show', () => {
      const host = guarded(2);
      const wave = { slot: 2, amplitude: 0.25, period_s: 0.5 };
      expect(host.read(guarded_excitation)).to.deep.equal({ ...wave, deviation: 2 });
      expect(host.read(REGISTERS.excitation)).to.deep.equal(wave);
      host.excite(2, 0.25, 0.5);
      expect(host.read(guarded_excitation)).to.deep.equal({ ...wave, deviation: 0 });
    });
    it('holds at once, without a new edge of the wave', () => {
      const host = guarded(0);
      host.tick(100);
      guard(host, 0.1);
      host.tick();
      expect(host.status().faults).to.deep.equal(['ran_away']);
    });
    it('shows it until another mode, too', () => {
      const host = guarded(0.1);
      host.tick();
      expect(host.status().faults).to.deep.equal(['ran_away']);
      host.enter('debug');
      expect(host.status().faults).to.deep.equal(['ran_away']);
      host.enter('manual');
      expect(host.status().faults).to.deep.equal([]);
    });
    it('watches nothing at 0, without a wave, and after a start', () => {
      for (const [host, period] of [
        [guarded(0), 0.25],
        [guarded(0.5), 0],
      ] as const) {
        if (period === 0)
          host.write(guarded_excitation, { slot: 2, amplitude: 0, period_s: 0.5, deviation: 0.5 });
        host.tick(2000);
        expect(host.status().faults.includes('ran_away')).to.equal(false);
      }
      const host = guarded(0.5);
      host.controller.reset();
      expect(host.read(guarded_excitation).deviation).to.equal(0);
    });
  });

  describe('telemetry', () => {
    it('shows every loop and the pose in its scale, and saturates', () => {
      const host = running('chassis');
      Object.assign(host.loops.readings.speed!, { setpoint: 1, measured: 0.5, output: 40 });
      host.tick();
      expect(host.read(telemetryRegister(host.unit))).to.deep.include({
        sequence: 1,
        'speed.setpoint': 1,
        'speed.output': 32.767,
        'pose.x': 1.5,
        'pose.y': -2,
        'pose.heading': 0.25,
      });
    });
    it('counts snapshots, not reads', () => {
      const host = running();
      const sequence = () => host.read(telemetryRegister(host.unit)).sequence;
      host.tick(20);
      expect([sequence(), sequence()]).to.deep.equal([1, 1]);
      host.tick(1);
      expect(sequence()).to.equal(2);
    });
    it('shows whether the target is seen', () => {
      const host = running();
      host.loops.targetVisible = true;
      expect(host.status().flags).to.include('target_visible');
    });
  });
});

function notNumbers(address: number): Buffer {
  const frame = encodeFrame(address, gainsRegister(0), { kp: 0, ki: 0, kd: 0 });
  const free = { name: 'free', address: gainsRegister(0).address, access: 'write', doc: '' } as const;
  const word = { type: 'u32', doc: '' } as const;
  const fields = [
    { name: 'kp', ...word },
    { name: 'ki', ...word },
    { name: 'kd', ...word },
  ] as const;
  expect(frame.length).to.equal(13);
  return encodeFrame(address, { ...free, fields }, { kp: 0x7fc00000, ki: 0, kd: 0 });
}
