import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Access } from '../../src/access/access.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { encodeTokens, writeTokens } from '../../src/access/token-file.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { codeOf } from '../support/code-of.js';
import { eventually, inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const TOKENS = [{ name: 'desk', role: 'referee', hash: hashOf('secret') }] as const;
const accessOn = (disk: Disk, clock = new ManualClock(), folder = '/state') =>
  new Access({ disk, folder, clock, required: false, stop: 'token' });

describe('the check of tokens', () => {
  it('refuses 10,000 wrong tokens without reading the disk again, and then accepts a valid token', async () => {
    const disk = new RecordingDisk({ '/state/tokens.json': encodeTokens(TOKENS) });
    const access = accessOn(disk);
    let reads = 0;
    disk.interfere = async () => {
      reads += 1;
    };
    await access.open();
    for (let count = 0; count < 10_000; count += 1) {
      const stranger = access.callerOf(hashOf(newSecret()));
      expect(codeOf(() => access.require('drive', stranger))).to.equal('token-unknown');
    }
    expect([access.callerOf(hashOf('secret')).token?.name, reads]).to.deep.equal(['desk', 1]);
  });

  it('lets callers stop the robot, but not drive it, while the disk hangs at the start of the daemon', async () => {
    const disk = new RecordingDisk();
    const clock = new ManualClock();
    const access = accessOn(disk, clock);
    let changes = 0;
    access.changed.add(() => {
      changes += 1;
    });
    const answerAgain = disk.hang();
    const opened = access.open();
    await clock.advance(2000);
    await opened;
    expect(access.state).to.equal('unavailable');
    expect(access.problem?.context.cure).to.include('too slow');
    expect(codeOf(() => access.require('drive', access.callerOf(undefined)))).to.equal('access-unavailable');
    expect(codeOf(() => access.require('stop', access.callerOf(undefined)))).to.equal(undefined);
    answerAgain();
    await clock.advance(0);
    expect([access.state, access.problem, changes]).to.deep.equal(['open', undefined, 1]);
    await writeTokens(disk, '/state', TOKENS);
    await clock.advance(600);
    expect(access.state).to.equal('closed');
    disk.hang();
    await clock.advance(5000);
    expect([access.state, access.problem?.context.lastHolds]).to.deep.equal(['closed', true]);
  });
});

describe('the token check of a call', () => {
  const callerOf = (access: Access) => access.callerOf(hashOf('secret')).token?.name;
  const start = async () => {
    const disk = new RecordingDisk({ '/state/tokens.json': encodeTokens(TOKENS) });
    const clock = new ManualClock();
    const access = accessOn(disk, clock);
    await access.open();
    expect([callerOf(access), access.current()]).to.deep.equal(['desk', undefined]);
    return { disk, clock, access };
  };

  for (const [what, isReading] of [
    ['', false],
    [' during an earlier read', true],
  ] as const)
    it(`waits for a new read of the token list after a pause of the process${what}, and then refuses a removed token`, async () => {
      const { disk, clock, access } = await start();
      const stale = encodeTokens(TOKENS);
      const { read } = disk;
      let answer = () => {};
      if (isReading) {
        disk.read = () => new Promise(resolve => (answer = () => resolve(stale)));
        await clock.advance(510);
        disk.read = read;
      }
      disk.put('/state/tokens.json', encodeTokens([]));
      disk.interfere = () => new Promise<void>(resolve => clock.after(50, resolve));
      clock.late(5000);
      await clock.advance(0);
      answer();
      await clock.during(access.current() ?? Promise.reject(new Error('nobody waits')));
      expect([callerOf(access), access.current()]).to.deep.equal([undefined, undefined]);
    });

  it('waits for at most 200 ms if the disk hangs after a pause of the process', async () => {
    const { disk, clock, access } = await start();
    disk.hang();
    clock.late(5000);
    await clock.advance(0);
    const startMs = clock.nowMs();
    await clock.during(access.current() ?? Promise.reject(new Error('nobody waits')));
    expect(clock.nowMs() - startMs).to.be.within(190, 210);
    expect(access.current()).to.equal(undefined);
  });

  it('does not wait if the process was not paused, even if each read of the disk takes 600 ms', async () => {
    const { disk, clock, access } = await start();
    disk.interfere = () => new Promise<void>(resolve => clock.after(600, resolve));
    for (let ms = 0; ms < 5000; ms += 50) {
      await clock.advance(50);
      expect(access.current()).to.equal(undefined);
    }
  });
});

describe('a robot without a token list (open to everyone)', () => {
  for (const [what, place] of [
    ['folder', (path: string) => mkdir(path)],
    ['dangling link', (path: string) => symlink('/nowhere/tokens.json', path)],
  ] as const)
    it(`lets callers only read, stop and switch the laser off once a ${what} appears at the path of the list, even after that ${what} is removed`, () =>
      inTemporaryFolder(async folder => {
        const clock = new ManualClock();
        const access = accessOn(realDisk, clock, folder);
        await access.open();
        const states = [access.state];
        const pass = async () => {
          await clock.advance(600);
          await eventually(async () => access.state !== states.at(-1)).catch(() => undefined);
          states.push(access.state);
        };
        await place(join(folder, 'tokens.json'));
        await pass();
        await rm(join(folder, 'tokens.json'), { recursive: true });
        await clock.advance(1000);
        await eventually(async () => access.problem?.context.cure?.startsWith('It is gone') === true);
        states.push(access.state);
        access.close();
        expect(states).to.deep.equal(['open', 'unavailable', 'unavailable']);
      }));
});

describe('the daemon', () => {
  let clock: ManualClock;
  let access: Access;
  const list = (content?: Buffer): RecordingDisk =>
    new RecordingDisk(content === undefined ? {} : { '/state/tokens.json': content });
  let now = list();
  const open = async () => {
    clock = new ManualClock();
    // A disk that is another one at each operation.
    access = accessOn(new Proxy(now, { get: (_, name) => Reflect.get(now, name).bind?.(now) }), clock);
    await access.open();
  };
  const broken = list();
  broken.fail('read');
  const gone = list();
  gone.fail('create');
  const becomes = async (found: RecordingDisk) => {
    now = found;
    await clock.advance(600);
  };

  for (const [how, lost, cure] of [
    ['disappears and cannot be written again', gone, 'bring it back'],
    ['cannot be read', broken, 'Replace the disk.'],
  ] as const) {
    it(`keeps the last known tokens in force if the token file ${how}, and reports the problem once, until the file can be read again`, async () => {
      now = list(encodeTokens(TOKENS));
      await open();
      let changes = 0;
      access.changed.add(() => {
        changes += 1;
      });
      await becomes(lost);
      await clock.advance(1000);
      expect([access.state, changes]).to.deep.equal(['closed', 1]);
      expect(access.tokens.map(({ name }) => name)).to.deep.equal(['desk']);
      expect(codeOf(() => access.require('drive', access.callerOf(undefined)))).to.equal('token-required');
      expect(access.callerOf(hashOf('secret')).token?.name).to.equal('desk');
      expect(access.problem?.context).to.include({ lastHolds: true });
      expect(access.problem?.context.cure).to.include(cure);
      for (const [found, state] of [
        [TOKENS, 'closed'],
        [[], 'open'],
      ] as const) {
        await becomes(lost);
        await becomes(list(encodeTokens(found)));
        expect([access.state, access.problem]).to.deep.equal([state, undefined]);
      }
    });
  }

  it('restores a deleted token file, so that a daemon restart does not open the robot to everyone', async () => {
    now = list(encodeTokens(TOKENS));
    await open();
    await becomes(list());
    expect([access.state, access.problem]).to.deep.equal(['closed', undefined]);
    access.close();
    await open();
    expect([access.state, access.tokens.map(({ name }) => name)]).to.deep.equal(['closed', ['desk']]);
  });

  it('keeps a robot without a token file open to everyone when the disk becomes unreadable', async () => {
    now = list();
    await open();
    await becomes(broken);
    expect([access.state, access.problem?.context.lastHolds]).to.deep.equal(['open', true]);
    await becomes(list(encodeTokens(TOKENS)));
    expect([access.state, access.problem]).to.deep.equal(['closed', undefined]);
  });

  it('gives no caller access after the token file is damaged, even if the damaged file is then deleted or becomes unreadable', async () => {
    now = list(encodeTokens(TOKENS));
    await open();
    for (const found of [list(Buffer.from('{')), broken, list()]) {
      await becomes(found);
      expect(access.state).to.equal('unavailable');
      expect(access.problem?.context.lastHolds ?? false).to.equal(false);
    }
    await becomes(list(encodeTokens(TOKENS)));
    expect(access.state).to.equal('closed');
  });

  it('gives no caller access after a start with an unreadable disk, until a read of the disk succeeds', async () => {
    now = broken;
    await open();
    expect([access.state, access.problem?.context.cure]).to.deep.equal(['unavailable', 'Replace the disk.']);
    await becomes(list());
    expect(access.state).to.equal('open');
  });
});
