import { expect } from 'chai';
import { Pico } from '../../sim/pico/pico.js';
import { robotNumbers } from '../../sim/pico/pico-board.js';
import { picoImage } from '../../sim/pico/pico-image.js';
import { unitNamed } from '../../src/core/units.js';
import { Random } from '../support/random.js';

const CLOCK_HZ = 125e6;
const COUNTS_HZ = 1e6;
const COUNTS = 10_000;
/** Channels A and B, one count after the other. */
const STATES = [0b00, 0b01, 0b11, 0b10];

describe('the encoder counter of the firmware image for the Pico', () => {
  for (const [what, turnsBack, channels, counted] of [
    ['loses no count at a million counts a second forward', () => false, 0b11, COUNTS],
    ['loses no count at a million counts a second backward', () => true, 0b11, -COUNTS],
    [
      'loses no count at a million counts a second in random directions',
      (random: Random) => random.chance(0.5),
      0b11,
      undefined,
    ],
    ['counts the changes of channel A but keeps its position if channel B is dead', () => false, 0b01, 0],
  ] as const)
    it(what, () => {
      const random = new Random(1);
      const pico = new Pico(picoImage(unitNamed('gimbal')), () => random.next());
      pico.run(300e6, () => pico.sleeps);
      const { gpio, pio } = pico.chip.rp2040;
      const pin = robotNumbers()('ENCODER_A_PIN');
      const [counts, changes] = [pio[0]?.machines[0], pio[1]?.machines[0]];
      if (!counts?.enabled || !changes?.enabled) throw new TypeError('no state machine runs');
      const stepsACount = CLOCK_HZ / counts.clockDivInt / COUNTS_HZ;
      let place = 0;
      let steps = 0;
      let changed = 0;
      let last = 0;
      for (let count = 1; count <= COUNTS; count += 1) {
        place += turnsBack(random) ? -1 : 1;
        const state = (STATES[((place % 4) + 4) % 4] ?? 0) & channels;
        if (state !== last) changed += 1;
        last = state;
        gpio[pin]?.setInputValue((state & 1) !== 0);
        gpio[pin + 1]?.setInputValue((state & 2) !== 0);
        for (; steps < count * stepsACount; steps += 1) {
          counts.step();
          changes.step();
        }
      }
      expect([counts.y | 0, changes.y]).to.deep.equal([counted ?? place, changed]);
    });
});
