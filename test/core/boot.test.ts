import { expect } from 'chai';
import { systemBoot, timeOfBoot } from '../../src/core/boot.js';

describe('the id of the system boot', () => {
  it('has 32 hexadecimal digits even if systemd did not start the daemon', () => {
    // The form in which systemd writes the boot id.
    expect(systemBoot({}).id).to.match(/^[0-9a-f]{32}$/);
  });
});

describe('the clock of the boot', () => {
  it('goes on while the machine sleeps, although the monotonic clock stands still', () => {
    let [monotonicMs, uptimeMs] = [1000, 1005];
    const nowMs = timeOfBoot(
      () => monotonicMs,
      () => uptimeMs,
    );
    const passes = (ms: number, sleptMs = 0) => {
      monotonicMs += ms;
      uptimeMs += ms + sleptMs;
      return nowMs();
    };
    expect(nowMs()).to.equal(1000);
    expect(passes(50)).to.equal(1050);
    expect(passes(10, 3_600_000)).to.be.within(3_601_060, 3_601_070);
    expect(passes(100)).to.be.within(3_601_160, 3_601_170);
  });

  it('does not jump if the uptime has whole seconds only', () => {
    let monotonicMs = 0;
    const nowMs = timeOfBoot(
      () => monotonicMs,
      () => 1000 * Math.ceil(monotonicMs / 1000),
    );
    for (; monotonicMs < 5000; monotonicMs += 50) expect(nowMs()).to.equal(monotonicMs);
  });
});
