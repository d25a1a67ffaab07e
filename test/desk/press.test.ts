import { expect } from 'chai';
import { pino } from 'pino';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';
import { RobotError } from '../../src/core/errors.js';
import { sha256 } from '../../src/core/sha256.js';
import type { RobotClient } from '../../src/desk/client.js';
import { Desk } from '../../src/desk/desk.js';
import { lockAll, unlockAll } from '../../src/desk/lock-presses.js';
import { endMatch, loadMatch, releaseMatch } from '../../src/desk/match-presses.js';
import type { Press } from '../../src/desk/press.js';
import { type DeskParts, startDesk } from '../../src/desk/start.js';
import { type Ask, type DeskState, RobotWish, wishOf } from '../../src/desk/state.js';
import type { Outcome } from '../../src/desk/take.js';
import type { NewEvent } from '../../src/schemas/log.js';
import { realDisk } from '../../src/storage/disk.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { outcomeOf } from '../support/code-of.js';
import { call, inTemporaryFolder } from '../support/daemon.js';
import { noLock } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { NO_MATCH_STATUS } from '../support/status.js';
import { PLAYING, WANTED } from './wanted.js';

type PressAct = (state: DeskState, press: Press) => void;

const ROBOTS = [{ name: 'Red 1', address: 'http://red-1', token: 'secret-token' }];
/** A match without robots. */
const PLAN = { id: 'final', robots: [], autoS: 0, teleopS: 10 };

function made(parts: Partial<ConstructorParameters<typeof Desk>[0]> = {}) {
  const clock = new ManualClock();
  const recorded: NewEvent[] = [];
  const desk = new Desk({
    clock,
    wanted: WANTED,
    robots: [],
    plans: [],
    pauseWithoutPageMs: 0,
    send: async () => ({ failure: 'none' }),
    save: () => undefined,
    record: event => recorded.push(event),
    keep: async () => true,
    ...parts,
  });
  return { clock, desk, recorded };
}

type Serving = Partial<
  Omit<DeskParts, 'file' | 'client'> &
    Pick<DeskParts['file'], 'state' | 'robots' | 'plans'> &
    Pick<RobotClient, 'send'>
>;

const running = new Set<() => Promise<void>>();
afterEach(async () => {
  for (const close of running) await close();
});

const unanswered = async (): Promise<Outcome> => ({ failure: 'none' });

/** A desk that serves its page until the test ends. By default no robot of the field answers. */
async function served({
  state = '/state',
  robots = [],
  plans = [],
  send = unanswered,
  ...parts
}: Serving = {}) {
  const clock = new ManualClock();
  const desk = await startDesk({
    file: { host: '127.0.0.1', port: 0, state, allowedHosts: [], pauseWithoutPageMs: 0, robots, plans },
    log: pino({ level: 'silent' }),
    clock,
    disk: new RecordingDisk(),
    lock: noLock,
    ...parts,
    client: { send, close: () => undefined },
  });
  const close = async () => {
    running.delete(close);
    await Promise.all([desk.close(), clock.advance(20_000)]);
  };
  running.add(close);
  return {
    clock,
    close,
    desk: desk.desk,
    state: desk.desk.state,
    get: (path: string) => call(desk.url, 'GET', path),
    post: (path: string, body: object, headers = {}) => call(desk.url, 'POST', path, body, headers),
  };
}

const MATCH = { ...PLAYING, robots: [], autoS: 0, teleopS: 10, sinceMs: 0, endsAtMs: 10_000 };

describe('a desk that pauses a match after 5 s without a request from a page', () => {
  it('also pauses the match if the desk itself was frozen for 30 s, even if a page asks right after the freeze', async () => {
    const { clock, desk } = made({ wanted: { ...WANTED, match: MATCH }, pauseWithoutPageMs: 5000 });
    desk.pageAnswered();
    await clock.advance(30_000);
    desk.pageAnswered();
    expect(desk.state.wanted.match).to.deep.include({ phase: 'pause', interrupted: 'teleop', leftS: 5 });
  });
});

describe('two pages that ask a desk for its status just before LOCK ALL is pressed', () => {
  it('get the same answer, which already shows the lock', async () => {
    const { clock, state, get, post } = await served();
    const views = [1, 2].map(() => get('/api/status?page=true'));
    await post('/api/lock', { press: 'P1' });
    await get('/api/status');
    await clock.advance(25);
    const [one, other] = await Promise.all(views);
    expect(one?.body.lock).to.include({ id: state.wanted.lock?.id });
    expect(other?.text).to.equal(one?.text);
  });
});

describe('a press of “Release” with an expiry time (`notAfterT`)', () => {
  it('releases no robot after that time, even if the desk has read the press less than 1 s before that time', async () => {
    const { state, post } = await served({ robots: ROBOTS });
    state.wanted = { ...state.wanted, match: { ...PLAYING, phase: 'ended' } };
    const release = async (notAfterT: number) => {
      const { status } = await post('/api/match/release', { press: 'P1', notAfterT });
      return [status, state.wanted.match?.phase, state.wanted.match?.untilMs];
    };
    // Not every robot could be asked twice.
    expect(await release(0.29)).to.deep.equal([409, 'ended', PLAYING.untilMs]);
    expect(await release(0.4)).to.deep.equal([200, 'none', 400]);
  });
});

describe('a press of “End” for an earlier match', () => {
  it('is refused and does not end the match that is loaded now', async () => {
    const { state, post } = await served();
    state.wanted = { ...state.wanted, match: { ...MATCH, phase: 'pause', endsAtMs: null } };
    const end = (record: string) => post('/api/match/end', { press: record, record });
    const { status, body } = await end('semi-1');
    expect(status).to.equal(409);
    expect(body.code).to.equal('not-ready');
    expect(state.wanted.match?.phase).to.equal('pause');
    expect((await end('final-1')).status).to.equal(200);
    expect(state.wanted.match?.phase).to.equal('ended');
  });
});

describe('if the list of tokens of a running desk becomes damaged, the desk', () => {
  it('permits no match start and no unlock, not even after the damaged list is deleted', async () => {
    const disk = new RecordingDisk();
    const { clock, state } = await served({ disk });
    expect(state.wanted.permits).to.equal(true);
    disk.put('/state/tokens.json', Buffer.from('garbage'));
    await clock.advance(1000);
    expect(state.wanted.permits).to.equal(false);
    await disk.remove('/state/tokens.json');
    await clock.advance(1000);
    expect(state.wanted.permits).to.equal(false);
  });

  it('refuses “Take over” until the list is repaired, and permits starts and unlocks only after “Take over”', async () => {
    const disk = new RecordingDisk();
    const { clock, state, post } = await served({ disk });
    const takeOver = async () => {
      const token = { authorization: 'Bearer secret' };
      const { status } = await post('/api/takeover', { press: 'P1' }, token);
      return [status, state.wanted.permits];
    };
    disk.put('/state/tokens.json', Buffer.from('garbage'));
    await clock.advance(1000);
    expect(await takeOver()).to.deep.equal([503, false]);
    const tokens = [{ name: 'tablet', role: 'referee', hash: hashOf('secret') }] as const;
    disk.put('/state/tokens.json', encodeTokens(tokens));
    await clock.advance(1000);
    expect(state.wanted.permits).to.equal(false);
    expect(await takeOver()).to.deep.equal([200, true]);
    await clock.advance(1000);
    expect(state.wanted.permits).to.equal(true);
  });
});

describe('if a desk could not read its list of tokens at its start, the desk', () => {
  it('permits starts and unlocks as soon as the list can be read, without a press of “Take over”', async () => {
    const disk = new RecordingDisk();
    const failing = disk.read.bind(disk);
    let isFailing = true;
    disk.read = async path => {
      if (isFailing && path.endsWith('tokens.json'))
        throw new RobotError('storage-failed', { operation: 'read', path, errno: 'EIO' });
      return failing(path);
    };
    const { clock, state, get } = await served({ disk });
    const problems = async () => (await get('/api/status')).body.problems.join();
    expect(await problems()).to.include('The list of tokens cannot be read');
    isFailing = false;
    await clock.advance(2000);
    expect(await problems()).not.to.include('The list of tokens cannot be read');
    expect(state.wanted.permits).to.equal(true);
  });
});

describe('a button press that a desk receives', () => {
  it('takes effect only once, even if the same request arrives again after another button press', () => {
    const { desk } = made();
    const press = { id: '1', by: 'referee' };
    const lock = () => desk.press('/lock', press, (state, made) => lockAll.act(state, made, {}));
    const unlock = () => desk.press('/unlock', press, (state, made) => unlockAll.act(state, made, {}));
    lock();
    unlock();
    expect(desk.state.wanted.lock).to.equal(null);
    lock();
    expect(desk.state.wanted.lock).to.equal(null);
  });

  it('makes the desk record the end of the match if the time of teleop is already over', async () => {
    const { clock, desk, recorded } = made({ wanted: { ...WANTED, match: MATCH } });
    await clock.advance(10_001);
    desk.press('/lock', { id: '1', by: 'referee' }, (state, made) => lockAll.act(state, made, {}));
    expect(recorded.map(({ detail }) => detail?.after)).to.deep.equal(['ended']);
  });

  it('takes effect at once, and is answered only after the disk has stored it', async () => {
    const disk = new RecordingDisk();
    const { state, get, post } = await served({ disk });
    const goOn = disk.hang();
    let isAnswered = false;
    const answer = post('/api/lock', { press: 'P1' }).then(({ status }) => {
      isAnswered = true;
      return status;
    });
    while (state.wanted.lock === null) await get('/api/status');
    await get('/api/status');
    expect(isAnswered).to.equal(false);
    goOn();
    expect(await answer).to.equal(200);
    expect(String(disk.files()['/state/desk.json'])).to.include(':P1');
  });
});

describe('a press during a match', () => {
  it('is in the record of the match before the desk answers the press', async () => {
    const disk = new RecordingDisk();
    const { post } = await served({ disk, plans: [PLAN] });
    await post('/api/match/load', { press: 'P1', match: 'final' });
    await post('/api/lock', { press: 'P2' });
    const record = Object.entries(disk.files()).filter(([path]) => path.startsWith('/state/records/final'));
    expect(record.map(([, content]) => String(content)).join('')).to.include('"P2"');
  });
});

describe('the record of a released match', () => {
  it('gets a file name with the hash of the record even if the desk restarts within 10 s after the release', async () => {
    const disk = new RecordingDisk();
    const sealed: string[] = [];
    const { rename, list } = disk;
    disk.rename = async (from, to) => {
      if (from.includes('/records/')) sealed.push(from);
      else await rename.call(disk, from, to);
    };
    const parts = { disk, plans: [PLAN] };
    const first = await served(parts);
    await first.post('/api/match/load', { press: 'load', match: 'final' });
    await first.post('/api/match/release', { press: 'release' });
    await first.close();
    const second = await served(parts);
    await second.clock.advance(11_000);
    expect(sealed).to.have.length(1);
    await second.close();
    // The next desk looks for it on a slow disk. Meanwhile another match is loaded.
    let answer: () => void = () => undefined;
    disk.list = async path => {
      if (!path.includes('/records/final-')) return list.call(disk, path);
      disk.list = list;
      await new Promise<void>(resolve => {
        answer = resolve;
      });
      return list.call(disk, path);
    };
    const third = await served(parts);
    await third.clock.advance(11_000);
    await third.post('/api/match/load', { press: 'again', match: 'final' });
    answer();
    await third.clock.advance(1000);
    expect(sealed).to.have.length(1);
  });
});

describe('a desk that restarts within 10 s after the release of a match', () => {
  it('keeps the log lines that a robot sends before the slow disk has found the record of the match', async () => {
    const disk = new RecordingDisk();
    const [id, hash] = ['a'.repeat(16), 'f'.repeat(64)];
    const line = `${JSON.stringify({ seq: 2, boot: 'a', what: 'start', prev: hash })}\n`;
    let hasLine = false;
    const answers: Partial<Record<Ask['kind'], (ask: Ask) => object>> = {
      health: () => ({ status: 'ok', id }),
      match: () => ({ ...NO_MATCH_STATUS, t: 1, head: { seq: 1, hash } }),
      lines: ({ of }) => Buffer.from(hasLine && of === hash ? line : ''),
    };
    const parts: Serving = {
      disk,
      robots: ROBOTS,
      plans: [{ ...PLAN, robots: ['Red 1'] }],
      send: async (_, ask) => {
        const body = answers[ask.kind]?.(ask);
        return body === undefined ? { failure: 'none' } : { status: 200, body };
      },
    };
    const first = await served(parts);
    await first.post('/api/match/load', { press: 'load', match: 'final' });
    await first.clock.advance(100);
    await first.post('/api/match/release', { press: 'release' });
    await first.close();
    const { list } = disk;
    let answer: () => void = () => undefined;
    disk.list = async path => {
      if (path.includes('/records/final-'))
        await new Promise<void>(resolve => {
          answer = resolve;
          disk.list = list;
        });
      return list.call(disk, path);
    };
    hasLine = true;
    const second = await served(parts);
    await second.clock.advance(1500);
    answer();
    await second.clock.advance(1500);
    const kept = Object.entries(disk.files()).filter(([path]) => path.includes('/robots/'));
    expect(kept.map(([, content]) => String(content))).to.deep.equal([line]);
  });
});

describe('if a robot contradicts its earlier log after a match record is closed, the desk', () => {
  it('keeps the new log lines and the fault “contradicts” in the next match record', async () => {
    const [id, lost, line] = ['a'.repeat(16), 'f'.repeat(64), '{"seq":1,"prev":""}\n'];
    const head = { seq: 1, hash: sha256(line.trimEnd()) };
    const kept: string[] = [];
    const answers: Partial<Record<Ask['kind'], (ask: Ask) => Outcome>> = {
      health: () => ({ status: 200, body: { status: 'ok', id } }),
      match: () => ({ status: 200, body: { ...NO_MATCH_STATUS, t: 1, head } }),
      lines: ({ of }) =>
        of === undefined
          ? { status: 200, body: Buffer.from(line) }
          : { status: 404, body: { code: 'unknown-head', detail: '' } },
    };
    const match = { ...PLAYING, phase: 'none', sinceMs: -60_000, endsAtMs: null } as const;
    const { clock, desk, recorded } = made({
      wanted: {
        ...WANTED,
        match,
        robots: { 'Red 1': { ...new RobotWish(), id, head: { seq: 5, hash: lost } } },
      },
      robots: ROBOTS,
      plans: [{ ...PLAN, id: 'next', robots: ['Red 1'] }],
      send: async (_, ask) => answers[ask.kind]?.(ask) ?? { failure: 'none' },
      keep: async ({ bytes }) => {
        if (desk.state.wanted.match?.phase === 'none') return undefined;
        kept.push(String(bytes));
        return true;
      },
    });
    desk.start();
    await clock.advance(10_000);
    expect(wishOf(desk.state.wanted, 'Red 1').logFault?.what).to.equal('contradicts');
    recorded.length = 0;
    desk.press('load', { id: '1', by: 'referee' }, (state, press) =>
      loadMatch.act(state, press, { match: 'next' }),
    );
    await clock.advance(5000);
    expect(kept).to.deep.equal([line]);
    expect(recorded.map(({ what }) => what)).to.include('contradicts');
    desk.close();
  });
});

describe('if a match is released twice, its record', () => {
  it('gets its final file name 10 s after the second release, not 10 s after the first', async () => {
    const disk = new RecordingDisk();
    let isSealed = false;
    const { rename } = disk;
    disk.rename = async (from, to) => {
      if (from.includes('/records/')) isSealed = true;
      else await rename(from, to);
    };
    const plans = [{ ...PLAN, robots: ['Red 1'] }];
    const { clock, desk } = await served({ disk, robots: ROBOTS, plans });
    const press = (id: string, act: PressAct) => desk.press(id, { id, by: 'referee' }, act);
    press('1', (state, made) => loadMatch.act(state, made, { match: 'final' }));
    press('2', (state, made) => endMatch.act(state, made, {}));
    for (const id of ['3', '4']) {
      press(id, (state, made) => releaseMatch.act(state, made, {}));
      await clock.advance(9900);
      expect(isSealed).to.equal(false);
    }
    await clock.advance(200);
    expect(isSealed).to.equal(true);
  });
});

describe('a second desk with the same state folder', () => {
  it('fails to start, with the code “state-in-use”, until the first desk has ended', () =>
    inTemporaryFolder(async folder => {
      const start = () => served({ state: folder, disk: realDisk, lock: new PathLock(folder) });
      const first = await start();
      expect(await outcomeOf(start())).to.equal('state-in-use');
      await first.close();
      await (await start()).close();
    }));
});
