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
    const errors = error.context.errors;
    return errors.map(({ pointer }) => pointer).sort();
  }
}

const FAULTS = ['unplug', 'plug', 'brownout', 'nack', 'timeout', 'corrupt', 'hang', 'clear'];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(UNIT_LIST.map(({ name }) => [name, FAULTS])),
  bus: ['nack', 'timeout', 'corrupt', 'hang', 'clear'],
  pin: ['nack', 'clear'],
};

describe('FAULT_BODY', () => {
  for (const [target, allowed] of Object.entries(ALLOWED)) {
    it(`lets ${target} go with ${allowed.join(', ')} and with nothing else`, () => {
      for (const fault of FAULTS) {
        const expected = allowed.includes(fault) ? [] : ['/fault'];
        expect(pointers({ target, fault }), fault).to.deep.equal(expected);
        expect(pointers({ target, fault, count: 3 }), fault).to.deep.equal(expected);
      }
    });
  }

  const wrong: readonly [unknown, readonly string[]][] = [
    [{ target: 'laser', fault: 'melt' }, ['/fault', '/target']],
    [{ target: 'pin', fault: 'hang', count: 0 }, ['/count', '/fault']],
    [{ target: 'bus', fault: 'nack', count: 1.5 }, ['/count']],
  ];
  for (const [body, expected] of wrong) {
    it(`finds every fault of ${JSON.stringify(body)}`, () => {
      expect(pointers(body)).to.deep.equal(expected);
    });
  }
});
