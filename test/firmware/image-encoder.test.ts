import { expect } from 'chai';
import { Pico } from '../../sim/pico/pico.js';
import { robotNumbers } from '../../sim/pico/pico-board.js';
import { picoImage } from '../../sim/pico/pico-image.js';
import { unitNamed } from '../../src/core/units.js';
import { Random } from '../support/random.js';

const CLOCK_HZ = 125e6;
const COUNTS_HZ = 1e6;
const COUNTS = 20_000;
/** Channels A and B, one count after the other. */
const STATES = [0b00, 0b01, 0b11, 0b10];

describe('the encoder of the image for the Pico', () => {
  for (const [what, turnsBack] of [
    ['ahead', () => false],
    ['back', () => true],
    ['to and fro', (random: Random) => random.chance(0.5)],
  ] as const)
    it(`follows a million counts a second ${what}, and loses none`, () => {
      const random = new Random(1);
      const pico = new Pico(picoImage(unitNamed('gimbal')), () => random.next());
      pico.run(300e6, () => pico.sleeps);
      const { gpio, pio } = pico.chip.rp2040;
      const machine = pio[0]?.machines[0];
      const pin = robotNumbers()('ENCODER_A_PIN');
      if (machine === undefined || !machine.enabled) throw new TypeError('no state machine runs');
      const stepsACount = CLOCK_HZ / machine.clockDivInt / COUNTS_HZ;
      let expected = 0;
      let steps = 0;
      for (let count = 1; count <= COUNTS; count += 1) {
        expected += turnsBack(random) ? -1 : 1;
        const state = STATES[((expected % 4) + 4) % 4] ?? 0;
        gpio[pin]?.setInputValue((state & 1) !== 0);
        gpio[pin + 1]?.setInputValue((state & 2) !== 0);
        for (; steps < count * stepsACount; steps += 1) machine.step();
      }
      expect(machine.y | 0).to.equal(expected);
    });
});
