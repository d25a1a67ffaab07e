import { expect } from 'chai';
import { describeError, RobotError } from '../../src/core/errors.js';

describe('the message of an error with a code (RobotError)', () => {
  it('begins with the code, and then gives every known detail as "name=value", also if the value is a list or an object', () => {
    const difference = { speed: { sent: { kp: 1, ki: 0, kd: 0 }, inForce: { kp: 2, ki: 0, kd: 0 } } };
    const context = {
      unit: 'chassis',
      revision: 3,
      errno: undefined,
      units: ['gimbal', 'chassis'],
      difference,
    };
    expect(new RobotError('changed-meanwhile', context).message).to.equal(
      'changed-meanwhile unit=chassis revision=3 units=gimbal,chassis ' +
        'difference={"speed":{"sent":{"kp":1,"ki":0,"kd":0},"inForce":{"kp":2,"ki":0,"kd":0}}}',
    );
    const errors = [{ pointer: '/mode', detail: 'is missing' }];
    expect(new RobotError('invalid-request', { errors }).message).to.equal(
      'invalid-request errors={"pointer":"/mode","detail":"is missing"}',
    );
  });
});

describe('an error in the log', () => {
  it('has its cause and no stack if it is a known error with a code', () => {
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

  it('has a stack if it is an exception without a code', () => {
    const defect = new TypeError('loops is not iterable');
    expect(describeError(defect)).to.deep.equal({ message: defect.message, stack: defect.stack });
  });
});
