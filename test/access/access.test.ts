import { expect } from 'chai';
import { Access } from '../../src/access/access.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { isRobotError } from '../../src/core/errors.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';

describe('access to a closed robot', () => {
  it('refuses 10,000 wrong tokens within the time of a blink each, and keeps nothing of them', () =>
    inTemporaryFolder(async folder => {
      const secret = newSecret();
      await writeTokens(realDisk, folder, [{ name: 'desk', role: 'referee', hash: hashOf(secret) }]);
      const clock = new ManualClock();
      const access = new Access({ disk: realDisk, folder, clock, required: false, stop: 'anyone' });
      await access.open();
      const startMs = performance.now();
      for (let count = 0; count < 10_000; count += 1) {
        expect(refusal(() => access.require('drive', newSecret()))).to.equal('token-unknown');
      }
      expect((performance.now() - startMs) / 10_000).to.be.lessThan(1);
      expect(access.require('rule', secret).token?.name).to.equal('desk');
      access.close();
    }));
});

function refusal(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (isRobotError(error)) return error.code;
    throw error;
  }
}
