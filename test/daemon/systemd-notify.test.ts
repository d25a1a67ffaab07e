import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { createNotifier } from '../../src/daemon/systemd-notify.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { NotifyListener } from '../support/notify-listener.js';
import { requirePrograms } from '../support/programs.js';

const SYSTEMD = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '2000000' };

describe('the systemd notifier', () => {
  let clock: ManualClock;
  let sent: { readonly message: string; readonly atMs: number }[];
  let failures: unknown[];
  let refusal: Error | undefined;

  beforeEach(() => {
    clock = new ManualClock();
    sent = [];
    failures = [];
    refusal = undefined;
  });

  function notifierOf(env: NodeJS.ProcessEnv) {
    return createNotifier(
      env,
      error => failures.push(error),
      clock,
      message => {
        if (refusal !== undefined) throw refusal;
        sent.push({ message, atMs: clock.nowMs() });
      },
    );
  }
  const messages = () => sent.map(({ message }) => message);

  it('sends nothing if NOTIFY_SOCKET is not set', async () => {
    const notifier = notifierOf({ WATCHDOG_USEC: '2000000' });
    notifier.ready();
    await clock.advance(5000);
    notifier.stopping();
    expect(messages()).to.deep.equal([]);
  });

  for (const [what, env, feeds] of [
    ['READY, then WATCHDOG every 250 ms, then STOPPING if the time limit WATCHDOG_USEC is 2 s', {}, 9],
    [
      'READY, then WATCHDOG repeatedly, then STOPPING if WATCHDOG_PID is this process',
      { WATCHDOG_PID: String(process.pid) },
      9,
    ],
    ['READY and STOPPING, but no WATCHDOG, if WATCHDOG_PID is another process', { WATCHDOG_PID: '1' }, 0],
    ['READY and STOPPING, but no WATCHDOG, if WATCHDOG_USEC is not set', { WATCHDOG_USEC: undefined }, 0],
    ['READY and STOPPING, but no WATCHDOG, if WATCHDOG_USEC is not a number', { WATCHDOG_USEC: 'soon' }, 0],
  ] as const)
    it(`sends ${what}`, async () => {
      const notifier = notifierOf({ ...SYSTEMD, ...env });
      await clock.advance(5000);
      expect(sent).to.deep.equal([]);
      notifier.ready();
      await clock.advance(2000);
      notifier.stopping();
      await clock.advance(5000);
      const fed = Array.from({ length: feeds }, (_, index) => ({
        message: 'WATCHDOG=1',
        atMs: 5000 + 250 * index,
      }));
      const stopping = { message: 'STOPPING=1', atMs: 7000 };
      expect(sent).to.deep.equal([{ message: 'READY=1', atMs: 5000 }, ...fed, stopping]);
    });

  it('reports only one failure while systemd rejects its messages, and sends messages again when systemd accepts them', async () => {
    const notifier = notifierOf(SYSTEMD);
    refusal = new Error('EAGAIN');
    notifier.ready();
    await clock.advance(1000);
    expect(failures).to.deep.equal([refusal]);
    refusal = undefined;
    await clock.advance(250);
    expect(messages()).to.deep.equal(['WATCHDOG=1']);
  });

  const file = String(openSync('/dev/null', 'w'));
  for (const descriptor of [undefined, file, '9999', 'three']) {
    it(`reports only one failure if no message can be sent because TRUNNION_NOTIFY_FD is ${descriptor === file ? 'the descriptor of a file' : descriptor === undefined ? 'not set' : `“${descriptor}”, which is no open socket`}`, async () => {
      const env = { ...SYSTEMD, ...(descriptor !== undefined && { TRUNNION_NOTIFY_FD: descriptor }) };
      const notifier = createNotifier(env, error => failures.push(error), clock);
      notifier.ready();
      await clock.advance(1000);
      notifier.stopping();
      expect(failures).to.have.length(1);
    });
  }
});

describe('started through the script systemd/with-notify-socket,', () => {
  let listener: NotifyListener;

  before(function () {
    requirePrograms(this, 'python3', 'perl');
  });
  beforeEach(async () => {
    listener = new NotifyListener();
    expect(await listener.next()).to.deep.equal({ pid: 0, message: 'bound' });
  });

  afterEach(() => listener.close());

  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn('systemd/with-notify-socket', [process.execPath, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it('a daemon sends READY, then WATCHDOG repeatedly, then STOPPING, all from its main process', async () => {
    await inTemporaryFolder(async state => {
      const env = { NOTIFY_SOCKET: listener.path, WATCHDOG_USEC: '400000' };
      const daemon = run(['dist/sim/main.js', '--port', '0', '--state', state], env);
      const exited = once(daemon, 'exit');
      const { pid } = daemon;
      expect(await listener.next()).to.deep.equal({ pid, message: 'READY=1' });
      for (let feeds = 0; feeds < 5; feeds += 1) {
        expect(await listener.next()).to.deep.equal({ pid, message: 'WATCHDOG=1' });
      }
      daemon.kill('SIGTERM');
      let last = await listener.next();
      while (last.message === 'WATCHDOG=1') last = await listener.next();
      expect(last).to.deep.equal({ pid, message: 'STOPPING=1' });
      expect(await exited).to.deep.equal([0, null]);
    });
  });

  it('a program gets the error EAGAIN, instead of hanging, if it sends more messages than systemd reads', async () => {
    // Nothing reads from these sockets. If sending blocked, the loop would hang when the kernel's queue is full.
    const flood = `const fs = require('node:fs'); let taken = 0;
      try { for (; taken < 100000; taken += 1) fs.writeSync(Number(process.env.TRUNNION_NOTIFY_FD), 'WATCHDOG=1') }
      catch (error) { console.log(error.code) }`;
    const silent = `import socket,subprocess,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind(sys.argv[1])
sys.exit(subprocess.run(sys.argv[2:]).returncode)`;
    const path = `${listener.path}-silent`;
    const command = ['systemd/with-notify-socket', process.execPath, '-e', flood];
    const child = spawn('python3', ['-c', silent, path, ...command], {
      env: { ...process.env, NOTIFY_SOCKET: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).to.equal('EAGAIN');
    await once(child, 'exit');
  });

  it('a program starts even if the socket of systemd does not exist, and an error names the socket', async () => {
    const child = run(['-p', 'process.env.TRUNNION_NOTIFY_FD'], { NOTIFY_SOCKET: '/nowhere/notify' });
    const out = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const said = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
    expect((await said.next()).value).to.include('/nowhere/notify');
    expect((await out.next()).value).to.equal('undefined');
    await once(child, 'exit');
  });
});
