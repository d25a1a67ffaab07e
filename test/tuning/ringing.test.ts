import { expect } from 'chai';
import { Ringing } from '../../src/tuning/ringing.js';

const POLL_S = 0.02;

/**
 * Reads a loop at each poll for two seconds, with a setpoint and a step of 1. Returns for how long it was found to
 * oscillate.
 */
function secondsOf(measuredAt: (t: number) => number, setpointAt: (t: number) => number = () => 1): number {
  const ringing = new Ringing(1);
  let most = 0;
  for (let t = 0; t < 2; t += POLL_S) {
    ringing.add(t, setpointAt(t), measuredAt(t));
    most = Math.max(most, ringing.seconds);
  }
  return most;
}

const swing = (t: number, hz: number) => Math.sin(2 * Math.PI * hz * t);

describe('ringing', () => {
  for (const hz of [1.2, 5, 17, 31]) {
    it(`of 2 s at ${hz} Hz is measured as 2 s, with an error of at most one period plus 0.1 s`, () => {
      expect(secondsOf(t => 1 + 0.1 * swing(t, hz))).closeTo(2, 0.9 / hz + 0.1);
    });
  }

  it('is not found in a step response that settles without overshoot, overshoots once, or stays short of the setpoint', () => {
    expect(secondsOf(t => 1 - Math.exp(-5 * t))).equal(0);
    expect(secondsOf(t => 1 - Math.exp(-8 * t) * Math.cos(8 * t))).equal(0);
    expect(secondsOf(t => Math.min(0.9, 3 * t))).equal(0);
  });

  it('that dies away soon after a step is measured as 0.1 to 0.6 s, not as the whole 2 s of the recording', () => {
    expect(secondsOf(t => 1 - Math.exp(-6 * t) * Math.cos(30 * t))).within(0.1, 0.6);
  });

  it('is not found in a loop that follows an excitation with only a little overshoot at each edge', () => {
    const setpointAt = (t: number) => (Math.floor(2 * t) % 2 === 0 ? 1 : -1);
    const measuredAt = (t: number) => {
      const since = t % 0.5;
      return setpointAt(t) * (1 - 2 * Math.exp(-20 * since) * Math.cos(20 * since));
    };
    expect(secondsOf(measuredAt, setpointAt)).equal(0);
  });
});
