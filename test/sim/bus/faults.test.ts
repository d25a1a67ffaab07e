import { expect } from 'chai';
import { FAULT_BODY } from '../../../sim/bus/faults.js';
import { isRobotError } from '../../../src/core/errors.js';
import { UNIT_LIST } from '../../../src/core/units.js';
import { compile } from '../../../src/http/validate.js';

const check = compile(FAULT_BODY);

/** The JSON pointers of the faults that the check finds in the body. */
function pointers(body: unknown): string[] {
  try {
    check(body);
    return [];
  } catch (error) {
    if (!isRobotError(error, 'invalid-request')) throw error;
    return error.context.errors.map(({ pointer }) => pointer).sort();
  }
}

const OF_BUS = ['nack', 'timeout', 'corrupt', 'hang', 'clear'];
const FAULTS = ['unplug', 'plug', 'brownout', ...OF_BUS];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(UNIT_LIST.map(({ name }) => [name, FAULTS])),
  bus: OF_BUS,
  pin: ['nack', 'clear'],
};

describe('a simulated fault', () => {
  for (const [target, allowed] of Object.entries(ALLOWED))
    it(`of the ${target === 'pin' ? 'laser pin' : target} is refused unless it is one of "${allowed.join('", "')}"`, () => {
      for (const fault of [...FAULTS, 'melt'])
        for (const more of [{}, { count: 3 }])
          expect(pointers({ target, fault, ...more }), fault).to.deep.equal(
            allowed.includes(fault) ? [] : ['/fault'],
          );
    });

  it('is refused with an error that lists every invalid field', () => {
    expect(pointers({ target: 'laser', fault: 'melt' })).to.deep.equal(['/fault', '/target']);
    expect(pointers({ target: 'pin', fault: 'hang', count: 0 })).to.deep.equal(['/count', '/fault']);
    expect(pointers({ target: 'bus', fault: 'nack', count: 1.5 })).to.deep.equal(['/count']);
  });
});
