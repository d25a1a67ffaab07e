import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, type GainSet, unitNamed } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { MAX_REVISION } from '../../src/gains/journal-line.js';
import type { ProcessLock } from '../../src/storage/path-lock.js';
import { codeOf } from '../support/code-of.js';
import { encodeEntry, foreignLine, noLock } from '../support/journal-lines.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const PATH = `/state/${JOURNAL_FILE}`;
const chassis = defaultGains(unitNamed('chassis'));

const open = (disk: RecordingDisk, clock = new ManualClock(), lock: ProcessLock = noLock) =>
  GainsStore.open({ folder: '/state', clock, disk, lock });

/** A disk with this journal, and a store that reads it. */
async function storeOf(journal: string) {
  const disk = new RecordingDisk({ [PATH]: Buffer.from(journal) });
  return { disk, store: await open(disk), text: () => disk.files()[PATH]?.toString() };
}

const line = (revision: number, gains: GainSet | object = chassis) =>
  foreignLine({ revision, time: 't', unit: 'chassis', gains });

const refusal = (saving: Promise<unknown>): Promise<Partial<RobotError<'storage-failed'>['context']>> =>
  saving.then(
    () => ({}),
    error => error.context,
  );

describe('a gains journal of version 0.1.0', () => {
  const fixture = readFileSync(`test/fixtures/0.1.0/${JOURNAL_FILE}`, 'utf8');

  it('is read, and its lines stay unchanged when new lines are appended', async () => {
    const { store, text } = await storeOf(fixture);
    const { revision, savedAt, gains } = store.current('chassis');
    expect([revision, savedAt]).to.deep.equal([3, '2026-09-01T09:04:04.936Z']);
    expect(gains.speed).to.deep.equal({ kp: 42.5, ki: 310, kd: 0 });
    expect(store.revision('chassis', 2).gains.speed).to.deep.equal({ kp: 0.1, ki: 1e-7, kd: -3 });
    expect(store.history('chassis', 2).map(one => one.revision)).to.deep.equal([3, 2]);
    expect(store.report()).to.deep.equal({ ok: true, setAside: [] });
    expect((await store.save('chassis', chassis)).revision).to.equal(4);
    expect(text()?.startsWith(fixture)).to.equal(true);
  });

  it('stores the names of caller and profile with a new save, and still has both names after a daemon restart', async () => {
    const { store, disk } = await storeOf(fixture);
    await store.save('chassis', chassis, { by: 'op', profile: 'carpet' });
    await store.close();
    for (const one of [store, await open(disk)])
      expect(one.history('chassis', 2).map(({ by, profile }) => [by, profile])).to.deep.equal([
        ['op', 'carpet'],
        [undefined, undefined],
      ]);
  });

  it('has the line format of this version: reading its first line and writing it again gives the same bytes', () => {
    const [first = ''] = fixture.split('\n');
    expect(encodeEntry(JSON.parse(first))).to.equal(`${first}\n`);
  });
});

describe('a gains journal in a newer format', () => {
  const journals: Readonly<Record<string, string>> = {
    'even if this version can check its checksum': foreignLine({
      format: 2,
      revision: 8,
      unit: 'chassis',
      gains: {},
    }),
    'if this version cannot check its checksum': `${JSON.stringify({ format: 2, kind: 'gains', hash: 'abc' })}\n`,
    'even if it begins with lines in the format of this version': `${line(7)}${foreignLine({ format: 2, anything: [1] })}`,
  };
  for (const [name, journal] of Object.entries(journals)) {
    it(`is refused with an explanation and left unchanged ${name}`, async () => {
      const { store, disk } = await storeOf(journal);
      const { ok, detail, cure } = store.report();
      expect([ok, detail]).to.deep.equal([false, `Cannot read ${PATH}: format 2.`]);
      expect(cure).to.contain('A newer version of Trunnion wrote it: install that version, or move');
      expect(codeOf(() => store.current('chassis'))).to.equal('storage-failed');
      expect((await refusal(store.save('chassis', chassis))).cure).to.equal(cure);
      expect(disk.files()).to.deep.equal({ [PATH]: Buffer.from(journal) });
    });
  }
});

describe('a gains journal written by another program', () => {
  it('refuses a save of a unit that has reached the highest possible revision, but accepts a save of the other unit', async () => {
    const { store } = await storeOf(line(MAX_REVISION));
    expect((await refusal(store.save('chassis', chassis))).errno).to.equal('no number left');
    expect((await store.save('gimbal', defaultGains(unitNamed('gimbal')))).revision).to.equal(1);
  });

  const withKp = (kp: unknown) => line(2, { ...chassis, speed: { kp, ki: 0, kd: 0 } });
  for (const [what, unusable] of [
    ['an out-of-range revision', line(Number.MAX_SAFE_INTEGER)],
    ['the unusable gain `kp: 1e300`', withKp(1e300)],
    ['the unusable gain `kp: -1e39`', withKp(-1e39)],
    ['the unusable gain `kp: "much"`', withKp('much')],
  ] as const) {
    it(`is loaded, but a line with ${what} is skipped, and the next save follows the highest valid revision`, async () => {
      const { store, disk } = await storeOf(line(1) + unusable);
      expect(store.current('chassis')).to.deep.include({ revision: 1, gains: chassis });
      expect([store.report().ok, store.report().setAside.length]).to.deep.equal([true, 1]);
      await store.save('chassis', chassis);
      expect((await open(disk)).current('chassis')).to.deep.include({ revision: 2, gains: chassis });
    });
  }

  it('keeps only the later of two lines with the same revision, and a copy of the old file is kept', async () => {
    const journal = line(1) + line(2) + line(1, {});
    const { store, disk, text } = await storeOf(journal);
    const [kept = ''] = store.report().setAside;
    expect(disk.files()[`/state/${kept}`]?.toString()).to.equal(journal);
    expect(text()).to.equal(line(1, {}) + line(2));
  });

  it('keeps unknown members, loops and units, and is loaded with default gains for a missing loop', async () => {
    const triple = { kp: 1, ki: 1, kd: 1 };
    const journal =
      foreignLine({ revision: 1, time: 't', unit: 'chassis', gains: chassis, by: 'us', of: { of: 3 } }) +
      line(2, { ...chassis, tilt: { kf: 1 } }) +
      line(3, { speed: { ...triple, kff: 2 }, flaps: triple }) +
      foreignLine({ revision: 1, time: 't', unit: 'arm', gains: { elbow: { kp: 1e300 } } });
    const { store, text } = await storeOf(`${journal}torn`);
    const { speed, ...others } = store.current('chassis').gains;
    expect(speed).to.include(triple);
    expect(others).to.deep.equal({ angle: chassis.angle, position: chassis.position });
    expect(text()).to.equal(journal);
  });

  it('with 100,000 lines is read in more than 100 parts, so that other work can run in between', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) =>
      encodeEntry({ revision: index + 1, time: 't', unit: `unit ${index % 500}`, gains: {} }),
    );
    let [turns, whileReading] = [0, 0];
    const disk = new RecordingDisk({ [PATH]: Buffer.from(lines.join('')) });
    disk.interfere = async operation => {
      if (operation === 'read') turns = 0;
      // The folder is listed when all lines have been read.
      if (operation === 'list') whileReading = turns;
    };
    const opening = open(disk);
    while (whileReading === 0) {
      await settle(1);
      turns += 1;
    }
    // The store yields to the event loop once per thousand lines, on any machine.
    expect(whileReading).to.be.greaterThan(100);
    expect((await (await opening).save('chassis', chassis)).revision).to.equal(1);
  });
});

describe('a store of gains', () => {
  it('delays the start of the daemon by at most 2 s if the disk hangs, and loads the gains when the disk answers', async () => {
    const disk = new RecordingDisk({ [PATH]: Buffer.from(line(7)) });
    const clock = new ManualClock();
    const answerAgain = disk.hang();
    const opening = open(disk, clock);
    await clock.advance(2000);
    const store = await opening;
    expect(store.report().ok).to.equal(false);
    expect(codeOf(() => store.current('chassis'))).to.equal('storage-failed');
    answerAgain();
    await settle();
    expect(store.current('chassis').revision).to.equal(7);
  });

  it('does not load or write the journal until the store holds the file lock of the state folder', async () => {
    const disk = new RecordingDisk({ [PATH]: Buffer.from('torn') });
    const clock = new ManualClock();
    let refused: RobotError | undefined = new RobotError('storage-failed', {
      operation: 'lock',
      path: '/state',
      errno: 'EIO',
    });
    const hold = async () => {
      if (refused !== undefined) throw refused;
    };
    const store = await open(disk, clock, { ...noLock, hold });
    refused = new RobotError('state-in-use', { folder: '/state' });
    expect((await refusal(store.save('chassis', chassis))).errno).to.equal('in use');
    expect(codeOf(() => store.current('chassis'))).to.equal('storage-failed');
    expect(disk.operations).to.deep.equal([]);
    refused = undefined;
    await store.save('chassis', chassis);
    expect(store.report().ok).to.equal(true);
  });
});
