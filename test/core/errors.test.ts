import { expect } from 'chai';
import { describeError, RobotError } from '../../src/core/errors.js';

describe('an error in the log', () => {
  it('has its cause in words and no stack, when it is one that is known', () => {
    const deepest = new Error('libatomic.so.1: cannot open shared object file');
    const cause = new Error('Could not locate the bindings file. Tried:\n → build/i2c.node', {
      cause: deepest,
    });
    const error = new RobotError('addon-missing', { missing: 'No i2c-bus', cure: 'Install it.' }, { cause });
    expect(describeError(error)).to.deep.equal({
      code: 'addon-missing',
      missing: 'No i2c-bus',
      cure: 'Install it.',
      cause: 'Could not locate the bindings file. Tried: libatomic.so.1: cannot open shared object file',
    });
  });

  it('has a stack when it is a defect', () => {
    const defect = new TypeError('loops is not iterable');
    expect(describeError(defect)).to.deep.equal({ message: defect.message, stack: defect.stack });
  });
});
