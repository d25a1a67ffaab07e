import { expect } from 'chai';
import { systemClock } from '../../src/core/clock.js';
import { RobotWish, type Wanted } from '../../src/desk/state.js';
import { wantedFile } from '../../src/desk/wanted-file.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { PLAYING, WANTED } from './wanted.js';

const PATH = '/state/desk.json';
const LOCK = { id: 'desk-1:7', by: 'referee', reason: 'inspection', atMs: 400 };
const KEPT: Wanted = {
  ...WANTED,
  match: PLAYING,
  robots: { 'Red 1': { ...new RobotWish(), lock: LOCK } },
};

describe('the state file of a desk', () => {
  let disk: RecordingDisk;
  beforeEach(() => {
    disk = new RecordingDisk();
  });
  /** A run of the desk that begins at `bootMs` on the clock of the boot. */
  const run = (id: string | undefined, bootMs: number) => {
    const nowMs = () => bootMs;
    const clock = { ...systemClock, nowMs };
    return wantedFile({ disk, folder: '/state', clock }, { id, nowMs });
  };

  it('keeps the end time of a running match if the desk restarts without a reboot of its machine', async () => {
    await run('a', 1000).save(KEPT, 1000);
    const { match, robots } = await run('a', 11_000).read(1000);
    expect({ match, lock: robots['Red 1']?.lock }).to.deep.equal({ match: PLAYING, lock: LOCK });
  });

  for (const [what, before, after] of [
    ['a reboot of the machine', 'a', 'b'],
    ['a restart on a machine that cannot tell whether it rebooted', undefined, undefined],
  ] as const)
    it(`after ${what} still has the locks, but a running match is paused with an unknown time left`, async () => {
      await run(before, 1000).save(KEPT, 1000);
      const { match, robots, holder, permits } = await run(after, 5).read(1000);
      expect(match).to.deep.include({ phase: 'pause', interrupted: 'teleop', endsAtMs: null, leftS: null });
      expect(match?.why).to.equal('the machine of the desk was off');
      expect(robots['Red 1']?.lock).to.deep.equal({ ...LOCK, atMs: 5 });
      expect({ holder, permits }).to.deep.equal({ holder: 'desk-1', permits: true });
    });

  it('after a reboot of the machine still shows an ended match as ended', async () => {
    await run('a', 1000).save({ ...KEPT, match: { ...PLAYING, phase: 'ended', endsAtMs: null } }, 1000);
    expect((await run('b', 5).read(1000)).match).to.deep.include({ phase: 'ended', why: null });
  });

  it('after a reboot of the machine shows an earlier release as expired, so that no robot is released late', async () => {
    await run('a', 1000).save({ ...KEPT, match: { ...PLAYING, phase: 'none', endsAtMs: null } }, 1000);
    const { match } = await run('b', 5).read(1000);
    expect(match).to.deep.include({ phase: 'none', untilMs: 5 });
  });

  it('with one damaged byte is either read exactly as it was saved, or permits no start and no unlock', async () => {
    await run('a', 1000).save(KEPT, 1000);
    const whole = disk.files()[PATH]!;
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x04;
      disk.put(PATH, damaged);
      const read = await run('a', 1000).read(1000);
      if (read.permits) expect(read, `byte ${at}`).to.deep.equal(KEPT);
    }
  });
});
