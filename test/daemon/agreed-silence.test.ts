import { expect } from 'chai';
import {
  agreedSilence,
  largestMs,
  recordGivenSilence,
  silenceFile,
} from '../../src/daemon/agreed-silence.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const clock = new ManualClock();
const open = (disk: RecordingDisk) => silenceFile({ folder: '/state', disk, clock });
const never = Number.POSITIVE_INFINITY;
const diskWith = (content?: string) =>
  new RecordingDisk(content === undefined ? {} : { '/state/host-silence.json': Buffer.from(content) });
const recordedMs = async (disk: RecordingDisk) => largestMs(await open(disk).read(1000), 'gimbal');

describe('when a daemon starts', () => {
  for (const [what, recorded, beforeMs, wantedMs, afterwards] of [
    ['is missing', undefined, 500, 500, 500],
    ['is missing', undefined, 500, 2000, 2000],
    ['holds 2000 ms', '{"gimbal":2000}', 2000, 500, 2000],
    ['holds 500 ms', '{"gimbal":500}', 500, 0, never],
    ['holds 0 ms', '{"gimbal":0}', never, 500, never],
    // After its own reset a controller has a host silence of 500 ms.
    ['holds 100 ms', '{"gimbal":100}', 500, 500, 500],
    ...['', '\0\0\0\0', '{"gimbal":9', '[]', '{"gimbal":"9"}', '{"gimbal":-1}', '{"gimbal":1e99}'].map(
      damaged =>
        [`is damaged (${damaged.replaceAll('\0', '\\0') || 'empty'})`, damaged, never, 500, never] as const,
    ),
  ] as const)
    it(`and host-silence.json ${what}, the gimbal gets the configured host silence (${wantedMs === 0 ? 'no limit' : `${wantedMs} ms`}), and the next start assumes ${afterwards === never ? 'no limit' : `a limit of ${afterwards} ms`}`, async () => {
      const disk = diskWith(recorded);
      const { gimbal } = await agreedSilence(open(disk), wantedMs);
      expect(gimbal).to.deep.equal({ beforeMs, givenMs: wantedMs });
      expect(await recordedMs(disk)).to.equal(afterwards);
    });

  for (const [what, interfere] of [
    ['is full', () => Promise.reject(new Error('full'))],
    ['hangs', () => new Promise<void>(() => undefined)],
  ] as const)
    it(`and cannot record a longer host silence because the disk ${what}, controllers keep 500 ms instead of the configured 5000 ms`, async () => {
      const disk = diskWith();
      const file = open(disk);
      await file.read(1000);
      disk.interfere = interfere;
      const agreed = agreedSilence(file, 5000);
      await clock.advance(2000);
      expect((await agreed).chassis).to.deep.equal({ beforeMs: 500, givenMs: 500 });
    });

  it('and one bit of the recorded host silence is damaged, the daemon never assumes a shorter time than the recorded one', async () => {
    const disk = diskWith();
    await agreedSilence(open(disk), 2000);
    const content = disk.files()['/state/host-silence.json']!;
    for (let bit = 0; bit < 8 * content.length; bit += 1) {
      const damaged = Buffer.from(content);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const found = await recordedMs(new RecordingDisk({ '/state/host-silence.json': damaged }));
      expect(found, `${damaged}`).to.be.at.least(2000);
    }
  });

  it('and records the host silence of its units, it keeps the recorded value of an unknown unit', async () => {
    const disk = diskWith('{"arm":900}');
    await agreedSilence(open(disk), 2000);
    expect(await open(disk).read(1000)).to.deep.equal({ arm: 900, gimbal: 2000, chassis: 2000 });
  });

  it('and cannot read the recorded host silence, the daemon records the host silence as unlimited', async () => {
    const disk = diskWith('{"gimbal":500}');
    disk.fail('read');
    const agreed = await agreedSilence(open(disk), 500);
    expect(agreed.gimbal).to.deep.equal({ beforeMs: never, givenMs: 500 });
    disk.fail();
    expect(await recordedMs(disk)).to.equal(never);
  });

  it('with a shorter configured host silence than before, it records the shorter time only after the controller has received that time', async () => {
    const disk = diskWith('{"gimbal":2000}');
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
