import { expect } from 'chai';
import { agreedSilence, recordGivenSilence } from '../../src/daemon/agreed-silence.js';
import { largestMs, SILENCE_FILE, silenceFile } from '../../src/storage/silence-file.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const clock = new ManualClock();
const open = (disk: RecordingDisk) => silenceFile({ folder: '/state', disk, clock });
const diskWith = (silences: object) =>
  new RecordingDisk({ [`/state/${SILENCE_FILE}`]: Buffer.from(JSON.stringify(silences)) });
const recordedMs = async (disk: RecordingDisk) => largestMs(await open(disk).read(1000), 'gimbal');

describe('the host silence that controllers are given', () => {
  for (const [beforeMs, wantedMs, given, afterwards] of [
    [undefined, 500, { beforeMs: 500, givenMs: 500 }, 500],
    [undefined, 2000, { beforeMs: 500, givenMs: 2000 }, 2000],
    [2000, 500, { beforeMs: 2000, givenMs: 500 }, 2000],
    [500, 0, { beforeMs: 500, givenMs: 0 }, Number.POSITIVE_INFINITY],
    [0, 500, { beforeMs: Number.POSITIVE_INFINITY, givenMs: 500 }, Number.POSITIVE_INFINITY],
  ] as const) {
    it(`is ${wantedMs} ms after ${beforeMs ?? 'no'} ms, recorded before it is longer`, async () => {
      const disk = beforeMs === undefined ? new RecordingDisk() : diskWith({ gimbal: beforeMs });
      expect((await agreedSilence(open(disk), wantedMs)).gimbal).to.deep.equal(given);
      expect(await recordedMs(disk)).to.equal(afterwards);
    });
  }

  it('is no longer than before where it cannot be recorded', async () => {
    const disk = new RecordingDisk();
    const file = open(disk);
    await file.read(1000);
    disk.interfere = async () => {
      throw new Error('full');
    };
    expect((await agreedSilence(file, 5000)).chassis).to.deep.equal({ beforeMs: 500, givenMs: 500 });
  });

  it('is no longer than before where the disk hangs', async () => {
    const disk = new RecordingDisk();
    const file = open(disk);
    await file.read(1000);
    disk.interfere = () => new Promise(() => undefined);
    const agreed = agreedSilence(file, 5000);
    await clock.advance(2000);
    expect((await agreed).chassis.givenMs).to.equal(500);
  });

  it('keeps units that it does not know', async () => {
    const disk = diskWith({ arm: 900 });
    await agreedSilence(open(disk), 2000);
    expect(await open(disk).read(1000)).to.deep.equal({ arm: 900, gimbal: 2000, chassis: 2000 });
  });

  it('counts as without end after a file that could not be read, until the controller has another', async () => {
    const disk = diskWith({ gimbal: 500 });
    disk.interfere = async operation => {
      if (operation === 'read') throw new Error('EIO');
    };
    const agreed = await agreedSilence(open(disk), 500);
    expect(agreed.gimbal).to.deep.equal({ beforeMs: Number.POSITIVE_INFINITY, givenMs: 500 });
    disk.interfere = async () => undefined;
    expect(await recordedMs(disk)).to.equal(Number.POSITIVE_INFINITY);
  });

  it('is recorded as shorter when the controller has it', async () => {
    const disk = diskWith({ gimbal: 2000 });
    const file = open(disk);
    const robot = await ClockedRobot.start();
    recordGivenSilence(robot.robot, file, await agreedSilence(file, 500));
    robot.fault('gimbal', 'unplug');
    await robot.wait(400);
    expect(await recordedMs(disk)).to.equal(2000);
    robot.fault('gimbal', 'plug');
    await robot.wait(1500);
    expect(await recordedMs(disk)).to.equal(500);
    await robot.end();
  });
});
