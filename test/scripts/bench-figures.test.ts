import { expect } from 'chai';
import { isSane, summarize, tableOf } from '../../scripts/bench/figure.js';
import { percentile, slope } from '../../scripts/bench/statistics.js';

describe('the figures of the bench', () => {
  it('compare round by round, so that a slow minute of the machine slows both', () => {
    const { value, ratio, ratioLeast, ratioMost } = summarize({
      name: 'rate',
      unit: '/s',
      values: [100, 50, 110],
      yardstick: { name: 'bare', values: [200, 100, 200] },
    });
    expect({ value, ratio, ratioLeast, ratioMost }).to.deep.equal({
      value: 100,
      ratio: 0.5,
      ratioLeast: 0.5,
      ratioMost: 0.55,
    });
  });

  const FIGURES = [
    { what: 'one that was measured', values: [1, 2], sane: true },
    { what: 'nothing measured', values: [], sane: false },
    { what: 'no number', values: [Number.NaN], sane: false },
    { what: 'less than nothing', values: [-1], sane: false },
  ];
  for (const { what, values, sane } of FIGURES) {
    it(`${sane ? 'are sane' : 'are not sane'}: ${what}`, () => {
      expect(isSane(summarize({ name: 'x', unit: 'ms', values }))).to.equal(sane);
    });
  }

  it('stand in a table with what is wanted and what was noted', () => {
    const table = tableOf([
      summarize({ name: 'start', unit: 'ms', values: [123.4], wanted: '100', note: 'slow' }),
    ]);
    expect(table).to.match(
      /^figure +value +spread +yardstick +ratio +wanted\nstart +123 ms +100\n\nstart: slow$/,
    );
  });

  it('take percentiles and slopes that single wild values do not move', () => {
    const values = Array.from({ length: 100 }, (_, index) => index);
    expect(percentile(values, 0.99)).to.equal(99);
    expect(percentile(values, 0.5)).to.equal(50);
    const line = values.map(x => [x, x === 50 ? 1e9 : 3 * x] as const);
    expect(slope(line)).to.be.closeTo(3, 1e-9);
  });
});
