import { expect } from 'chai';
import fc from 'fast-check';
import { Pid, type PidShape } from '../../../sim/loops/pid.js';

const SHAPE: PidShape = { periodS: 0.001, derivative: 'measurement', filterS: 0.002, min: -10, max: 10 };

/* Other properties are tested by the published responses in test/scripts, and by the comparison with the C core in
   test/firmware. */
describe('the simulated PID controller', () => {
  it('continues without a jump from an output that another loop had set, and keeps that output while the error is 0', () => {
    const pid = new Pid(SHAPE);
    pid.follow(4, 0, 3);
    expect(pid.update(1, 3, { kp: 5, ki: 1, kd: 0 })).closeTo(4, 0.01);
    let last = 0;
    for (let n = 0; n < 1000; n += 1) last = pid.update(3, 3, { kp: 5, ki: 1, kd: 0 });
    expect(last).closeTo(4, 0.01);
  });

  it('keeps its output within limits for any gains and inputs, and gives the correct output again after a change to usual gains', () => {
    const any = fc.float({ noNaN: true, noDefaultInfinity: true });
    const gains = fc.record({ kp: any, ki: any, kd: any });
    const measured = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(gains, measured, measured), { minLength: 1, maxLength: 30 }), steps => {
        const pid = new Pid(SHAPE);
        for (const [triple, setpoint, value] of steps) {
          for (let n = 0; n < 3; n += 1) expect(pid.update(setpoint, value, triple)).within(-10, 10);
        }
        let last = 0;
        for (let n = 0; n < 5000; n += 1) last = pid.update(1, 0, { kp: 2, ki: 0, kd: 0 });
        expect(last).closeTo(2, 0.01);
      }),
      { numRuns: 50 },
    );
  });
});
