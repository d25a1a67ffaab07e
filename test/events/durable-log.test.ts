import { appendFile, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { DurableLog, LOG_FILE, OLD_LOG_FILE } from '../../src/events/durable-log.js';
import { EventLog } from '../../src/events/event-log.js';
import { parseLine, verifyLog } from '../../src/events/log-line.js';
import { recordStorage } from '../../src/events/storage-happenings.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** One run of a daemon: what it records is on the disk when this resolves. */
async function run(
  folder: string,
  record: (log: EventLog, durable: DurableLog, clock: ManualClock) => void | Promise<void>,
  { disk = realDisk, mostBytes = 1 << 20 }: { disk?: Disk; mostBytes?: number } = {},
): Promise<DurableLog> {
  const clock = new ManualClock();
  const runId = String(Math.random());
  const durable = new DurableLog({ disk, folder, clock, runId, isSynchronised: () => false, mostBytes });
  await durable.open();
  const log = new EventLog(clock, { runId, lastSeq: durable.lastSeq });
  log.recorded.add(event => durable.add(event));
  await record(log, durable, clock);
  await durable.close();
  log.close();
  return durable;
}

const acts = (count: number) => (log: EventLog) => {
  for (let index = 0; index < count; index += 1) log.record({ what: 'reset', detail: { index } });
};

describe('the durable log', () => {
  it('goes on over restarts, each line with the hash of the one before', () =>
    inTemporaryFolder(async folder => {
      for (let start = 0; start < 3; start += 1) await run(folder, acts(4));
      const content = await readFile(join(folder, LOG_FILE));
      const lines = content.toString().trimEnd().split('\n').map(parseLine);
      expect(lines.map(line => line?.seq)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(new Set(lines.map(line => line?.boot)).size).to.equal(3);
      expect(lines[0]).to.include({ synchronised: false, at: '2030-01-01T00:00:00.000Z' });
      expect(verifyLog(content)).to.deep.include({ ok: true, lines: 12, notes: [] });
    }));

  const left: Readonly<Record<string, (file: string, folder: string) => Promise<void>>> = {
    torn: file => appendFile(file, '{"seq":13,'),
    'begun anew, without a line': (file, folder) => rename(file, join(folder, OLD_LOG_FILE)),
  };
  for (const [how, damage] of Object.entries(left)) {
    it(`verifies after a run that could not read it when it began, and found it ${how}`, () =>
      inTemporaryFolder(async folder => {
        await run(folder, acts(12));
        const file = join(folder, LOG_FILE);
        await damage(file, folder);
        const clock = new ManualClock();
        const isSynchronised = () => false;
        const durable = new DurableLog({ disk: realDisk, folder, clock, runId: 'late', isSynchronised });
        const log = new EventLog(clock, { runId: 'late', lastSeq: durable.lastSeq });
        log.recorded.add(event => durable.add(event));
        acts(3)(log);
        await durable.close();
        log.close();
        expect(verifyLog(await readFile(file))).to.deep.include({ ok: true });
      }));
  }

  describe('of a disk that is too slow', () => {
    let disk: RecordingDisk;
    let clock: ManualClock;
    let durable: DurableLog;
    let log: EventLog;

    beforeEach(() => {
      disk = new RecordingDisk();
      clock = new ManualClock();
      const isSynchronised = () => false;
      durable = new DurableLog({ disk, folder: '/state', clock, runId: 'first', isSynchronised });
      log = new EventLog(clock, { runId: 'first' });
      log.recorded.add(event => durable.add(event));
    });
    afterEach(async () => {
      await durable.close();
      log.close();
    });

    it('is not waited for where it hangs at the start, and is written when it goes on', async () => {
      const answerAgain = disk.hang();
      const opened = durable.open();
      await clock.advance(2000);
      await opened;
      expect(durable.problem?.context.cure).to.include('too slow');
      acts(3)(log);
      answerAgain();
      await clock.advance(200);
      expect(durable.head?.seq).to.equal(3);
      acts(1)(log);
      await clock.advance(200);
      expect([durable.problem, durable.head?.seq]).to.deep.equal([undefined, 4]);
      expect(verifyLog(disk.files()[`/state/${LOG_FILE}`]!)).to.deep.include({ ok: true, lines: 4 });
    });

    it('says so when it hangs, and writes all at once when it goes on', async () => {
      await durable.open();
      const answerAgain = disk.hang();
      acts(1)(log);
      await clock.advance(500);
      expect(durable.problem).to.equal(undefined);
      for (let count = 0; count < 50; count += 1) {
        await clock.advance(100);
        acts(1)(log);
      }
      expect(durable.problem?.context).to.include({ operation: 'write', errno: 'slow' });
      const { length } = disk.operations;
      answerAgain();
      await clock.advance(200);
      expect(durable.head?.seq).to.equal(51);
      expect(disk.operations.length - length).to.be.lessThan(10);
      acts(1)(log);
      await clock.advance(200);
      expect(durable.problem).to.equal(undefined);
    });

    it('counts nothing as lost that reaches the medium after all', async () => {
      await durable.open();
      acts(2000)(log);
      const answerAgain = disk.hang();
      await clock.advance(500);
      acts(500)(log);
      answerAgain();
      await clock.advance(200);
      expect(durable.head?.seq).to.equal(2500);
      const content = disk.files()[`/state/${LOG_FILE}`]!;
      expect(verifyLog(content)).to.deep.include({ ok: true, lines: 2500 });
      expect(content.toString()).not.to.include('log-lost');
    });

    it('does not write for ever that each sync takes over a second', async () => {
      await durable.open();
      recordStorage({ log: durable }, log);
      disk.interfere = operation =>
        operation === 'sync' ? new Promise(resolve => clock.after(1200, resolve)) : Promise.resolve();
      acts(1)(log);
      for (let seconds = 0; seconds < 60; seconds += 1) await clock.advance(1000);
      expect(log.after(0).events.map(({ what }) => what)).to.deep.equal(['reset', 'storage-failed']);
      // All of it is on the medium.
      expect(durable.problem).to.equal(undefined);
      disk.interfere = async () => undefined;
      acts(1)(log);
      for (let seconds = 0; seconds < 10; seconds += 1) await clock.advance(1000);
      expect(log.after(2).events.map(({ what }) => what)).to.deep.equal(['reset', 'storage-works']);
    });
  });

  it('lets go of a file that cannot be synced', async () => {
    const disk = new RecordingDisk();
    const clock = new ManualClock();
    let open = 0;
    const openToAppend = disk.openToAppend.bind(disk);
    disk.openToAppend = async path => {
      const file = await openToAppend(path);
      open += 1;
      const sync = async () => {
        throw new RobotError('storage-failed', { operation: 'sync', path: '/state', errno: 'EIO' });
      };
      const close = async () => {
        open -= 1;
      };
      return { ...file, sync, close };
    };
    const runId = 'first';
    const durable = new DurableLog({ disk, folder: '/state', clock, runId, isSynchronised: () => false });
    await durable.open();
    await clock.advance(60_000);
    expect([durable.problem?.context.errno, open]).to.deep.equal(['EIO', 0]);
    await durable.close();
  });

  it('gives out the head of what was synced, and no other', () =>
    inTemporaryFolder(async folder => {
      let isFailing = false;
      const disk: Disk = {
        ...realDisk,
        openToAppend: async path => {
          const file = await realDisk.openToAppend(path);
          return {
            ...file,
            sync: async () => {
              if (isFailing) throw new RobotError('storage-failed', { operation: 'sync', path: '/state' });
              await file.sync();
            },
          };
        },
      };
      await run(
        folder,
        async (log, durable, clock) => {
          acts(2)(log);
          await clock.advance(200);
          await eventually(async () => durable.head?.seq === 2);
          isFailing = true;
          acts(2)(log);
          await clock.advance(200);
          await eventually(async () => durable.problem?.code === 'storage-failed');
          expect(durable.head?.seq).to.equal(2);
          isFailing = false;
          await clock.advance(3000);
          await eventually(async () => durable.head?.seq === 4);
        },
        { disk },
      );
      const content = await readFile(join(folder, LOG_FILE));
      expect(verifyLog(content)).to.deep.include({ ok: true, lines: 4 });
    }));

  it('mends a last line that a power cut tore, wherever it was cut, and notes it', () =>
    inTemporaryFolder(async folder => {
      const { head } = await run(folder, acts(2));
      const whole = await readFile(join(folder, LOG_FILE));
      const next = Buffer.from('{"seq":3,"t":0,"at":"2030"}');
      for (let cut = 1; cut < next.length; cut += 5) {
        await writeFile(join(folder, LOG_FILE), whole);
        await appendFile(join(folder, LOG_FILE), next.subarray(0, cut));
        expect(verifyLog(await readFile(join(folder, LOG_FILE)), head)).to.include({ ok: true });
        await run(folder, acts(1));
        const content = await readFile(join(folder, LOG_FILE));
        expect(verifyLog(content, head), `cut at ${cut}`).to.deep.include({ ok: true, lines: 4 });
        expect(content.toString()).to.include('"what":"log-repaired"');
      }
    }));

  it('goes on with its numbers and its notes where the disk was full at a start', () =>
    inTemporaryFolder(async folder => {
      await run(folder, acts(3));
      await appendFile(join(folder, LOG_FILE), '{"seq":');
      let isFull = true;
      const disk: Disk = {
        ...realDisk,
        create: async path => {
          if (isFull) throw new RobotError('storage-failed', { operation: 'create', path: '/state' });
          return realDisk.create(path);
        },
      };
      const log = async (events: EventLog, durable: DurableLog, clock: ManualClock) => {
        acts(2500)(events);
        await clock.advance(200);
        await eventually(async () => durable.problem?.code === 'storage-failed');
        isFull = false;
        await clock.advance(3000);
        await eventually(async () => durable.head?.seq === 2503);
      };
      await run(folder, log, { disk });
      const content = await readFile(join(folder, LOG_FILE));
      expect(verifyLog(content)).to.include({ ok: true });
      expect(content.toString()).to.match(/"what":"log-lost","detail":\{"events":500\}/);
      expect(content.toString()).to.include('"what":"log-repaired"');
    }));

  for (const [what, older, isFailing] of [
    ['with no older part', 1 << 20, false],
    ['with an older part', 400, false],
    ['where the first sync of that fails', 1 << 20, true],
  ] as const) {
    it(`goes on at once in a new file after its own was moved away, ${what}, and says so`, async () => {
      const disk = new RecordingDisk();
      const clock = new ManualClock();
      const isSynchronised = () => false;
      const options = { disk, folder: '/state', clock, runId: 'first', isSynchronised, mostBytes: older };
      const durable = new DurableLog(options);
      const log = new EventLog(clock, { runId: 'first' });
      log.recorded.add(event => durable.add(event));
      await durable.open();
      for (let count = 0; count < 4; count += 1) {
        acts(1)(log);
        await clock.advance(200);
      }
      await disk.rename(`/state/${LOG_FILE}`, '/state/moved');
      const problems: unknown[] = [];
      durable.changed.add(() => problems.push(durable.problem?.context.errno));
      // Of a file that is opened the first sync is that of the opening, the second that of what was appended to it.
      let syncs = -1;
      disk.interfere = async operation => {
        if (operation === 'openToAppend') syncs = 0;
        if (operation !== 'sync' || !isFailing || syncs < 0) return;
        syncs += 1;
        if (syncs < 2) return;
        disk.interfere = async () => undefined;
        throw new RobotError('storage-failed', { operation, path: '/state', errno: 'EIO' });
      };
      acts(1)(log);
      await clock.advance(isFailing ? 3000 : 200);
      expect(problems).to.deep.equal(isFailing ? ['moved', 'EIO', undefined] : ['moved', undefined]);
      acts(1)(log);
      // The end of the daemon, before its next look at what waits.
      await durable.close();
      log.close();
      const files = disk.files();
      const moved = files['/state/moved']!;
      const written = files[`/state/${LOG_FILE}`]!;
      expect(written.toString().match(/"seq":\d+/g)).to.deep.equal(['"seq":5', '"seq":6']);
      expect(verifyLog(Buffer.concat([moved, written]), durable.head)).to.include({ ok: true });
      // Nothing hides that a part is missing in between.
      const old = files[`/state/${OLD_LOG_FILE}`];
      expect(old !== undefined).to.equal(older < 1 << 20);
      if (old !== undefined) expect(verifyLog(Buffer.concat([old, written])).ok).to.equal(false);
    });
  }

  it('says once how many events were lost, though the sync of the line that says it fails', async () => {
    const disk = new RecordingDisk();
    const broken = new RobotError('storage-failed', { operation: 'sync', path: '/state', errno: 'EIO' });
    let isFull = true;
    // Of a file that is opened the first sync is that of the opening, the second that of what was appended to it.
    let syncs = 0;
    let failures = 0;
    disk.interfere = async operation => {
      if (operation === 'append' && isFull) throw broken;
      if (operation === 'openToAppend') syncs = 0;
      if (operation !== 'sync') return;
      syncs += 1;
      if (syncs < 2 || failures === 2) return;
      failures += 1;
      throw broken;
    };
    const clock = new ManualClock();
    const isSynchronised = () => false;
    const durable = new DurableLog({ disk, folder: '/state', clock, runId: 'first', isSynchronised });
    const log = new EventLog(clock, { runId: 'first' });
    log.recorded.add(event => durable.add(event));
    await durable.open();
    acts(2500)(log);
    isFull = false;
    await clock.advance(2000);
    expect([failures, durable.problem?.context.errno]).to.deep.equal([1, 'EIO']);
    acts(100)(log);
    for (let seconds = 0; seconds < 6; seconds += 1) await clock.advance(1000);
    await durable.close();
    log.close();
    const content = disk.files()[`/state/${LOG_FILE}`]!;
    expect(verifyLog(content)).to.include({ ok: true });
    const lines = content.toString().trimEnd().split('\n').map(parseLine);
    const lost = lines.flatMap(line => (line?.what === 'log-lost' ? [line.detail] : []));
    expect([failures, lost, lines.length]).to.deep.equal([2, [{ events: 500 }], 2101]);
  });

  it('says what is lost also after its file was moved away and put back', async () => {
    const disk = new RecordingDisk();
    const clock = new ManualClock();
    const isSynchronised = () => false;
    const durable = new DurableLog({ disk, folder: '/state', clock, runId: 'first', isSynchronised });
    const log = new EventLog(clock, { runId: 'first' });
    log.recorded.add(event => durable.add(event));
    await durable.open();
    const actsWritten = async (count: number) => {
      acts(count)(log);
      await clock.advance(200);
    };
    await actsWritten(300);
    await disk.rename(`/state/${LOG_FILE}`, '/state/moved');
    await actsWritten(1);
    await disk.rename('/state/moved', `/state/${LOG_FILE}`);
    await actsWritten(1);
    disk.interfere = async operation => {
      throw new RobotError('storage-failed', { operation, path: '/state', errno: 'EIO' });
    };
    acts(2200)(log);
    await clock.advance(3000);
    disk.interfere = async () => undefined;
    await clock.advance(3000);
    await durable.close();
    log.close();
    const lines = disk.files()[`/state/${LOG_FILE}`]!.toString().trimEnd().split('\n').map(parseLine);
    const lost = lines.flatMap(line => (line?.what === 'log-lost' ? [line.detail] : []));
    expect([lost, lines.length]).to.deep.equal([[{ events: 200 }], 300 + 1 + 1 + 2000]);
  });

  it('is bounded, and what was dropped is itself a line', () =>
    inTemporaryFolder(async folder => {
      for (let start = 0; start < 12; start += 1) await run(folder, acts(5), { mostBytes: 2000 });
      const [newer, older] = await Promise.all(
        [LOG_FILE, OLD_LOG_FILE].map(name => readFile(join(folder, name))),
      );
      expect(newer!.length).to.be.lessThan(4000);
      expect(older!.length).to.be.lessThan(4000);
      expect(verifyLog(Buffer.concat([older!, newer!]))).to.include({ ok: true });
      expect(`${older}${newer}`).to.match(/"what":"log-dropped","detail":\{"first":\d+,"last":\d+\}/);
    }));
});

describe('a log that somebody changed', () => {
  const made = (act: (content: Buffer, head: { seq: number; hash: string }, folder: string) => unknown) =>
    inTemporaryFolder(async folder => {
      const durable = await run(folder, acts(6));
      await act(await readFile(join(folder, LOG_FILE)), durable.head!, folder);
    });

  it('passes untouched', () =>
    made((content, head) => {
      expect(verifyLog(content, head)).to.include({ ok: true, lines: 6 });
    }));

  it('is found with any byte changed', () =>
    made((content, head) => {
      for (let at = 0; at < content.length; at += 1) {
        const changed = Buffer.from(content);
        changed[at] = (changed[at] ?? 0) ^ 0x01;
        expect(verifyLog(changed, head).ok, `byte ${at}`).to.equal(false);
      }
    }));

  it('is found with a byte changed that a text does not show', () =>
    inTemporaryFolder(async folder => {
      const { head } = await run(
        folder,
        log => void log.record({ what: 'tokens', detail: { names: '\ufffd' } }),
      );
      const content = await readFile(join(folder, LOG_FILE));
      const at = content.indexOf(Buffer.from('\ufffd'));
      const changed = Buffer.concat([content.subarray(0, at), Buffer.from([0x80]), content.subarray(at + 3)]);
      expect(changed.toString()).to.equal(content.toString());
      expect(verifyLog(content, head).ok).to.equal(true);
      expect(verifyLog(changed, head).ok).to.equal(false);
    }));

  it('is found with any line left out, and says where', () =>
    made((content, head) => {
      const lines = content.toString().trimEnd().split('\n');
      for (let left = 0; left < lines.length; left += 1) {
        const text = lines.filter((_, index) => index !== left).join('\n');
        const verdict = verifyLog(Buffer.from(`${text}\n`), head);
        expect(verdict.ok).to.equal(left === 0);
        if (!verdict.ok && left < lines.length - 1) expect(verdict.line).to.equal(left + 1);
      }
    }));

  it('is found with lines in another order', () =>
    made((content, head) => {
      const lines = content.toString().trimEnd().split('\n');
      [lines[2], lines[3]] = [lines[3]!, lines[2]!];
      expect(verifyLog(Buffer.from(`${lines.join('\n')}\n`), head)).to.include({ ok: false, line: 3 });
    }));

  it('is found when its end is cut off', () =>
    made(async (content, head, folder) => {
      const file = join(folder, LOG_FILE);
      await truncate(file, content.lastIndexOf('\n', content.length - 2) + 1);
      expect(verifyLog(await readFile(file)).ok).to.equal(true);
      expect(verifyLog(await readFile(file), head).ok).to.equal(false);
    }));

  it('is found when all of it is written anew', () =>
    made(async (_, head) => {
      await made(async rewritten => {
        expect(verifyLog(rewritten).ok).to.equal(true);
        expect(verifyLog(rewritten, head).ok).to.equal(false);
      });
    }));
});
