import { expect } from 'chai';
import fc from 'fast-check';
import { Pid, type PidShape } from '../../../sim/loops/pid.js';

const SHAPE: PidShape = { periodS: 0.001, derivative: 'measurement', filterS: 0.002, min: -10, max: 10 };
const P = { kp: 2, ki: 0, kd: 0 };

function repeated(times: number, act: () => number): number {
  let last = 0;
  for (let n = 0; n < times; n += 1) last = act();
  return last;
}

describe('PID', () => {
  it('adds what the error, its sum and the slope of the measured value ask for', () => {
    const gains = { kp: 2, ki: 3, kd: 0.5 };
    const pid = new Pid({ ...SHAPE, filterS: 0 });
    pid.update(0, 0, gains);
    expect(pid.update(1, 0, gains)).closeTo(2 + 3 * 0.001, 1e-12);
    expect(pid.update(1, 0.01, gains)).closeTo(2 * 0.99 + 3 * 0.00199 - 0.5 * 10, 1e-12);
  });

  it('kicks at a step of the setpoint only if the error is differentiated', () => {
    const gains = { kp: 0, ki: 0, kd: 0.001 };
    for (const [derivative, kick] of [
      ['error', 1],
      ['measurement', 0],
    ] as const) {
      const pid = new Pid({ ...SHAPE, filterS: 0, derivative });
      pid.update(0, 0, gains);
      expect(pid.update(1, 0, gains), derivative).closeTo(kick, 1e-12);
    }
  });

  it('leaves a limit as soon as the error turns, however long it was there', () => {
    const gains = { kp: 1, ki: 10, kd: 0 };
    const pid = new Pid(SHAPE);
    pid.update(0, 0, gains);
    expect(repeated(100_000, () => pid.update(20, 0, gains))).equal(10);
    expect(pid.update(-1, 0, gains)).below(10);
    expect(repeated(1000, () => pid.update(-1, 0, gains))).below(0);
  });

  for (const [what, gains] of [
    ['stiffer', { kp: 200, ki: 0, kd: 0 }],
    ['softer', { kp: 0.02, ki: 0, kd: 0 }],
    ['integrating', { kp: 2, ki: 1, kd: 1 }],
    ['not controlling any more', { kp: 0, ki: 0, kd: 0 }],
  ] as const) {
    it(`goes on from where it was when it becomes ${what}`, () => {
      const pid = new Pid(SHAPE);
      pid.update(0, 0, P);
      const before = repeated(100, () => pid.update(1, 0, P));
      expect(pid.update(1, 0, gains)).closeTo(before, 0.001 + 1e-9);
    });
  }

  it('obeys new gains fully before long', () => {
    const pid = new Pid(SHAPE);
    pid.update(0, 0, P);
    pid.update(1, 0, P);
    expect(repeated(2000, () => pid.update(1, 0, { ...P, kp: 3 }))).closeTo(3, 1e-6);
  });

  it('goes on from the output that something else had given', () => {
    const gains = { kp: 5, ki: 1, kd: 0 };
    const pid = new Pid(SHAPE);
    pid.follow(4, 0, 3);
    expect(pid.update(1, 3, gains)).closeTo(4, 0.01);
  });

  it('stays within its limits, a number, for any gains and measured values', () => {
    const any = fc.float({ noNaN: true, noDefaultInfinity: true });
    const gains = fc.record({ kp: any, ki: any, kd: any });
    const measured = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(gains, measured, measured), { minLength: 1, maxLength: 30 }), steps => {
        const pid = new Pid(SHAPE);
        for (const [triple, setpoint, value] of steps) {
          for (let n = 0; n < 3; n += 1) expect(pid.update(setpoint, value, triple)).within(-10, 10);
        }
        for (let n = 0; n < 5000; n += 1) pid.update(1, 0, P);
        expect(pid.update(1, 0, P)).closeTo(2, 0.01);
      }),
      { numRuns: 50 },
    );
  });
});
