import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/core/clock.js';
import { RobotError } from '../../src/core/errors.js';
import type { Disk } from '../../src/storage/disk.js';
import { realDisk } from '../../src/storage/disk.js';
import { SILENCE_FILE, SilenceRecord } from '../../src/storage/silence-record.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { afterCut, RecordingDisk } from '../support/recording-disk.js';

const PATH = `/state/${SILENCE_FILE}`;
const open = (disk: Disk, folder = '/state') => SilenceRecord.open({ folder, disk, clock: systemClock });
const both = (record: SilenceRecord) => [record.largestMs('gimbal'), record.largestMs('chassis')];
const never = Number.POSITIVE_INFINITY;

describe('the record of host silences', () => {
  it("is a controller's own 500 ms where there is none", async () => {
    expect(both(await open(new RecordingDisk()))).to.deep.equal([500, 500]);
  });

  it('is there for the next process, unit by unit', () =>
    inTemporaryFolder(async folder => {
      const record = await open(realDisk, folder);
      await Promise.all([record.record('gimbal', 2000), record.record('chassis', 0)]);
      expect(both(record)).to.deep.equal([2000, never]);
      expect(both(await open(realDisk, folder))).to.deep.equal([2000, never]);
      await record.record('chassis', 700);
      expect(both(await open(realDisk, folder))).to.deep.equal([2000, 700]);
    }));

  it('is never below what a controller has after a reset of its own', async () => {
    const record = await open(new RecordingDisk());
    await record.record('gimbal', 100);
    expect(record.largestMs('gimbal')).to.equal(500);
  });

  const damages = ['', '\0\0\0\0', '{"gimbal":9', '[]', '{"gimbal":"9"}', '{"gimbal":-1}', '{"gimbal":1e99}'];
  for (const content of damages) {
    it(`counts as a silence without end when it is ${JSON.stringify(content)}, until it is written anew`, async () => {
      const disk = new RecordingDisk({ [PATH]: Buffer.from(content) });
      const record = await open(disk);
      expect(both(record)).to.deep.equal([never, never]);
      await record.record('gimbal', 800);
      expect(both(record)).to.deep.equal([800, never]);
      expect(both(await open(new RecordingDisk(disk.files())))).to.deep.equal([800, never]);
    });
  }

  it('keeps units that it does not know', () =>
    inTemporaryFolder(async folder => {
      await writeFile(join(folder, SILENCE_FILE), '{"arm":900}');
      await (await open(realDisk, folder)).record('gimbal', 600);
      const kept: unknown = JSON.parse(await readFile(join(folder, SILENCE_FILE), 'utf8'));
      expect(kept).to.deep.equal({ arm: 900, gimbal: 600 });
    }));

  it('is as it was when the disk fails, and says so', async () => {
    const disk = new RecordingDisk();
    const record = await open(disk);
    await record.record('gimbal', 900);
    for (const failing of ['create', 'append', 'sync', 'rename']) {
      disk.interfere = async operation => {
        if (operation === failing) throw new RobotError('storage-failed', { operation, path: '/state' });
      };
      const refused = await record.record('gimbal', 3000).catch((error: RobotError) => error.code);
      expect([failing, refused, record.largestMs('gimbal')]).to.deep.equal([failing, 'storage-failed', 900]);
    }
    disk.interfere = async () => undefined;
    await record.record('gimbal', 3000);
    expect(record.largestMs('gimbal')).to.equal(3000);
  });

  it('is written anew after a failure that may have left the other silence on the medium', async () => {
    const disk = new RecordingDisk();
    const record = await open(disk);
    await record.record('gimbal', 3000);
    disk.interfere = async operation => {
      if (operation === 'syncFolder') throw new RobotError('storage-failed', { operation, path: '/state' });
    };
    const refused = await record.record('gimbal', 900).catch((error: RobotError) => error.code);
    expect([refused, record.largestMs('gimbal')]).to.deep.equal(['storage-failed', 3000]);
    disk.interfere = async () => undefined;
    await record.record('gimbal', 3000);
    expect((await open(new RecordingDisk(disk.files()))).largestMs('gimbal')).to.equal(3000);
  });

  it('is not waited for on a disk that hangs, and known when the disk has answered', async () => {
    const disk = new RecordingDisk({ [PATH]: Buffer.from('{"gimbal":900}') });
    let answer = () => {};
    disk.interfere = () =>
      new Promise(resolve => {
        answer = resolve;
      });
    const clock = new ManualClock();
    const opening = SilenceRecord.open({ folder: '/state', disk, clock });
    await clock.advance(2000);
    const record = await opening;
    expect(both(record)).to.deep.equal([never, never]);
    answer();
    await clock.advance(0);
    expect(both(record)).to.deep.equal([900, 500]);
  });

  it('never promises less than what was on record before, whatever a power cut leaves', async () => {
    const disk = new RecordingDisk();
    const record = await open(disk);
    await record.record('gimbal', 900);
    const given = disk.operations.length;
    await record.record('gimbal', 3000);
    for (let count = given; count <= disk.operations.length; count += 1) {
      for (const names of ['kept', 'lost'] as const) {
        for (const data of ['kept', 'lost', 1] as const) {
          const files = afterCut(disk.operations, count, { names, data });
          const found = (await open(new RecordingDisk(files))).largestMs('gimbal');
          expect(found).to.be.oneOf(count === disk.operations.length ? [3000] : [900, 3000]);
        }
      }
    }
  });
});
