import { expect } from 'chai';
import { type Gains, unitNamed } from '../../src/core/units.js';
import { shapeOf } from '../../src/tuning/plant.js';
import type { Proposal } from '../../src/tuning/propose.js';
import { type Recording, type TunerPort, tune } from '../../src/tuning/tuner.js';

const LOOP = unitNamed('gimbal').loops.find(({ name }) => name === 'angle_yaw')!;
const TASK = {
  shape: shapeOf(LOOP, 1000),
  gains: { kp: 10, ki: 0, kd: 0 },
  amplitude: 0.1,
  periodS: 2,
  style: 'normal',
} as const;

/** A robot that settles sooner with a higher kp, and oscillates from `swingsFrom` on. Each proposal doubles kp. */
class ScriptedPort implements TunerPort {
  readonly tried: number[] = [];
  left = 45;
  readonly #swingsFrom: number;
  readonly #roundS: number;
  #kp = 10;

  constructor({ swingsFrom = Number.POSITIVE_INFINITY, roundS = 3 }) {
    this.#swingsFrom = swingsFrom;
    this.#roundS = roundS;
  }

  async tryGains({ kp }: Gains): Promise<void> {
    this.#kp = kp;
    this.tried.push(kp);
  }

  async excite(): Promise<Recording> {
    const measured = Array.from({ length: 250 }, (_, index) => {
      const t = index * 0.004;
      return 0.1 - 0.2 * Math.exp(-this.#kp * t);
    });
    const half = { from: -0.1, to: 0.1, measured };
    const end = this.#kp >= this.#swingsFrom ? 'rings' : 'whole';
    return { halfTicks: 1000, decimation: 4, output: 0, halves: [half, half], end };
  }

  async propose(): Promise<Proposal> {
    this.left -= this.#roundS;
    const curve = { periodS: 0.004, setpoint: 0.1, measured: [] };
    const predicted = { settlingS: 0.1, overshootPercent: 0, fitPercent: 1, curve };
    return { gains: { kp: 2 * this.#kp, ki: 0, kd: 0 }, predicted, cost: 0.1, costNow: 1 };
  }

  progress(): void {}

  secondsLeft(): number {
    return this.left;
  }
}

describe('a tuning', () => {
  it('tries further gains while each try is better than the last, and proposes the best gains', async () => {
    const port = new ScriptedPort({});
    const { state, proposed } = await tune(TASK, port);
    expect(port.tried).deep.equal([10, 20, 40, 80, 160, 320]);
    expect([state, proposed?.gains.kp]).deep.equal(['better', 320]);
  });

  it('tries the gains in force first, and from then on only gains within the configured bounds', async () => {
    const port = new ScriptedPort({});
    const shape = { ...TASK.shape, bounds: { kp: { min: 15, max: 100 } } };
    const { proposed } = await tune({ ...TASK, shape }, port);
    expect(port.tried).deep.equal([10, 20, 40, 80, 100]);
    expect(proposed?.gains.kp).equal(100);
  });

  it('ends with the best gains so far if too little time is left for another try', async () => {
    const port = new ScriptedPort({ roundS: 14 });
    const { state, proposed } = await tune(TASK, port);
    expect(port.tried).deep.equal([10, 20, 40]);
    expect([state, proposed?.gains.kp]).deep.equal(['better', 40]);
    expect(port.left).above(0);
  });

  it('tries a lower kp after the loop has oscillated, and proposes gains with which the loop does not oscillate', async () => {
    const port = new ScriptedPort({ swingsFrom: 60 });
    const { state, proposed } = await tune(TASK, port);
    expect(port.tried.slice(0, 5)).deep.equal([10, 20, 40, 80, 52]);
    expect([state, proposed?.gains.kp]).deep.equal(['better', 52]);
  });
});
