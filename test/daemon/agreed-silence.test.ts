import { expect } from 'chai';
import { agreedSilence, recordGivenSilence } from '../../src/daemon/agreed-silence.js';
import { SilenceRecord } from '../../src/storage/silence-record.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const clock = new ManualClock();
const open = (disk: RecordingDisk) => SilenceRecord.open({ folder: '/state', disk, clock });

describe('the host silence that controllers are given', () => {
  for (const [recordedMs, wantedMs, given, afterwards] of [
    [undefined, 500, { beforeMs: 500, givenMs: 500 }, 500],
    [undefined, 2000, { beforeMs: 500, givenMs: 2000 }, 2000],
    [2000, 500, { beforeMs: 2000, givenMs: 500 }, 2000],
    [500, 0, { beforeMs: 500, givenMs: 0 }, Number.POSITIVE_INFINITY],
    [0, 500, { beforeMs: Number.POSITIVE_INFINITY, givenMs: 500 }, Number.POSITIVE_INFINITY],
  ] as const) {
    it(`is ${wantedMs} ms after ${recordedMs ?? 'no'} ms, recorded before it is longer`, async () => {
      const disk = new RecordingDisk();
      if (recordedMs !== undefined) await (await open(disk)).record('gimbal', recordedMs);
      expect((await agreedSilence(await open(disk), wantedMs, clock)).gimbal).to.deep.equal(given);
      expect((await open(disk)).largestMs('gimbal')).to.equal(afterwards);
    });
  }

  it('is no longer than before where it cannot be recorded', async () => {
    const disk = new RecordingDisk();
    const record = await open(disk);
    disk.interfere = async () => {
      throw new Error('full');
    };
    expect((await agreedSilence(record, 5000, clock)).chassis).to.deep.equal({ beforeMs: 500, givenMs: 500 });
  });

  it('is no longer than before where the disk hangs', async () => {
    const disk = new RecordingDisk();
    const record = await open(disk);
    disk.interfere = () => new Promise(() => undefined);
    const agreed = agreedSilence(record, 5000, clock);
    await clock.advance(2000);
    expect((await agreed).chassis.givenMs).to.equal(500);
  });

  it('is recorded as shorter when the controller has it', async () => {
    const disk = new RecordingDisk();
    await (await open(disk)).record('gimbal', 2000);
    const record = await open(disk);
    const robot = await ClockedRobot.start();
    recordGivenSilence(robot.robot, record, await agreedSilence(record, 500, clock));
    robot.fault('gimbal', 'unplug');
    await robot.wait(400);
    expect((await open(disk)).largestMs('gimbal')).to.equal(2000);
    robot.fault('gimbal', 'plug');
    await robot.wait(1500);
    expect((await open(disk)).largestMs('gimbal')).to.equal(500);
    await robot.end();
  });
});
