import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { NODE_ENVIRONMENT } from '../../scripts/package/node-options.js';
import { children } from '../support/child.js';
import { call, eventually, temporaryFolder } from '../support/daemon.js';
import { mountHangingDisk } from '../support/mounts.js';
import { requirePrograms } from '../support/programs.js';

const FILES = [
  'gains.jsonl',
  'host-silence.json',
  'match.json',
  'tokens.json',
  'events.jsonl',
  'events.old.jsonl',
  'profiles.json',
  'steps/gimbal-angle_yaw.jsonl',
];

describe('with a disk that hangs in the kernel,', () => {
  const start = children();
  const folder = temporaryFolder();

  for (const hanging of [FILES, ['tokens.json']])
    it(`the daemon starts even if reads of ${hanging.length} of its ${FILES.length} state files hang, and it ends after SIGTERM`, async function () {
      requirePrograms(this, 'mkfifo');
      mkdirSync(join(folder(), 'steps'));
      // FIFOs without a writer, so that a reader hangs.
      for (const file of hanging) execFileSync('mkfifo', [join(folder(), file)]);
      const child = start('sim/main.js', ['--port', '0', '--state', folder()], NODE_ENVIRONMENT);
      await child.url();
      child.process.kill('SIGTERM');
      await child.line(/"msg":"stopping"/);
      expect(await child.exited).to.equal('SIGKILL');
    });

  it('a desk starts even if the read of its list of tokens hangs, and it ends after SIGTERM', async function () {
    requirePrograms(this, 'mkfifo');
    execFileSync('mkfifo', [join(folder(), 'tokens.json')]);
    const file = join(folder(), 'field.yaml');
    writeFileSync(file, 'robots: []\n', { mode: 0o600 });
    const child = start('src/desk/main.js', [file, '--port', '0', '--state', folder()]);
    await child.url();
    child.process.kill('SIGTERM');
    expect(await child.exited).to.equal('SIGKILL');
  });

  it('the daemon still carries out stop, resume and mode switches, and refuses saves until the disk works again', async function () {
    requirePrograms(this, 'mkfs.ext4', 'fsfreeze');
    const disk = mountHangingDisk(this, folder());
    const child = start('sim/main.js', ['--port', '0', '--state', folder()], NODE_ENVIRONMENT);
    try {
      const url = await child.url();
      const status = async () => (await call(url, 'GET', '/api/status')).body;
      const post = (path: string, body?: unknown) => call(url, 'POST', path, body);
      await eventually(async () => (await status()).chassis.online);
      const gains = (await call(url, 'GET', '/api/chassis/pidconfig')).body;
      const save = (kp: number) => post('/api/chassis/pidconfig', { ...gains, speed: { kp, ki: 0, kd: 0 } });
      await eventually(async () => (await save(2)).status === 200);
      disk.hang();
      await Promise.all([
        save(3),
        post('/api/chassis/profiles', { name: 'a' }),
        post('/api/match/lock', { reason: 'x' }),
      ]);
      await eventually(async () => (await post('/api/stop')).status === 200);
      await post('/api/match/unlock');
      await eventually(async () => (await status()).log.ok === false);
      const hanging = stuckThreads(child.process.pid);
      expect(hanging).to.be.within(1, Number(NODE_ENVIRONMENT.UV_THREADPOOL_SIZE) - 1);
      await eventually(async () => (await post('/api/resume')).status === 200);
      await eventually(
        async () => (await post('/api/gimbal/mode/switch', { mode: 'auto' })).text === '{"mode":"auto"}',
      );
      expect((await save(4)).body.code).to.equal('storage-failed');
      disk.goOn();
      await eventually(async () => {
        const { log, storage, match } = await status();
        return log.ok && storage.ok && match.recorded;
      });
      await eventually(async () => (await save(5)).status === 200);
    } finally {
      disk.goOn();
      await child.kill('SIGKILL');
      disk.remove();
    }
  });
});

/** The number of the process' threads that wait in an uninterruptible kernel call. */
function stuckThreads(pid: number | undefined): number {
  const states = readdirSync(`/proc/${pid}/task`).map(task => {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0];
  });
  return states.filter(state => state === 'D').length;
}
