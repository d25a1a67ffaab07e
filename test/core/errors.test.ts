import { expect } from 'chai';
import { describeError, RobotError } from '../../src/core/errors.js';

describe('the message of an error', () => {
  it('shows lists and objects as what they hold', () => {
    const gains = { kp: 1, ki: 0, kd: 0 };
    const difference = { speed: { sent: gains, inForce: { ...gains, kp: 2 } } };
    expect(
      new RobotError('changed-meanwhile', { unit: 'chassis', revision: 3, difference }).message,
    ).to.equal(
      'changed-meanwhile unit=chassis revision=3 ' +
        'difference={"speed":{"sent":{"kp":1,"ki":0,"kd":0},"inForce":{"kp":2,"ki":0,"kd":0}}}',
    );
    const errors = [{ pointer: '/mode', detail: 'is missing' }];
    expect(new RobotError('invalid-request', { errors }).message).to.equal(
      'invalid-request errors={"pointer":"/mode","detail":"is missing"}',
    );
    expect(new RobotError('not-confirmed', { units: ['gimbal', 'chassis'] }).message).to.equal(
      'not-confirmed units=gimbal,chassis',
    );
  });

  it('says nothing of what is not known', () => {
    const context = { unit: 'gimbal', bus: 1, errno: undefined };
    expect(new RobotError('bus-failed', context).message).to.equal('bus-failed unit=gimbal bus=1');
  });
});

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
