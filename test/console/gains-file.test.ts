import { expect } from 'chai';
import fc from 'fast-check';
import { importGains } from '../../src/console/model/edits.js';
import { defaultGains, perUnit } from '../../src/core/units.js';

const gain = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => (value === 0 ? 0 : value));
const triple = fc.record({ kp: gain, ki: gain, kd: gain }, { noNullPrototype: true });
const all = fc.record(
  perUnit(unit =>
    fc.record(Object.fromEntries(unit.loops.map(loop => [loop.name, triple])), { noNullPrototype: true }),
  ),
  { noNullPrototype: true },
);
const defaults = perUnit(defaultGains);
const fileOf = (gains: object) => JSON.stringify(gains, null, 2);

describe('an imported file of all gains', () => {
  it('gives each loop exactly the numbers that the file has, however small or large', () => {
    fc.assert(
      fc.property(all, gains => {
        expect(importGains(fileOf(gains))).to.deep.equal({ gains });
      }),
    );
  });

  for (const [what, text, fault] of [
    ['is not JSON', 'kp = 3', /not JSON/],
    ['is not an object', '[]', /the file is missing/],
    ['has no gains for the chassis', JSON.stringify({ gimbal: defaults.gimbal }), /^\/chassis is missing/],
    ['has gains for an unknown unit', JSON.stringify({ ...defaults, arm: {} }), /^\/arm is not known/],
    ['lacks one of the gains', fileOf(defaults).replace(/"kp": [\d.]+,/, ''), /^\/gimbal\/visual_yaw\/kp/],
    [
      'has text in quotes instead of a number',
      fileOf(defaults).replace(/"kp": [\d.]+/, '"kp": "1"'),
      /kp is missing or not a number/,
    ],
    [
      'has a number that is too large',
      fileOf(defaults).replace(/"kp": [\d.]+/, '"kp": 1e999'),
      /kp is missing or not a number/,
    ],
    [
      'has gains for an unknown loop',
      JSON.stringify({ ...defaults, chassis: { ...defaults.chassis, lift: {} } }),
      /^\/chassis\/lift is not/,
    ],
  ] as const) {
    it(`is rejected as a whole if it ${what}`, () => {
      const imported = importGains(text);
      expect('faults' in imported && imported.faults[0]).to.match(fault);
    });
  }
});
