import { expect } from 'chai';
import { fixed, parseGain, stepped } from '../../src/console/model/numbers.js';

describe('a gain typed on the page', () => {
  for (const [text, value, how = ''] of [
    ['20', 20],
    [' 0.1 ', 0.1],
    ['-3', -3],
    ['−3', -3, ' with a typographic minus sign'],
    ['+3', 3],
    ['1e-3', 0.001],
    ['.5', 0.5],
    ['5.', 5],
  ] as const) {
    it(`as ${JSON.stringify(text)}${how} is read as the number ${value}`, () => {
      expect(parseGain(text)).to.deep.equal({ value });
    });
  }
  for (const text of ['', ' ', '1,5', 'abc', '1 2', '--1', 'Infinity', 'NaN', '0x10', '1e999', '1e', '5kp']) {
    it(`as ${JSON.stringify(text)} is rejected`, () => {
      expect(parseGain(text)).to.have.property('fault');
    });
  }
});

describe('on the page, a gain', () => {
  for (const [value, up, down, fineUp] of [
    [20, 21, 19, 20.1],
    [10, 11, 9.9, 10.1],
    [0.1, 0.11, 0.099, 0.101],
    [0.3, 0.31, 0.29, 0.301],
    [7.5, 7.6, 7.4, 7.51],
    [300, 310, 290, 301],
    [0.333, 0.343, 0.323, 0.334],
    [0, 0.01, -0.01, 0.001],
    [-20, -19, -21, -19.9],
  ] as const) {
    it(`of ${value} becomes ${up} after a step up, ${down} after a step down, and ${fineUp} after a fine step up`, () => {
      expect(stepped(value, 1, 'usual')).to.equal(up);
      expect(stepped(value, -1, 'usual')).to.equal(down);
      expect(stepped(value, 1, 'fine')).to.equal(fineUp);
    });
  }

  it('changes ten times as much in a coarse step as in a usual step', () => {
    expect([stepped(20, 1, 'coarse'), stepped(0.3, -1, 'coarse')]).to.deep.equal([30, 0.2]);
  });

  it('has exactly its start value again after 30 steps up and 30 steps down', () => {
    for (const start of [0.07, 1, 9.8, 10, 99, 100, 1000]) {
      let value = start;
      for (let count = 0; count < 30; count += 1) value = stepped(value, 1, 'usual');
      for (let count = 0; count < 30; count += 1) value = stepped(value, -1, 'usual');
      expect(value).to.equal(start);
    }
  });
});

describe('a number on the page', () => {
  it('has a fixed number of decimals, no minus sign if it rounds to zero, and a dash in place of a missing value', () => {
    const texts = [fixed(1, 3), fixed(-0.5, 2), fixed(-0.0001, 2), fixed(null, 2), fixed(Number.NaN, 1)];
    expect(texts).to.deep.equal(['1.000', '−0.50', '0.00', '–', '–']);
  });
});
