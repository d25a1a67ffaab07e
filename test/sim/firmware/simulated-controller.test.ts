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
  gainsRegister,
  MAGIC,
  PROTOCOL_VERSION,
  REGISTERS,
  telemetryRegister,
} from '../../../src/protocol/registers.js';
import { ControllerHost } from '../../support/controller-host.js';

/*
 * What every firmware does. The gate compares all of it, byte by byte, with the C core: see scripts/firmware/check.
 */

/** Gains in, alive for good: everything a motor needs. */
function running(name: 'gimbal' | 'chassis' = 'gimbal') {
  const host = new ControllerHost(name);
  host.heartbeat(0);
  host.stage();
  host.commit();
  return host;
}

/** The flags of a controller with committed gains and these. */
const flags = (...names: string[]) => [...names, 'gains_committed', 'guarded_excitation'];

describe('SimulatedController', () => {
  for (const unit of UNIT_LIST) {
    it(`is the ${unit.name} at start, in manual, without torque or gains`, () => {
      const host = new ControllerHost(unit.name);
      const { kind, loops } = unit;
      const identity = {
        magic: MAGIC,
        kind,
        protocol: PROTOCOL_VERSION,
        loops: loops.length,
        loop_rate_hz: 1000,
      };
      expect(host.read(REGISTERS.identity)).to.include(identity);
      const zeros = { active_checksum: 0, staged: 0, refused: 0, capture: 0 };
      const status = { boot_id: 1, mode: 'manual', flags: ['guarded_excitation'], faults: [], ...zeros };
      expect(host.status()).to.deep.equal(status);
      const excitation = { slot: 0, amplitude: 0, period_s: EXCITATION_PERIOD_S.default };
      expect(host.read(REGISTERS.excitation)).to.deep.equal(excitation);
    });
  }

  it('refuses a frame, counts it, shows it for a while and changes nothing', () => {
    const { address } = new ControllerHost().unit;
    const debug = encodeFrame(address, REGISTERS.mode, { mode: MODES.indexOf('debug') });
    const wave = (slot: number, amplitude: number, period_s: number) =>
      encodeFrame(address, REGISTERS.excitation, { slot, amplitude, period_s });
    const frames: readonly [string, number, Buffer][] = [
      ['a flipped bit', REGISTERS.mode.address, Buffer.from(debug.map((byte, at) => (at ? byte : byte ^ 1)))],
      ['more than a frame', REGISTERS.mode.address, Buffer.concat([debug, debug])],
      ['a CRC for another unit', REGISTERS.mode.address, encodeFrame(0x21, REGISTERS.mode, { mode: 2 })],
      ['a register that is only read', REGISTERS.status.address, debug],
      ['an amplitude beyond the loop', REGISTERS.excitation.address, wave(0, 0.201, 1)],
      ['the guard of 0.2.0', 0x74, Buffer.alloc(5)],
    ];
    for (const [what, at, frame] of frames) {
      const host = running();
      const before = host.status();
      host.controller.write(at, frame);
      expect(host.status(), what).to.deep.equal({ ...before, refused: 1, faults: ['frame_refused'] });
      host.tick(1000);
      expect(host.status(), what).to.deep.equal({ ...before, refused: 1 });
    }
  });

  it('reads a mode back and gives it to the loops; debug begins at amplitude 0, and keeps it when asked again', () => {
    const host = running();
    for (const mode of MODES) {
      host.enter(mode);
      host.tick();
      expect(MODES[host.read(REGISTERS.mode).mode]).to.equal(mode);
      expect(host.loops.last).to.include({ mode, torque: true });
    }
    for (const mode of ['manual', 'debug', 'debug'] as const) {
      host.excite(2, 0.25, 0.5);
      host.enter(mode);
    }
    expect(host.read(REGISTERS.excitation)).to.deep.equal({ slot: 2, amplitude: 0.25, period_s: 0.5 });
    host.enter('manual');
    host.enter('debug');
    expect(host.read(REGISTERS.excitation).amplitude).to.equal(0);
  });

  it('takes torque off at a stop at once, and latches until released', () => {
    const host = running();
    host.enter('auto');
    host.write(REGISTERS.stop, { stop: 1 });
    expect(host.status()).to.deep.include({ mode: 'auto', flags: flags('stopped') });
    host.heartbeat();
    host.enter('manual');
    host.stage();
    host.commit();
    host.tick();
    expect([host.read(REGISTERS.stop).stop, host.loops.last?.torque]).to.deep.equal([1, false]);
    host.write(REGISTERS.stop, { stop: 0 });
    host.tick();
    expect(host.loops.last?.torque).to.equal(true);
  });

  it('takes torque off after 500 ms of silence from the start, without a latch, and goes on in the same mode', () => {
    const host = new ControllerHost();
    host.stage();
    host.commit();
    host.enter('auto');
    host.tick(499);
    expect(host.status()).to.deep.include({ faults: [], flags: flags('torque') });
    host.tick(1);
    expect(host.status()).to.deep.include({ mode: 'auto', faults: ['silent'], flags: flags() });
    host.heartbeat(0);
    host.tick(60_000);
    expect(host.status()).to.deep.include({ mode: 'auto', faults: [] });
    expect(host.loops.last?.torque).to.equal(true);
  });

  describe('with gains', () => {
    const unit = UNIT_LIST[0]!;
    const other = Object.fromEntries(
      unit.loops.map(({ name, slot }) => [name, { kp: slot, ki: 0.1, kd: -1 }]),
    );
    const { angle_pitch: _, ...incomplete } = other;

    it('stages them loop by loop, in whatever order, and has all of them active at once', () => {
      const host = new ControllerHost();
      host.heartbeat(0);
      let staged = 0;
      for (const { name, slot } of [...unit.loops].reverse()) {
        expect(host.status()).to.deep.include({ staged, active_checksum: 0, flags: ['guarded_excitation'] });
        host.tick();
        expect(host.loops.last).to.deep.include({ torque: false, gains: {} });
        host.stage({ [name]: other[name]! });
        expect(host.read(gainsRegister(slot)).ki).to.equal(Math.fround(0.1));
        staged |= 1 << slot;
      }
      host.commit(other);
      host.tick();
      const active_checksum = gainsChecksum(unit, other);
      expect(host.status()).to.deep.include({ staged: 0, active_checksum, flags: flags('torque') });
      expect(Object.keys(host.loops.last?.gains ?? {})).to.deep.equal(unit.loops.map(({ name }) => name));
      expect(host.loops.last?.gains.angle_yaw).to.deep.equal({ kp: 2, ki: Math.fround(0.1), kd: -1 });
    });

    const refused: readonly [string, GainSet, GainSet][] = [
      ['nothing is staged', {}, defaultGains(unit)],
      ['one loop is not staged', incomplete, other],
      ['the checksum is of another set', other, defaultGains(unit)],
    ];
    for (const [why, staged, committed] of refused) {
      it(`keeps the active ones when ${why}, until a good commit`, () => {
        const host = running();
        const before = host.status().active_checksum;
        host.stage(staged);
        host.commit(committed);
        host.tick(5000);
        expect(host.status()).to.deep.include({ active_checksum: before, faults: ['commit_refused'] });
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

  it('has a guard that ends the wave in the loop period in which the loop is too far from its setpoint', () => {
    const host = running();
    host.enter('debug');
    host.write(REGISTERS.guarded_excitation, { slot: 2, amplitude: 0.25, period_s: 0.5, deviation: 0.5 });
    Object.assign(host.loops.readings.angle_yaw!, { setpoint: 0.25 });
    const shown = () => [host.read(REGISTERS.excitation).amplitude, host.loops.drops, host.status().faults];
    // The measured value grows by a thousandth in each period.
    host.tick(750);
    expect(shown()).to.deep.equal([0.25, 0, []]);
    host.tick();
    expect(shown()).to.deep.equal([0, 1, ['ran_away']]);
    host.tick(5);
    expect(shown()).to.deep.equal([0, 1, ['ran_away']]);
    host.excite(2, 0, 0.5);
    expect(host.status().faults).to.deep.equal([]);
  });

  it('shows every loop and the pose in its scale, saturates, and counts snapshots, not reads', () => {
    const host = running('chassis');
    Object.assign(host.loops.readings.speed!, { setpoint: 1, measured: 0.5, output: 40 });
    host.tick();
    const shown = {
      sequence: 1,
      'speed.setpoint': 1,
      'speed.output': 32.767,
      'pose.x': 1.5,
      'pose.heading': 0.25,
    };
    for (let read = 0; read < 2; read += 1)
      expect(host.read(telemetryRegister(host.unit))).to.deep.include(shown);
    host.tick(20);
    expect(host.read(telemetryRegister(host.unit)).sequence).to.equal(2);
  });
});
