import { expect } from 'chai';
import { largestMs, SILENCE_FILE, silenceFile } from '../../src/storage/silence-file.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const never = Number.POSITIVE_INFINITY;

describe('the file of host silences', () => {
  for (const [content, gimbal, chassis] of [
    [undefined, 500, 500],
    ['{"gimbal":2000,"chassis":0}', 2000, never],
    // A controller has 500 ms after a reset of its own.
    ['{"gimbal":100}', 500, 500],
    ...['', '\0\0\0\0', '{"gimbal":9', '[]', '{"gimbal":"9"}', '{"gimbal":-1}', '{"gimbal":1e99}'].map(
      damaged => [damaged, never, never] as const,
    ),
  ] as const) {
    it(`allows ${gimbal} and ${chassis} ms when it is ${JSON.stringify(content)}`, async () => {
      const path = `/state/${SILENCE_FILE}`;
      const disk = new RecordingDisk(content === undefined ? {} : { [path]: Buffer.from(content) });
      const options = { folder: '/state', disk, clock: new ManualClock() };
      const silences = await silenceFile(options).read(1000);
      expect([largestMs(silences, 'gimbal'), largestMs(silences, 'chassis')]).to.deep.equal([
        gimbal,
        chassis,
      ]);
    });
  }
});
