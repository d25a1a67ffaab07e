import { expect } from 'chai';
import { lateness } from '../../src/console/daemon/event-stream.js';

describe('the delay of readings on the page', () => {
  it('is measured against the fastest reading, so that the clocks of page and daemon need not agree', () => {
    const lateS = lateness();
    expect(lateS(5000, 20.3)).to.equal(0);
    expect(lateS(5001, 21)).to.equal(0);
    expect(lateS(5002, 24)).to.be.closeTo(2, 0.002);
    expect(lateS(5005, 25.1)).to.be.closeTo(0.1, 0.01);
  });

  it("stays below 1 ms for a day of prompt readings, even if the page's clock runs 0.02 % fast or slow", () => {
    for (const rate of [1.0002, 0.9998]) {
      const lateS = lateness();
      let most = 0;
      for (let t = 0; t < 86_400; t += 0.5) most = Math.max(most, lateS(t, 7 + t * rate));
      expect(most).to.be.lessThan(0.001);
    }
  });

  it('starts again at zero with the first reading after a restart of the daemon', () => {
    const lateS = lateness();
    lateS(5000, 20);
    expect(lateS(1, 22)).to.equal(0);
    expect(lateS(2, 24)).to.be.closeTo(1, 0.002);
  });

  it("is zero for the first reading after a sleep of the page's device, even if the page's clock did not run during the sleep", () => {
    const lateS = lateness();
    lateS(10, 10);
    expect(lateS(4000, 11)).to.equal(0);
  });
});
