import { expect } from 'chai';
import type { Context } from 'koa';
import { RobotError } from '../../src/core/errors.js';
import { get } from '../../src/http/route.js';

describe('a waiting request', () => {
  it('is refused if its caller disconnects, half-closes the connection or loses the required right', async () => {
    const socket = { destroyed: false, readableEnded: false };
    let lost: RobotError | undefined;
    const authorize = () => {
      if (lost !== undefined) throw lost;
    };
    const ask = (waiting: () => void) =>
      get('/', 'drive', {
        id: 'wait',
        summary: '',
        answer: {},
        act: ({ stillWanted }) => {
          waiting();
          stillWanted();
          return undefined;
        },
      })
        .handle(
          { socket, state: {} } as unknown as Context,
          Object.assign(authorize, { current: () => undefined }),
        )
        .catch(error => error.code);
    expect(await ask(() => undefined)).to.equal(undefined);
    const removed = () => {
      lost = new RobotError('token-unknown');
    };
    expect(await ask(removed)).to.equal('token-unknown');
    lost = undefined;
    for (const end of ['destroyed', 'readableEnded']) {
      expect(await ask(() => Object.assign(socket, { [end]: true })), end).to.equal('caller-gone');
      Object.assign(socket, { [end]: false });
    }
  });
});
