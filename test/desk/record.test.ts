import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { sha256 } from '../../src/core/sha256.js';
import { matchRecords, recordName } from '../../src/desk/record.js';
import { type Ask, type DeskState, RobotWish, Seen, wishOf } from '../../src/desk/state.js';
import { keptLines, take } from '../../src/desk/take.js';
import { timelineOf } from '../../src/desk/timeline.js';
import { verifyRecord } from '../../src/desk/verify.js';
import { MemoryLog } from '../../src/events/memory-log.js';
import { runOn } from '../events/log-bench.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { NO_MATCH_STATUS } from '../support/status.js';
import { WANTED } from './wanted.js';

const FOLDER = '/records';

/** The lines of a robot's log, and the hash of each. */
async function robotLines(count: number, phases: readonly string[] = []) {
  const disk = new RecordingDisk();
  await runOn(disk, 'a', run => {
    run.resets(count);
    for (const after of phases) run.log.record({ what: 'phase', detail: { before: null, after } });
  });
  const text = Object.values(disk.files()).map(String).join('');
  const lines = text.split('\n').slice(0, -1);
  return lines.map(line => ({ bytes: Buffer.from(`${line}\n`), hash: sha256(line) }));
}

const sealed = (path: string) => /^\/records\/final-1-[0-9a-f]{16}\//.test(path);

describe('a match record:', () => {
  let disk: RecordingDisk;
  let clock: ManualClock;
  let records: ReturnType<typeof matchRecords>;
  let log: MemoryLog;
  beforeEach(async () => {
    disk = new RecordingDisk();
    // The disk of the tests knows files, and a record is renamed as a folder.
    disk.rename = async (from, to) => {
      for (const [path, content] of Object.entries(disk.files()))
        if (path.startsWith(`${from}/`)) {
          disk.put(path.replace(from, to), content);
          await disk.remove(path);
        }
    };
    clock = new ManualClock();
    records = matchRecords({ disk, clock, folder: FOLDER, runId: 'r' });
    log = new MemoryLog(clock);
    log.recorded.add(({ event }) => records.add(event));
  });
  const head = (hash: string, seq: number) =>
    log.record({
      what: 'head',
      detail: { robot: 'Red 1', seq, hash, robotT: clock.nowMs() / 1000 - 98, halfRoundTripMs: 0 },
    });
  /** Ends the record after a second. Returns its folder. */
  const seal = async () => {
    await clock.advance(1000);
    await clock.during(records.seal('final-1'));
    const path = Object.keys(disk.files()).find(name => name.startsWith(FOLDER)) ?? '';
    return path.split('/').slice(0, 3).join('/');
  };
  /** Records a match with these lines of a robot. Returns the folder. */
  const record = async (count: number, phases?: readonly string[]) => {
    const lines = await robotLines(count, phases);
    await clock.during(records.begin('final-1'));
    for (const [index, { bytes, hash }] of lines.entries()) {
      void records.keep({ robot: 'Red 1', bytes, follows: true });
      head(hash, index + 1);
    }
    return { folder: await seal(), lines };
  };
  const robots = async (folder: string) =>
    (await verifyRecord(disk, folder)).map(({ of, is }) => `${of} ${is}`);
  const file = (folder: string) => `${folder}/robots/Red%201.1.jsonl`;

  it('if nothing was changed, the folder name ends in a hash, and “trunnion-desk verify” reports “whole”', async () => {
    const { folder } = await record(5);
    expect(folder).to.match(/^\/records\/final-1-[0-9a-f]{16}$/);
    expect(await robots(folder)).to.deep.equal(['desk whole', 'Red 1 whole']);
  });

  it("if the last lines of a robot's log were removed, “trunnion-desk verify” reports “changed” for the folder and “missing” for that robot", async () => {
    const { folder, lines } = await record(5);
    disk.put(file(folder), Buffer.concat(lines.slice(0, 3).map(({ bytes }) => bytes)));
    expect(await robots(folder)).to.deep.equal(['folder changed', 'desk whole', 'Red 1 missing']);
  });

  it("if a line of a robot's log was altered, “trunnion-desk verify” reports “changed” for that robot", async () => {
    const { folder, lines } = await record(5);
    const bytes = Buffer.concat(lines.map(({ bytes }) => bytes));
    disk.put(file(folder), Buffer.from(bytes.toString().replace('"index":2', '"index":7')));
    expect(await robots(folder)).to.include('Red 1 changed');
  });

  it("if the desk was killed while it stored a line of a robot's log, and later stored that line again, “trunnion-desk verify” reports “whole” for that robot", async () => {
    const lines = await robotLines(4);
    const bytes = (from: number, to: number) => Buffer.concat(lines.slice(from, to).map(one => one.bytes));
    await clock.during(records.begin('final-1'));
    disk.put(file('/records/final-1'), Buffer.concat([bytes(0, 2), bytes(2, 3).subarray(0, 20)]));
    void records.keep({ robot: 'Red 1', bytes: bytes(1, 3), follows: true });
    void records.keep({ robot: 'Red 1', bytes: bytes(3, 4), follows: true });
    head(lines[3]!.hash, 4);
    await clock.advance(1000);
    expect(await robots('/records/final-1')).to.include('Red 1 whole');
  });

  for (const [what, again, is] of [
    [
      "if the disk failed to store a line of a robot's log, but the robot sent that line again, “trunnion-desk verify” reports “whole” for that robot",
      true,
      'whole',
    ],
    [
      "if the disk failed to store a line of a robot's log, and the robot did not send that line again, “trunnion-desk verify” reports “missing”, not “changed”",
      false,
      'missing',
    ],
  ] as const)
    it(what, async () => {
      const lines = await robotLines(3);
      await clock.during(records.begin('final-1'));
      for (const [index, { bytes, hash }] of lines.entries()) {
        const keep = (part: Buffer) =>
          clock.during(records.keep({ robot: 'Red 1', bytes: part, follows: true }));
        disk.fail(...(index === 1 ? (['sync'] as const) : []));
        for (let attempt = 0; attempt < (index === 1 ? 3 : 1); attempt += 1)
          expect(await keep(index === 1 ? bytes.subarray(0, 20) : bytes)).to.equal(index !== 1);
        disk.fail();
        if (index === 1 && again) await keep(bytes);
        head(hash, index + 1);
      }
      await clock.advance(5000);
      expect(await robots('/records/final-1')).to.include(`Red 1 ${is}`);
      const names = Object.keys(disk.files()).filter(path => path.includes('Red'));
      expect(names.map(path => path.slice(-7, -6))).to.deep.equal(['1', '2']);
    });

  it('if the record ends while the disk fails, its folder name gets the hash within 11 s after the disk works again', async () => {
    await clock.during(records.begin('final-1'));
    disk.fail('sync');
    log.record({ what: 'start' });
    await clock.during(records.seal('final-1'));
    expect([records.isOk, Object.keys(disk.files()).some(sealed)]).to.deep.equal([false, false]);
    disk.fail();
    await clock.advance(11_000);
    expect([records.isOk, Object.keys(disk.files()).every(sealed)]).to.deep.equal([true, true]);
  });

  it('if the new folder name cannot be synced, the record counts as stored only after the disk works again, at most 11 s later', async () => {
    await clock.during(records.begin('final-1'));
    log.record({ what: 'start' });
    await clock.advance(1000);
    disk.fail('syncFolder');
    await clock.during(records.seal('final-1'));
    expect([records.isOk, Object.keys(disk.files()).every(sealed)]).to.deep.equal([false, true]);
    disk.fail();
    await clock.advance(11_000);
    expect([records.isOk, Object.keys(disk.files()).every(sealed)]).to.deep.equal([true, true]);
  });

  for (const [phases, is] of [
    [['pre', 'auto', 'teleop'], 'missing'],
    [['pre'], 'missing'],
    [['pre', 'auto', 'pause'], 'missing'],
    [['pre', 'teleop', 'ended'], 'whole'],
    [['pre', 'teleop', 'ended', 'none'], 'whole'],
  ] as const)
    it(`if the log of a robot stops in phase “${phases.at(-1)}”, ${is === 'whole' ? 'after' : 'before'} the end of the match, “trunnion-desk verify” reports “${is}” for that robot`, async () => {
      const { folder } = await record(2, phases);
      expect(await robots(folder)).to.deep.equal(['desk whole', `Red 1 ${is}`]);
    });

  it('if the desk got no line from a robot of the match, “trunnion-desk verify” reports “missing” for that robot', async () => {
    await clock.during(records.begin('final-1'));
    for (const robot of ['Red 1', 'Red 2']) log.record({ what: 'in-match', detail: { robot } });
    const [line] = await robotLines(1);
    void records.keep({ robot: 'Red 1', bytes: line!.bytes, follows: true });
    await clock.advance(1000);
    const verdicts = await robots('/records/final-1');
    expect(verdicts).to.include('Red 1 whole').and.include('Red 2 missing');
  });

  it('if the folder has no files, “trunnion-desk verify” reports “missing”', async () => {
    expect(await robots('/records/other')).to.deep.equal(['folder missing', 'desk missing']);
  });

  it('its folder name is valid even if the id of the match is long or has characters that are forbidden in file names', () => {
    const at = new Date(Date.UTC(2030, 0, 1));
    expect(recordName('a/b \ud800', at)).to.equal('a%2Fb%20\ufffd-20300101T000000000Z');
    for (const id of ['\u6bd4'.repeat(64), '\u{1f916}'.repeat(64)])
      expect(Buffer.byteLength(recordName(id, at)), id).to.be.within(200, 255 - 17);
  });

  it("if the last line of a robot's log exists in two different versions, “trunnion-desk verify” reports “changed” for that robot", async () => {
    const { folder, lines } = await record(3);
    const other = String(lines[2]!.bytes).replace('"index":2', '"index":7');
    disk.put(file(folder).replace('.1.', '.2.'), Buffer.from(other));
    expect(await robots(folder)).to.include('Red 1 changed');
  });

  it('if the oldest lines of the desk log were dropped because the record grew too large, “trunnion-desk verify” reports “missing” for the desk', async () => {
    await clock.during(records.begin('final-1'));
    for (let index = 0; index < 9; index += 1) {
      for (let count = 0; count < 8; count += 1)
        log.record({ what: 'press', detail: { button: '/lock', reason: 'x'.repeat(130_000) } });
      await clock.advance(1000);
    }
    expect(await robots(await seal())).to.deep.equal(['desk missing']);
  });

  it("if the first lines of a robot's log are missing, “trunnion-desk verify” reports “missing” for that robot, unless the button “Accept” was pressed for its new board", async () => {
    for (const isReplaced of [false, true]) {
      const lines = await robotLines(4);
      await clock.during(records.begin('final-1'));
      for (const [index, { bytes, hash }] of lines.entries()) {
        if (index >= 2) void records.keep({ robot: 'Red 1', bytes, follows: true });
        if (index === 2 && isReplaced)
          log.record({
            what: 'robots accept',
            who: 'referee',
            outcome: 'done',
            detail: { robot: 'Red 1', id: 'a' },
          });
        head(hash, index + 1);
      }
      expect(await robots(await seal())).to.deep.equal([
        'desk whole',
        `Red 1 ${isReplaced ? 'whole' : 'missing'}`,
      ]);
      for (const name of Object.keys(disk.files())) await disk.remove(name);
    }
  });

  it('if presses of buttons were lost because the disk failed, “trunnion-desk verify” reports “missing” for the desk', async () => {
    await clock.during(records.begin('final-1'));
    disk.fail('append', 'sync');
    for (let count = 0; count < 2500; count += 1) log.record({ what: 'press' });
    await clock.advance(1000);
    disk.fail();
    await clock.advance(5000);
    const verdicts = await clock.during(verifyRecord(disk, await seal()));
    expect(verdicts.map(({ of, is, why }) => `${of} ${is} ${why}`).join()).to.match(
      /^desk missing lines were lost, .*: \d+\./,
    );
  });

  it('if the folder with the logs of the robots is gone, “trunnion-desk verify” reports “missing”, not “changed”, for each robot', async () => {
    const { folder } = await record(3);
    await disk.remove(file(folder));
    disk.list = async path => {
      if (!path.endsWith('/robots')) return RecordingDisk.prototype.list.call(disk, path);
      throw new RobotError('storage-failed', { operation: 'list', path, errno: 'ENOENT' });
    };
    expect(await robots(folder)).to.deep.equal(['folder changed', 'desk whole', 'Red 1 missing']);
  });

  it('if the log of the desk was altered, “trunnion-desk verify” reports “changed” for the desk', async () => {
    const { folder } = await record(3);
    const name = Object.keys(disk.files()).find(path => /events-/.test(path)) ?? '';
    disk.put(name, Buffer.from(String(disk.files()[name]).replace('"head"', '"heat"')));
    disk.put(`${folder}/robots/%zz.1.jsonl`, Buffer.from('of nobody'));
    expect(await robots(folder)).to.include('desk changed');
  });

  it('“verify --timeline” prints the times of the desk, even if the clock of the robot shows another time', async () => {
    const { folder } = await record(3);
    const printed = (await timelineOf(disk, folder)).split('\n');
    const resets = printed.filter(line => line.includes('Red 1  reset'));
    expect(resets.length).to.equal(3);
    for (const line of resets) expect(Number.parseFloat(line)).to.be.closeTo(100, 1);
  });

  it("“verify --timeline” converts the times in a robot's log to desk times by the fastest answers of that robot, not by slow ones", async () => {
    const lines = await robotLines(3);
    await clock.during(records.begin('final-1'));
    await clock.advance(5000);
    for (const [index, { bytes, hash }] of lines.entries()) {
      void records.keep({ robot: 'Red 1', bytes, follows: true });
      const halfRoundTripMs = index === 0 ? 1500 : 5;
      const robotT = (clock.nowMs() - 2 * halfRoundTripMs) / 1000 + 1;
      log.record({ what: 'head', detail: { robot: 'Red 1', seq: index + 1, hash, robotT, halfRoundTripMs } });
    }
    const printed = (await timelineOf(disk, await seal())).split('\n');
    const times = printed.filter(line => line.includes('Red 1  reset')).map(Number.parseFloat);
    const robotS = lines.map(({ bytes }) => JSON.parse(String(bytes)).t);
    expect(times).to.have.length(3);
    for (const [index, time] of times.entries()) expect(time).to.be.closeTo(robotS[index] - 1, 0.02);
  });

  it('if the desk is killed before it adds the hash to the folder name, the next run of the desk adds it, unless the match still runs', async () => {
    const at = new Date('2026-03-01T10:00:00Z');
    const [left, current] = [recordName('final', at), recordName('semifinal', at)];
    for (const name of [left, current])
      disk.put(`${FOLDER}/${name}/robots/Red%201.1.jsonl`, Buffer.from('{}'));
    disk.list = async path =>
      path === FOLDER ? [left, current] : RecordingDisk.prototype.list.call(disk, path);
    await clock.during(records.sealLeft(current));
    const folders = Object.keys(disk.files()).map(path => path.split('/')[2]);
    expect(folders.filter(name => name === current)).to.have.length(1);
    expect(folders.find(name => name?.startsWith(left))).to.match(/Z-[0-9a-f]{16}$/);
  });

  it('if the record begins on a full disk, it is stored and gets its hash after the disk has room again', async () => {
    let isMade = false;
    let isFull = true;
    disk.interfere = async operation => {
      const isAllowed = operation === 'makeFolder' ? !isFull : isMade;
      if (!isAllowed) throw new RobotError('storage-failed', { operation, path: FOLDER, errno: 'ENOENT' });
      isMade = true;
    };
    await clock.during(records.begin('final-1'));
    log.record({ what: 'start' });
    await clock.advance(3000);
    expect(records.isOk).to.equal(false);
    isFull = false;
    const [line] = await robotLines(1);
    const lines = { robot: 'Red 1', bytes: line!.bytes, follows: false };
    expect(await clock.during(records.keep(lines))).to.equal(true);
    await clock.advance(3000);
    expect(records.isOk).to.equal(true);
    await clock.during(records.seal('final-1'));
    const paths = Object.keys(disk.files());
    expect([paths.length, paths.every(sealed), records.isOk]).to.deep.equal([2, true, true]);
  });

  it('even if the disk failed during the whole match, the record counts as stored within 11 s after the disk works again', async () => {
    disk.fail('makeFolder', 'create', 'list');
    await clock.during(records.begin('final-1'));
    await clock.during(records.seal('final-1'));
    expect(records.isOk).to.equal(false);
    let isMade = false;
    disk.interfere = async operation => {
      isMade ||= operation === 'makeFolder';
      if (!isMade) throw new RobotError('storage-failed', { operation, path: FOLDER, errno: 'ENOENT' });
    };
    await clock.advance(11_000);
    expect(records.isOk).to.equal(true);
  });

  it('while a slow disk is still finishing the record of the previous match, the new record always counts as stored', async () => {
    await clock.during(records.begin('final-1'));
    log.record({ what: 'start' });
    await clock.advance(500);
    let isMade = false;
    disk.interfere = async operation => {
      if (operation === 'read') await new Promise<void>(resolve => clock.after(150, resolve));
      isMade ||= operation === 'makeFolder';
    };
    disk.list = async path => {
      if (path === `${FOLDER}/final-2` && !isMade)
        throw new RobotError('storage-failed', { operation: 'list', path, errno: 'ENOENT' });
      return RecordingDisk.prototype.list.call(disk, path);
    };
    const begun = records.begin('final-2');
    log.record({ what: 'start' });
    for (let ms = 0; ms < 1000; ms += 10) {
      await clock.advance(10);
      expect(records.isOk).to.equal(true);
    }
    await begun;
  });

  it('if the disk fails, the record counts as stored only after the disk works again, at most 5 s later', async () => {
    await clock.during(records.begin('final-1'));
    disk.fail('sync');
    log.record({ what: 'start' });
    await clock.advance(500);
    expect(records.isOk).to.equal(false);
    disk.fail();
    await clock.advance(5000);
    expect(records.isOk).to.equal(true);
  });
});

describe("the desk's copy of a robot log", () => {
  const state = (hash: string): DeskState => ({
    wanted: { ...WANTED, robots: { 'Red 1': { ...new RobotWish(), head: { seq: 1, hash } } } },
    robots: [],
    seen: new Map([['Red 1', new Seen()]]),
    pageMs: 0,
    plans: [],
  });
  const ask = (of: string | undefined): Ask => ({
    robot: 'Red 1',
    kind: 'lines',
    path: '',
    isFresh: false,
    withToken: true,
    sentMs: 0,
    ...(of !== undefined && { of }),
  });

  const rest = (lines: Awaited<ReturnType<typeof robotLines>>, from: number) =>
    Buffer.concat(lines.slice(from).map(({ bytes }) => bytes));

  it('begins a new file and gets the fault “contradicts” only if the robot does not have the line that the desk copied last', async () => {
    const lines = await robotLines(4);
    const [first] = lines;
    const other = state('f'.repeat(64));
    take(other, ask('f'.repeat(64)), { status: 404, body: { code: 'unknown-head', detail: '' } }, 0);
    // Both logs stay: the new one is asked from its oldest line on, into a file of its own.
    const anew = take(other, ask(undefined), { status: 200, body: rest(lines, 0) }, 0);
    expect(wishOf(other.wanted, 'Red 1').logFault?.what).to.equal('contradicts');
    const head = { seq: 4, hash: lines[3]!.hash };
    expect(anew).to.deep.include({ robot: 'Red 1', bytes: rest(lines, 0), follows: false, head });
    const desk = state(first!.hash);
    const kept = take(desk, ask(first!.hash), { status: 200, body: rest(lines, 1) }, 0);
    expect([kept?.follows, wishOf(desk.wanted, 'Red 1').logFault]).to.deep.equal([true, null]);
  });

  it('gets the fault “contradicts” if a line does not follow the one before, but keeps all lines as the robot sent them', async () => {
    const [first, second, third, fourth] = (await robotLines(4)).map(({ bytes }) => String(bytes));
    const altered = third!.replace('index', 'indey');
    for (const bytes of [
      [third, fourth],
      [second, altered, fourth],
      [second, 'no line\n', fourth],
    ]) {
      const desk = state(sha256(first!.trimEnd()));
      const body = Buffer.from(bytes.join(''));
      const kept = take(desk, ask(sha256(first!.trimEnd())), { status: 200, body }, 0);
      expect(wishOf(desk.wanted, 'Red 1').logFault?.what).to.equal('contradicts');
      expect(kept).to.deep.include({
        bytes: body,
        follows: true,
        head: { seq: 4, hash: sha256(fourth!.trimEnd()) },
      });
      keptLines(desk, kept!, true);
      expect(desk.wanted.robots['Red 1']?.head?.seq).to.equal(4);
      expect(desk.seen.get('Red 1')?.isFromOldest).to.equal(false);
    }
  });

  it('begins a new file if the desk has only just learned the head (newest line) of that log, and adds later lines to the same file', async () => {
    const lines = await robotLines(4);
    const desk = state('');
    desk.wanted = { ...desk.wanted, robots: { 'Red 1': new RobotWish() } };
    const head = { seq: 1, hash: lines[0]!.hash };
    const body = { ...NO_MATCH_STATUS, t: 1, head };
    take(desk, { ...ask(undefined), kind: 'match' }, { status: 200, body }, 0);
    for (const [from, follows] of [
      [1, false],
      [2, true],
    ] as const) {
      const answer = { status: 200, body: rest(lines, from).subarray(0, lines[from]!.bytes.length) };
      const kept = take(desk, ask(lines[from - 1]!.hash), answer, 0);
      expect(kept?.follows).to.equal(follows);
      keptLines(desk, kept!, true);
    }
  });

  it('gets the fault “lines missing”, not “contradicts”, if the robot has already deleted the lines that should come next', async () => {
    const lines = await robotLines(4);
    const desk = state('f'.repeat(64));
    take(desk, ask('f'.repeat(64)), { status: 404, body: { code: 'unknown-head', detail: '' } }, 0);
    const kept = take(desk, ask(undefined), { status: 200, body: rest(lines, 2) }, 0);
    expect(wishOf(desk.wanted, 'Red 1').logFault?.what).to.equal('lines-missing');
    expect([kept?.bytes, kept?.follows]).to.deep.equal([rest(lines, 2), false]);
  });

  it('makes the desk ask for the same lines again until the disk has stored them', async () => {
    const lines = await robotLines(2);
    const desk = state(lines[0]!.hash);
    for (const isKept of [false, true]) {
      const kept = take(desk, ask(lines[0]!.hash), { status: 200, body: rest(lines, 1) }, 0);
      expect(desk.wanted.robots['Red 1']?.head?.hash).to.equal(lines[0]!.hash);
      keptLines(desk, kept!, isKept);
    }
    expect(desk.wanted.robots['Red 1']?.head).to.deep.equal({ seq: 2, hash: lines[1]!.hash });
  });
});
