import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Clock } from '../../src/core/clock.js';
import { createNotifier } from '../../src/daemon/systemd-notify.js';
import { requirePrograms } from '../support/programs.js';

class ScriptedSystemd {
  readonly messages: string[] = [];
  readonly failures: Error[] = [];
  nowMs = 0;
  #done: ((error: Error | null) => void) | undefined;

  readonly clock: Clock = {
    nowMs: () => this.nowMs,
    after: () => ({ cancel: () => undefined }),
    wallTime: () => new Date(0),
  };

  notifier(env: NodeJS.ProcessEnv) {
    return createNotifier(
      env,
      error => this.failures.push(error),
      this.clock,
      (message, done) => {
        expect(this.#done, 'one child at a time').to.equal(undefined);
        this.messages.push(message);
        this.#done = done;
      },
    );
  }

  childEnds(error: Error | null = null): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(error);
  }
}

const SYSTEMD = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '2000000' };

describe('createNotifier', () => {
  let systemd: ScriptedSystemd;

  beforeEach(() => {
    systemd = new ScriptedSystemd();
  });

  it('does nothing without systemd', () => {
    const notifier = systemd.notifier({ WATCHDOG_USEC: '2000000' });
    notifier.ready();
    notifier.alive();
    notifier.stopping();
    expect(systemd.messages).to.deep.equal([]);
    expect(notifier.watchdogIntervalMs).to.equal(undefined);
  });

  const WATCHDOGS = [
    { what: 'watchdog', env: SYSTEMD, intervalMs: 500 },
    { what: 'watchdog for us', env: { ...SYSTEMD, WATCHDOG_PID: String(process.pid) }, intervalMs: 500 },
    { what: 'watchdog for another process', env: { ...SYSTEMD, WATCHDOG_PID: '1' }, intervalMs: undefined },
    { what: 'systemd without watchdog', env: { NOTIFY_SOCKET: '/x' }, intervalMs: undefined },
    { what: 'time that is none', env: { ...SYSTEMD, WATCHDOG_USEC: 'soon' }, intervalMs: undefined },
  ];
  for (const { what, env, intervalMs } of WATCHDOGS) {
    it(`given a ${what}: interval ${intervalMs}`, () => {
      const notifier = systemd.notifier(env);
      expect(notifier.watchdogIntervalMs).to.equal(intervalMs);
      notifier.ready();
      systemd.childEnds();
      notifier.alive();
      expect(systemd.messages).to.deep.equal([
        'READY=1',
        ...(intervalMs === undefined ? [] : ['WATCHDOG=1']),
      ]);
    });
  }

  it('feeds no more often than it must, however often it is called', () => {
    const notifier = systemd.notifier(SYSTEMD);
    notifier.ready();
    systemd.childEnds();
    for (systemd.nowMs = 0; systemd.nowMs < 2000; systemd.nowMs += 20) {
      notifier.alive();
      systemd.childEnds();
    }
    expect(systemd.messages).to.deep.equal(['READY=1', ...Array(4).fill('WATCHDOG=1')]);
  });

  it('leaves out a feed while a child is at work, and keeps what is said once', () => {
    const notifier = systemd.notifier(SYSTEMD);
    notifier.ready();
    notifier.alive();
    notifier.stopping();
    expect(systemd.messages).to.deep.equal(['READY=1']);
    systemd.childEnds();
    systemd.childEnds();
    expect(systemd.messages).to.deep.equal(['READY=1', 'STOPPING=1']);
  });

  it('starts no watchdog before the daemon is ready', () => {
    const notifier = systemd.notifier(SYSTEMD);
    notifier.alive();
    expect(systemd.messages).to.deep.equal([]);
  });

  it('tells of the first failure only, and goes on', () => {
    const notifier = systemd.notifier(SYSTEMD);
    notifier.ready();
    systemd.childEnds(new Error('no such program'));
    notifier.stopping();
    systemd.childEnds(new Error('again'));
    expect(systemd.failures.map(error => error.message)).to.deep.equal(['no such program']);
    expect(systemd.messages).to.deep.equal(['READY=1', 'STOPPING=1']);
  });

  it('is heard on a real socket', async function () {
    requirePrograms(this, 'python3', 'systemd-notify');
    const folder = mkdtempSync(join(tmpdir(), 'trunnion-notify-'));
    const socket = join(folder, 'notify');
    // The last datagram may carry the descriptor by which systemd-notify waits to be heard: closing it is the answer.
    const listen = `import os,socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind(sys.argv[1]); print('bound',flush=True)
while True:
  data,fds,_,_=socket.recv_fds(s,4096,8)
  for fd in fds: os.close(fd)
  print(data.decode().strip(),flush=True)`;
    const listener = spawn('python3', ['-c', listen, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const lines = createInterface(listener.stdout)[Symbol.asyncIterator]();
      const heard = async () => (await lines.next()).value;
      expect(await heard()).to.equal('bound');
      process.env.NOTIFY_SOCKET = socket;
      const failures: Error[] = [];
      const notifier = createNotifier({ ...SYSTEMD, NOTIFY_SOCKET: socket }, error => failures.push(error));
      notifier.ready();
      expect(await heard()).to.equal('READY=1');
      notifier.stopping();
      let message = await heard();
      while (message !== 'STOPPING=1') message = await heard();
      expect(failures).to.deep.equal([]);
    } finally {
      delete process.env.NOTIFY_SOCKET;
      listener.kill();
      await once(listener, 'exit');
      rmSync(folder, { recursive: true });
    }
  });
});
