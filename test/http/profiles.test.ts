import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('a profile that is refused because the saved gains cannot be read', () => {
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        read: async path => {
          if (!path.endsWith(JOURNAL_FILE)) return real.read(path);
          throw new RobotError('storage-failed', { operation: 'read', path, errno: 'EIO' });
        },
      }),
    },
  );

  it('is not kept', async () => {
    const zero = { kp: 0, ki: 0, kd: 0 };
    const gains = { speed: zero, angle: zero, position: zero };
    expect((await daemon.post('/api/chassis/profiles', { name: 'carpet', gains })).status).to.equal(503);
    expect((await daemon.get('/api/chassis/profiles')).body).to.deep.equal([]);
  });
});
