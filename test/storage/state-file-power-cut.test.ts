import { expect } from 'chai';
import { succeeds } from '../../src/core/errors.js';
import { type MatchState, NO_MATCH } from '../../src/match/match.js';
import { matchFile } from '../../src/match/match-file.js';
import { ManualClock } from '../support/manual-clock.js';
import { everyByte, firstAndLastByte, powerCuts, RecordingDisk } from '../support/recording-disk.js';

const FOLDER = '/state';
const BOOT = { id: 'a', nowMs: () => 0 };

const lock = { id: 'L1', by: 'desk', reason: 'inspection' };
const phase = (revision: number, of: MatchState['phase']): MatchState => ({
  ...NO_MATCH,
  call: { id: 'M1', revision, phase: of, remainingS: null },
  phase: of,
});

/** The states that a match writes into its file, with a lock that is set and removed. */
const STATES: readonly MatchState[] = [
  phase(1, 'pre'),
  { ...phase(1, 'pre'), lock },
  { ...phase(2, 'auto'), lock },
  phase(2, 'auto'),
  phase(3, 'ended'),
  { ...phase(3, 'ended'), lock },
];

function fileOn(disk: RecordingDisk) {
  return matchFile({ disk, folder: FOLDER, clock: new ManualClock() }, BOOT);
}

/** Loads what the next daemon would find. Most cuts leave the same files as the cut before, so results are cached. */
function loading(): (files: Record<string, Buffer>) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return files => {
    const key = Object.entries(files).join();
    const found =
      known.get(key) ??
      fileOn(new RecordingDisk(files))
        .read(1000)
        .then(state => JSON.stringify(state));
    known.set(key, found);
    return found;
  };
}

/** Each confirmed state left a note with its index in STATES. */
async function expectKept(disk: RecordingDisk, tears: (unsynced: number) => number[]): Promise<void> {
  const load = loading();
  for (const { notes, files, when } of powerCuts(disk.operations, tears)) {
    const allowed = [NO_MATCH, ...STATES].slice(Number(notes.at(-1) ?? -1) + 1);
    expect(
      allowed.map(state => JSON.stringify(state)),
      when,
    ).to.include(await load(files));
  }
}

describe('after a power cut, a state file', () => {
  it('has the last confirmed value or a newer one, no matter at which byte of which disk operation the power is cut', async () => {
    const disk = new RecordingDisk();
    const file = fileOn(disk);
    for (const [place, state] of STATES.entries()) {
      await file.save(state, 1000);
      disk.note(String(place));
    }
    await expectKept(disk, everyByte);
  });

  for (const failing of ['create', 'append', 'sync', 'rename', 'syncFolder']) {
    it(`has the last confirmed value or a newer one, even if an earlier write failed in the disk operation “${failing}”`, async () => {
      const disk = new RecordingDisk();
      const file = fileOn(disk);
      for (const [place, state] of STATES.entries()) {
        disk.fail(...(place === 3 ? [failing] : []));
        const isKept = await succeeds(file.save(state, 1000));
        expect(isKept).to.equal(place !== 3);
        if (isKept) disk.note(String(place));
      }
      await file.close();
      await expectKept(disk, firstAndLastByte);
    });
  }
});
