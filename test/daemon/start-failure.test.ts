import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { startFailure } from '../../src/daemon/run.js';

describe('the error message of a daemon that cannot start', () => {
  const inUse = Object.assign(new Error('listen'), { code: 'EADDRINUSE' });
  for (const [error, sentence] of [
    [
      new RobotError(
        'cannot-listen',
        { host: '::', port: 8080, reason: 'another program has port 8080' },
        { cause: inUse },
      ),
      'another program has port 8080; try --port 8081, or set http.port',
    ],
    [
      new RobotError(
        'cannot-listen',
        { host: '10.0.0.9', port: 8080, reason: '10.0.0.9 is no address of this machine, or not yet' },
        { cause: new Error('EADDRNOTAVAIL') },
      ),
      'cannot listen: 10.0.0.9 is no address of this machine, or not yet; set http.host, or try --host 0.0.0.0',
    ],
    [
      new RobotError('state-in-use', { folder: '/var/lib/trunnion' }),
      'another daemon keeps its gains in /var/lib/trunnion: end that one',
    ],
    [
      new RobotError('bus-in-use', { bus: 1 }),
      'another process drives the robot on I2C bus 1: end that one; sudo trunnion doctor says whether it is the service',
    ],
  ] as const) {
    it(`says what happened and what to do: “${sentence}”`, () =>
      expect(startFailure(error).sentence).to.equal(sentence));
  }
});
