import { expect } from 'chai';
import { pino } from 'pino';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';
import { RobotError } from '../../src/core/errors.js';
import { Listeners } from '../../src/core/listeners.js';
import { recordEvents } from '../../src/events/event-recorder.js';
import { MemoryLog } from '../../src/events/memory-log.js';
import { failure, type RobotEvent } from '../../src/robot/robot-event.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';
import { ManualClock } from '../support/manual-clock.js';

describe('the log of the daemon on stdout', () => {
  let lines: Record<string, unknown>[];
  let clock: ManualClock;
  let eventLog: MemoryLog;
  let events: Listeners<RobotEvent>;
  let end: () => void;

  beforeEach(() => {
    lines = [];
    clock = new ManualClock();
    eventLog = new MemoryLog(clock);
    events = new Listeners<RobotEvent>();
    const write = (line: string) => {
      const { time, pid, hostname, ...rest } = JSON.parse(line);
      lines.push(rest);
    };
    end = recordEvents({ events }, eventLog, pino({}, { write }), clock);
  });
  afterEach(() => end());

  it('shows each event with its name and details, and each failure with its error code', () => {
    events.emit({ what: 'mode', unit: 'gimbal', detail: { before: 'manual', after: 'auto' } });
    events.emit({ unit: 'chassis', ...failure('offline', new RobotError('nack', { address: 33 })) });
    eventLog.record({ what: 'phase', detail: { before: 'none', after: 'pre' } });
    expect(lines).to.deep.equal([
      { level: 30, unit: 'gimbal', before: 'manual', after: 'auto', msg: 'mode' },
      { level: 40, unit: 'chassis', code: 'nack', address: 33, msg: 'offline' },
      { level: 30, before: 'none', after: 'pre', msg: 'phase' },
    ]);
    const recorded = eventLog.after(0).events.map(({ seq, t, at, ...event }) => event);
    expect(JSON.parse(JSON.stringify(recorded))).to.deep.equal([
      { what: 'mode', unit: 'gimbal', detail: { before: 'manual', after: 'auto' } },
      { what: 'offline', unit: 'chassis', detail: { code: 'nack' } },
      { what: 'phase', detail: { before: 'none', after: 'pre' } },
    ]);
  });

  it('omits events that record an act of a caller, because the request for that act already has its own line', () => {
    eventLog.record({ what: 'stop', who: 'desk', outcome: 'done' });
    expect(lines).to.deep.equal([]);
  });

  it('shows repeated warnings about an absent controller once a minute with their count, and the event log shows none of them', async () => {
    const nack = new RobotError('nack', { address: 32 });
    for (let second = 0; second < 90; second += 1) {
      for (let poll = 0; poll < 2; poll += 1)
        events.emit({ unit: 'gimbal', ...failure('poll-failed', nack) });
      await clock.advance(1000);
    }
    events.emit({ unit: 'chassis', ...failure('poll-failed', nack) });
    expect(lines.map(({ unit, msg, repeats }) => [unit, msg, repeats])).to.deep.equal([
      ['gimbal', 'poll-failed', undefined],
      ['gimbal', 'poll-failed', 119],
      ['gimbal', 'poll-failed', undefined],
      ['chassis', 'poll-failed', undefined],
    ]);
    expect(eventLog.after(0).events).to.deep.equal([]);
  });
});

describe('the event log of a daemon', () => {
  let daemon: ClockedDaemon;
  beforeEach(async () => {
    daemon = await ClockedDaemon.start();
  });
  afterEach(() => daemon.close());

  const statusOf = async (ask: string, body?: unknown) => (await daemon.ask({ ask, body })).status;
  /** The events of these names, each with its details. */
  const events = async (names: RegExp): Promise<string[]> =>
    (await daemon.bodyOf('GET /api/log')).events
      .filter(({ what }: { what: string }) => names.test(what))
      .map(({ what, detail }: { what: string; detail: object }) =>
        [what, ...Object.values(detail)].join(' '),
      );

  it('has a line for each file that cannot be written, and a line when the file can be written again', async () => {
    const gains = await daemon.bodyOf('GET /api/gimbal/pidconfig');
    expect(await statusOf('POST /api/gimbal/pidconfig', gains)).to.equal(200);
    expect(await events(/^storage-/)).to.deep.equal([]);
    daemon.diskFails(['append']);
    expect(await statusOf('POST /api/gimbal/pidconfig', gains)).to.equal(503);
    expect(await statusOf('POST /api/match/lock', { reason: 'inspection' })).to.equal(503);
    const files = ['gains', 'log', 'match'];
    expect((await events(/^storage-/)).sort()).to.deep.equal(
      files.map(file => `storage-failed ${file} append EIO`),
    );
    daemon.diskFails([]);
    await daemon.wait(3000);
    expect((await events(/^storage-works/)).sort()).to.deep.equal(files.map(file => `storage-works ${file}`));
    expect((await daemon.bodyOf('GET /api/status')).log).to.deep.equal({ ok: true });
  });

  it('names the copy that the daemon has made of a damaged `profiles.json`', async () => {
    daemon.put('profiles.json', '{');
    await daemon.bodyOf('GET /api/chassis/profiles');
    const [found = ''] = await events(/^set-aside/);
    expect(found).to.match(/^set-aside profiles\.json\.damaged-[0-9a-f]{16}$/);
    expect(String(daemon.files()[found.slice('set-aside '.length)])).to.equal('{');
  });

  it('has a line when the list of tokens changes, and a line when the file with the tokens is damaged', async () => {
    daemon.put('tokens.json', encodeTokens([{ name: 'desk', role: 'referee', hash: hashOf('secret') }]));
    await daemon.wait(1000);
    expect(await statusOf('GET /api/log')).to.equal(401);
    daemon.put('tokens.json', '');
    await daemon.wait(1000);
    expect(await events(/^tokens/)).to.deep.equal(['tokens closed desk', 'tokens unavailable ']);
    expect((await events(/^storage-failed/)).join()).to.include('storage-failed tokens');
  });

  it('refuses a request for its head (newest line on the disk) as “storage-failed” if the disk has failed since the daemon started', async () => {
    await daemon.close();
    daemon = await ClockedDaemon.start({ diskFails: ['append'] });
    const { status, code, detail } = await daemon.bodyOf('GET /api/log/head');
    expect([status, code]).to.deep.equal([503, 'storage-failed']);
    expect(detail).to.contain('could not be kept on disk');
  });
});
