import { expect } from 'chai';
import type { PicoBoard } from '../../sim/pico/pico-board.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
import { bitNames } from '../../src/protocol/codec.js';
import { FAULTS, FLAGS, REGISTERS, type Register } from '../../src/protocol/registers.js';
import { Random } from '../support/random.js';
import { core, shown } from './core.js';
import { type Frame, frameOf, gainsFrames } from './frames.js';

const SDA_PIN = 4;

/** A unit whose image has torque in manual. */
function running(unit: Unit) {
  const { pico } = createPico(unit, core, { seed: 1 });
  const send = ({ place, data }: Frame) => pico.write(place, data);
  const write = (register: Register, values: Readonly<Record<string, number>>) =>
    send(frameOf(unit, register, values));
  const wait = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1) pico.tick();
  };
  const status = () => {
    const values = shown(pico, REGISTERS.status);
    const { boot_id: bootId, mode, active_checksum: checksum, refused } = values;
    const flags = bitNames(FLAGS, values.flags);
    const faults = bitNames(FAULTS, values.faults);
    const [torque, sees] = [flags.includes('torque'), flags.includes('target_visible')];
    return { bootId, mode, checksum, refused, torque, sees, faults };
  };
  for (const frame of gainsFrames(unit)) send(frame);
  wait(100);
  expect(status()).to.deep.include({ torque: true, faults: [] });
  expect(pico.board.isEnabled).to.equal(true);
  pico.shadow.isStrict = false;
  return { pico, board: pico.board, write, wait, status };
}

const gimbal = unitNamed('gimbal');

describe('the firmware image for the Pico', () => {
  for (const unit of UNIT_LIST) {
    it(`starts the ${unit.name} within 300 ms, with its motors off, whatever its memory holds at power-on`, () => {
      for (const seed of [1, 2, 3]) {
        const { pico } = createPico(unit, core, { seed });
        expect(pico.pico.nowNs).to.be.below(300e6);
        expect(pico.board.isEnabled).to.equal(false);
        expect(shown(pico, REGISTERS.identity).kind).to.equal(unit.kind);
        expect(pico.pico.chip.watchdog.tickEnable).to.equal(true);
        expect(pico.pico.chip.warnings).to.deep.equal([]);
      }
    });

    for (const [what, fault, fail] of [
      ['the current exceeds its limit', 'over_current', (board: PicoBoard) => (board.currentA = [0, 16])],
      ['the supply voltage falls below its limit', 'supply_low', (board: PicoBoard) => (board.supplyV = 17)],
      ['an encoder jumps', 'encoder_failed', (board: PicoBoard) => (board.encoderOffset = [0, 900])],
    ] as const)
      it(`cuts the ${unit.name}'s torque within 2 ms after ${what}, and restores it a second after the fault ends`, () => {
        const { board, wait, status } = running(unit);
        wait(2);
        fail(board);
        // The pins change between two periods.
        wait(2);
        expect(board.isEnabled).to.equal(false);
        expect(status()).to.deep.include({ torque: false, faults: [fault] });
        Object.assign(board, { currentA: [0, 0], supplyV: 24 });
        wait(990);
        expect(status()).to.deep.include({ torque: false, faults: [fault] });
        wait(20);
        expect(status()).to.deep.include({ torque: true, faults: [] });
        expect(board.isEnabled).to.equal(true);
      });
  }

  it('shows the fault `camera_lost` and no visible target after the camera has sent nothing for about 200 ms', () => {
    const { board, write, wait, status } = running(gimbal);
    write(REGISTERS.mode, { mode: 0 });
    wait(100);
    expect(status().sees).to.equal(true);
    board.hasPictures = false;
    wait(160);
    expect(status()).to.deep.include({ faults: [], sees: true });
    wait(65);
    expect(status()).to.deep.include({ torque: true, faults: ['camera_lost'], sees: false });
    board.hasPictures = true;
    wait(50);
    expect(status()).to.deep.include({ faults: [], sees: true });
  });

  it('switches its motors off and restarts within about 20 ms if its processor hangs', () => {
    const { pico, board, write, wait, status } = running(gimbal);
    write(REGISTERS.mode, { mode: 2 });
    wait(5);
    const before = status();
    pico.pico.hold(1e9);
    wait(18);
    expect([pico.pico.resets, board.isEnabled]).to.deep.equal([0, true]);
    wait(3);
    expect([pico.pico.resets, board.isEnabled]).to.deep.equal([1, false]);
    wait(10);
    const { bootId, ...now } = status();
    expect(bootId).not.to.equal(before.bootId);
    expect(now).to.deep.include({ mode: 1, torque: false, checksum: 0, faults: [] });
    expect(board.isEnabled).to.equal(false);
  });

  it('has a new boot id after each reset, whether by a power cut or by the watchdog', () => {
    const { pico, wait, status } = running(gimbal);
    const seen = new Set<number>();
    for (let start = 0; start < 6; start += 1) {
      if (start % 3 === 2) pico.reset();
      else pico.pico.hold(1e9);
      wait(30);
      seen.add(status().bootId);
    }
    expect(seen.size).to.equal(6);
  });

  it('accepts every frame, even if the frame arrives in the middle of a loop period', () => {
    const { pico, write, wait, status } = running(gimbal);
    const random = new Random(1);
    pico.wire.isPatient = false;
    for (let round = 0; round < 1000; round += 1) {
      const mode = random.whole(0, 2);
      const stop = random.whole(0, 1);
      const period_s = Math.fround(random.among([0.5, 1, 2]));
      pico.pico.run(pico.pico.nowNs + random.next() * 1e6);
      write(REGISTERS.mode, { mode });
      write(REGISTERS.excitation, { slot: random.whole(0, 3), amplitude: 0, period_s });
      write(REGISTERS.stop, { stop });
      wait(3);
      expect(status(), `round ${round}`).to.deep.include({ mode, torque: stop === 0, faults: [] });
      expect(shown(pico, REGISTERS.excitation).period_s).to.equal(period_s);
    }
  });

  it('refuses and counts a frame that is too long, and still answers afterwards', () => {
    const { pico, wait, status } = running(gimbal);
    const { refused } = status();
    pico.write(REGISTERS.mode.address, Buffer.alloc(60, 2));
    wait(3);
    expect(status()).to.deep.include({ mode: 1, refused: refused + 1, faults: ['frame_refused'] });
  });

  it('drops a frame whose end never arrives, and accepts the next frame', () => {
    const { pico, write, wait, status } = running(gimbal);
    pico.wire.tear(gimbal.address, [REGISTERS.mode.address, 2], 0);
    wait(40);
    write(REGISTERS.stop, { stop: 1 });
    wait(3);
    expect(status()).to.deep.include({ mode: 1, torque: false });
  });

  it('releases the I2C data line (SDA) about 25 ms after the host has vanished in the middle of a read', () => {
    const { pico, wait, status } = running(gimbal);
    const { target } = pico.pico;
    const sda = (high: boolean) => pico.pico.chip.rp2040.gpio[SDA_PIN]?.setInputValue(high);
    pico.wire.tear(gimbal.address, [REGISTERS.status.address], 3);
    sda(false);
    wait(22);
    expect(target.isAddressed).to.equal(true);
    wait(6);
    expect(target.isAddressed).to.equal(false);
    sda(true);
    expect(status()).to.deep.include({ torque: true, faults: [] });
  });
});
