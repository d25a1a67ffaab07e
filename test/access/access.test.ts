import { expect } from 'chai';
import { Access } from '../../src/access/access.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { isRobotError } from '../../src/core/errors.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

describe('access to a closed robot', () => {
  it('refuses 10,000 wrong tokens without asking the disk, and locks nobody out', () =>
    inTemporaryFolder(async folder => {
      const secret = newSecret();
      await writeTokens(realDisk, folder, [{ name: 'desk', role: 'referee', hash: hashOf(secret) }]);
      let reads = 0;
      const disk: Disk = {
        ...realDisk,
        read: path => {
          reads += 1;
          return realDisk.read(path);
        },
      };
      const clock = new ManualClock();
      const access = new Access({ disk, folder, clock, required: false, stop: 'anyone' });
      await access.open();
      for (let count = 0; count < 10_000; count += 1) {
        expect(refusal(() => access.require('drive', newSecret()))).to.equal('token-unknown');
      }
      expect(access.require('rule', secret).token?.name).to.equal('desk');
      expect(reads).to.equal(1);
      access.close();
    }));

  it('does not wait for a disk that hangs at the start: nobody may do more than stop until it has answered', async () => {
    const disk = new RecordingDisk();
    const clock = new ManualClock();
    const access = new Access({ disk, folder: '/state', clock, required: false, stop: 'anyone' });
    let changes = 0;
    access.changed.add(() => {
      changes += 1;
    });
    const answerAgain = disk.hang();
    const opened = access.open();
    await clock.advance(2000);
    await opened;
    expect(access.state).to.equal('unavailable');
    expect(access.problem?.context.cure).to.include('too slow');
    expect(refusal(() => access.require('drive', undefined))).to.equal('access-unavailable');
    expect(refusal(() => access.require('stop', undefined))).to.equal(undefined);
    answerAgain();
    await clock.advance(0);
    expect([access.state, access.problem, changes]).to.deep.equal(['open', undefined, 1]);
    await writeTokens(disk, '/state', [{ name: 'desk', role: 'referee', hash: hashOf('secret') }]);
    await clock.advance(300);
    expect(access.state).to.equal('closed');
    access.close();
  });
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
