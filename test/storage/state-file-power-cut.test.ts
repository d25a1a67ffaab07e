import { expect } from 'chai';
import { type MatchState, NO_MATCH } from '../../src/match/match.js';
import { matchFile } from '../../src/match/match-file.js';
import { ManualClock } from '../support/manual-clock.js';
import { afterCut, type Cut, RecordingDisk, unsyncedBytes } from '../support/recording-disk.js';

const FOLDER = '/state';
const BOOT = { id: 'a', nowMs: () => 0 };

const lock = { by: 'desk', reason: 'inspection' };
const phase = (revision: number, of: MatchState['phase']): MatchState => ({
  ...NO_MATCH,
  call: { id: 'M1', revision, phase: of, remainingS: null },
  phase: of,
});

/** The states that a match writes into its file, with a lock that comes and goes. */
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

/** The place in STATES of the last one that was confirmed among the first `count` operations; -1 before the first. */
function confirmed(disk: RecordingDisk, count: number): number {
  const notes = disk.operations
    .slice(0, count)
    .flatMap(one => (one.kind === 'note' ? [Number(one.note)] : []));
  return notes.at(-1) ?? -1;
}

/**
 * Loads what the next daemon finds. Most cuts leave the files that the one before left, and are answered from memory.
 */
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

async function expectKeptEverywhere(
  disk: RecordingDisk,
  tears: (unsynced: number) => number[],
): Promise<void> {
  const { operations } = disk;
  const load = loading();
  for (let count = 0; count <= operations.length; count += 1) {
    const torn = tears(unsyncedBytes(operations, count));
    for (const data of ['kept', 'lost', ...torn] as Cut['data'][]) {
      for (const names of ['kept', 'lost'] as const) {
        const found = await load(afterCut(operations, count, { names, data }));
        const atLeast = confirmed(disk, count);
        const allowed = [NO_MATCH, ...STATES].slice(atLeast + 1).map(state => JSON.stringify(state));
        expect(allowed, `${count} operations, names ${names}, data ${data}`).to.include(found);
      }
    }
  }
}

describe('after a power cut a state file has the last confirmed value or a newer one', () => {
  it('at any operation, torn at any byte', async () => {
    const disk = new RecordingDisk();
    const file = fileOn(disk);
    for (const [place, state] of STATES.entries()) {
      await file.save(state, 1000);
      disk.note(String(place));
    }
    await expectKeptEverywhere(disk, unsynced => Array.from({ length: unsynced }, (_, bytes) => bytes + 1));
  });

  for (const failing of ['create', 'append', 'sync', 'rename', 'syncFolder']) {
    it(`where ${failing} failed for one of them`, async () => {
      const disk = new RecordingDisk();
      const file = fileOn(disk);
      for (const [place, state] of STATES.entries()) {
        disk.fail(...(place === 3 ? [failing] : []));
        const isKept = await file.save(state, 1000).then(
          () => true,
          () => false,
        );
        expect(isKept).to.equal(place !== 3);
        if (isKept) disk.note(String(place));
      }
      await file.close();
      await expectKeptEverywhere(disk, unsynced => (unsynced > 1 ? [1, unsynced - 1] : []));
    });
  }
});
