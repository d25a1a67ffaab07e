import { expect } from 'chai';
import type { Context } from 'koa';
import { RobotError } from '../../src/core/errors.js';
import { stillWanted } from '../../src/http/body.js';

describe('a request that waits', () => {
  it('is wanted until its caller has gone or has lost the right', () => {
    const ctx = (gone: boolean, requireRight = () => {}) =>
      ({ socket: { destroyed: gone, readableEnded: false }, state: { requireRight } }) as unknown as Context;
    const lost = () => {
      throw new RobotError('token-unknown');
    };
    expect(stillWanted(ctx(false))).not.to.throw();
    expect(stillWanted(ctx(true)))
      .to.throw(RobotError)
      .with.property('code', 'caller-gone');
    expect(stillWanted(ctx(false, lost)))
      .to.throw(RobotError)
      .with.property('code', 'token-unknown');
  });
});
