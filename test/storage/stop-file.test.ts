import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import type { Disk } from '../../src/storage/disk.js';
import { openStopFile, STOP_FILE } from '../../src/storage/stop-file.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const PATH = `/state/${STOP_FILE}`;
const clock = new ManualClock();
const open = (disk: Disk, boot = 'this boot') => openStopFile({ folder: '/state', disk, clock }, boot);

describe('the stop record (stop.json)', () => {
  let disk: RecordingDisk;
  let record: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    disk = new RecordingDisk();
    record = await open(disk);
  });
  /** Whether a daemon finds a stop if its file has this content. */
  const isFoundIn = async (content: Buffer | string, boot?: string) =>
    (await open(new RecordingDisk({ [PATH]: Buffer.from(content) }), boot)).wasStopped;
  /** Whether the next daemon finds a stop. */
  const isFound = (boot?: string) => isFoundIn(disk.files()[PATH] ?? '', boot);

  it('tells the restarted daemon that the robot was stopped, unless the robot was resumed or the computer was rebooted', async () => {
    expect(record.wasStopped).to.equal(false);
    await record.record(true);
    expect(await isFound()).to.equal(true);
    expect(await isFound('another boot')).to.equal(false);
    await record.record(false);
    expect(await isFound()).to.equal(false);
  });

  it('counts as a stop if it is damaged', async () => {
    for (const content of ['', '\0\0', '[]', '{"stopped":1,"boot":"this boot"}', '{"stopped":false}'])
      expect(await isFoundIn(content), content).to.equal(true);
  });

  it('still counts as a stop if any one of its bits flips', async () => {
    await record.record(true);
    const content = disk.files()[PATH]!;
    for (let bit = 0; bit < 8 * content.length; bit += 1) {
      const damaged = Buffer.from(content);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(await isFoundIn(damaged), `${damaged}`).to.equal(true);
    }
  });

  it('is still read if version 0.3.0 wrote it without a checksum', async () => {
    for (const stopped of [true, false])
      expect(await isFoundIn(JSON.stringify({ stopped, boot: 'this boot' }))).to.equal(stopped);
  });

  it('is on the disk before the stop is confirmed, even if the first attempt to write it fails', async () => {
    disk.failTimes(1, 'create');
    await record.record(true);
    expect(await isFound()).to.equal(true);
  });

  it('delays the confirmation of a stop by at most 200 ms, even if the first write fails and the second hangs', async () => {
    let attempts = 0;
    disk.interfere = async operation => {
      if (operation !== 'sync') return;
      attempts += 1;
      if (attempts > 1) await new Promise(() => undefined);
      await new Promise<void>(resolve => clock.after(150, resolve));
      throw new RobotError('storage-failed', { operation: 'sync', path: PATH, errno: 'EIO' });
    };
    let isRecorded = false;
    void record.record(true).then(() => {
      isRecorded = true;
    });
    await clock.advance(199);
    expect([attempts, isRecorded]).to.deep.equal([2, false]);
    await clock.advance(1);
    expect(isRecorded).to.equal(true);
  });

  it('delays the confirmation of a second stop as well, even if the first stop was confirmed while the disk hung', async () => {
    const answerAgain = disk.hang();
    const resumed = record.record(false);
    const first = record.record(true);
    await clock.advance(250);
    await Promise.all([resumed, first]);
    let isRecorded = false;
    const second = record.record(true).then(() => {
      isRecorded = true;
    });
    await clock.advance(100);
    expect(isRecorded).to.equal(false);
    answerAgain();
    await second;
    expect(await isFound()).to.equal(true);
  });
});
