import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { simulatorSocket } from '../../src/access/root-socket.js';
import { saidOf } from '../../src/command/command.js';
import { rootCommand } from '../../src/command/root-commands.js';
import { type Child, children } from '../support/child.js';
import { call, eventually, temporaryFolder } from '../support/daemon.js';
import { endsDark } from '../support/ends-dark.js';
import { mountDisk } from '../support/mounts.js';
import { requirePrograms } from '../support/programs.js';

/**
 * Faults of the daemon's process that the hardware does not cause. The daemon must continue to serve, or must end with the
 * laser dark and say why.
 */
describe('a daemon', () => {
  const start = children();
  const folder = temporaryFolder();

  /** A daemon in which this fault happens on SIGUSR2. It prints each level of the laser's pin. */
  const daemon = (fault: string, env = {}) => start('test/support/faulty-daemon.js', [folder(), fault], env);
  const isWhole = async (url: string) => {
    const { gimbal, chassis } = (await call(url, 'GET', '/api/status')).body;
    return [gimbal, chassis].every(({ online, gains }) => online && gains.applied);
  };
  /** The daemon's URL, once both controllers are online. That takes longer on a busy machine. */
  const served = async (child: Child) => {
    const url = await child.url();
    await eventually(() => isWhole(url));
    return url;
  };
  const light = async (url: string) =>
    expect((await call(url, 'POST', '/api/laser', { action: 'on' })).text).to.equal('{"state":"on"}');
  const save = async (url: string, kp: number) => {
    const { body } = await call(url, 'GET', '/api/gimbal/pidconfig');
    return call(url, 'POST', '/api/gimbal/pidconfig', { ...body, visual_yaw: { kp, ki: 1, kd: 0 } });
  };
  const saved = (url: string, kp: number) => eventually(async () => (await save(url, kp)).status === 200);
  const savedKp = async (url: string) => (await call(url, 'GET', '/api/gimbal/pidconfig')).body.visual_yaw.kp;

  for (const [fault, message] of [
    ['throws', 'a defect'],
    ['rejects', 'a defect'],
    ['leaks', 'out of memory: \\d+ of \\d+ MiB are used'],
  ] as const) {
    it(`${{ throws: 'with an uncaught exception', rejects: 'with an unhandled rejection', leaks: 'that runs out of memory' }[fault]} ends with the laser off and the cause in its last log line, and has the saved gains after a restart`, async () => {
      const child = daemon(fault, { NODE_OPTIONS: '--max-old-space-size=200' });
      const url = await served(child);
      await saved(url, 0.25);
      await light(url);
      child.process.kill('SIGUSR2');
      expect(await child.exited).to.be.oneOf([1, 'SIGKILL']);
      await endsDark(child);
      expect(child.lines.filter(line => !line.startsWith('level')).at(-1)).to.match(
        new RegExp(`"message":"${message}".*"msg":"uncaught error"`),
      );
      expect(await savedKp(await daemon(fault).url())).to.equal(0.25);
    });
  }

  it('with an uncaught exception while its disk hangs kills itself at once, and leaves the laser off', async function () {
    requirePrograms(this, 'mkfifo');
    execFileSync('mkfifo', [join(folder(), 'fifo')]);
    const child = daemon('throws while its disk hangs');
    await light(await served(child));
    child.process.kill('SIGUSR2');
    expect(await child.exited).to.equal('SIGKILL');
    await endsDark(child);
    await child.line(/"msg":"uncaught error"/);
  });

  it('that gets SIGTERM while its disk hangs kills itself after 2 s, and leaves the laser off', async () => {
    const child = daemon('hangs its disk');
    const url = await served(child);
    await light(url);
    child.process.kill('SIGUSR2');
    await eventually(async () => (await save(url, 0.25)).status === 503);
    child.process.kill('SIGTERM');
    expect(await child.exited).to.equal('SIGKILL');
    await endsDark(child);
    await child.line(/"level":50.*"waitedMs":2000,"msg":"not stopped in order"/);
  });

  for (const fault of ['a year ahead', 'a year back']) {
    it(`keeps controllers online, saves gains and counts its uptime correctly when the wall clock jumps ${fault}`, async () => {
      const child = daemon(fault);
      const url = await served(child);
      await saved(url, 0.25);
      const { uptimeS } = (await call(url, 'GET', '/api/status')).body;
      child.process.kill('SIGUSR2');
      await light(url);
      await saved(url, 0.5);
      const { body } = await call(url, 'GET', '/api/status');
      expect([body.gimbal.online, body.chassis.online]).to.deep.equal([true, true]);
      expect(body.uptimeS - uptimeS).to.be.within(0, 20);
      await child.kill('SIGKILL');
      expect(await savedKp(await daemon(fault).url())).to.equal(0.5);
    });
  }

  it('without free file descriptors obeys `laser off` on a connection that is already open, and serves new connections once descriptors are free', async function () {
    requirePrograms(this, 'prlimit');
    const child = daemon('throws');
    const url = await served(child);
    execFileSync('prlimit', [`--pid=${child.process.pid}`, '--nofile=50']);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await laserBy(agent, url, 'on')).to.equal('{"state":"on"}');
    const { port, hostname } = new URL(url);
    const crowd: Socket[] = [];
    for (let count = 0; count < 60; count += 1) {
      const socket = connect(Number(port), hostname).on('error', () => {});
      crowd.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    expect(await laserBy(agent, url, 'off')).to.equal('{"state":"off"}');
    for (const socket of crowd) socket.destroy();
    await saved(url, 0.5);
    agent.destroy();
  });

  it('that was frozen for 10 s has both controllers online again, and does not carry out a `laser on` whose caller has hung up meanwhile', async () => {
    const child = daemon('throws');
    const url = await served(child);
    child.process.kill('SIGSTOP');
    const asked = call(url, 'POST', '/api/laser', { action: 'on' }, {}, AbortSignal.timeout(500));
    expect(await asked.catch(error => error.name)).to.equal('TimeoutError');
    await new Promise(resolve => setTimeout(resolve, 10_000));
    child.process.kill('SIGCONT');
    await eventually(() => isWhole(url));
    expect((await call(url, 'GET', '/api/status')).body.laser.state).to.equal('off');
    expect((await call(url, 'POST', '/api/gimbal/mode/switch', { mode: 'auto' })).status).to.equal(200);
  });

  it('that was frozen answers 409 to drive commands on 40 new connections if their hold time has passed meanwhile', async () => {
    const child = daemon('throws');
    const url = await served(child);
    const drive = async (holdMs: number) => {
      const command = { chassis: { speed: 0.5, turn: 0 }, holdMs, id: 'a' };
      return (await call(url, 'POST', '/api/drive', command)).status;
    };
    await eventually(async () => (await drive(500)) === 200);
    for (const { pauseMs, holdMs } of [
      { pauseMs: 1000, holdMs: 500 },
      { pauseMs: 400, holdMs: 200 },
    ]) {
      child.process.kill('SIGSTOP');
      const asked = Promise.all(Array.from({ length: 40 }, () => drive(holdMs)));
      await new Promise(resolve => setTimeout(resolve, pauseMs));
      child.process.kill('SIGCONT');
      expect(new Set(await asked)).to.deep.equal(new Set([409]));
      await eventually(async () => (await drive(500)) === 200);
    }
  });

  describe('that gets `trunnion stop` on the board', () => {
    const stop = async () => {
      const startMs = performance.now();
      const said = await rootCommand('stop', { socket: simulatorSocket(folder()), isSimulated: false }).catch(
        saidOf,
      );
      expect(performance.now() - startMs).to.be.lessThan(2000);
      return said.text;
    };

    it('stops the robot within 2 s while 60 clients flood the network port', async () => {
      const url = await served(daemon('throws'));
      let isOver = false;
      const flood = Array.from({ length: 60 }, async () => {
        // The daemon may close a stranger's connection.
        while (!isOver)
          await call(url, 'POST', '/api/gimbal/mode/switch', { mode: 'auto' }).catch(() => undefined);
      });
      await eventually(
        async () => (await call(url, 'GET', '/healthz').catch(() => undefined))?.status === 200,
      );
      expect(await stop()).to.include('Stopped: torque is off');
      isOver = true;
      await Promise.all(flood);
    });

    it('stops the robot within 2 s while its disk hangs', async () => {
      const child = daemon('hangs its disk');
      const url = await served(child);
      child.process.kill('SIGUSR2');
      await eventually(async () => (await save(url, 0.25)).status === 503);
      expect(await stop()).to.include('Stopped: torque is off');
    });

    it('while it is frozen does not answer, and the command says so within 2 s', async () => {
      const child = daemon('throws');
      await served(child);
      child.process.kill('SIGSTOP');
      expect(await stop()).to.include('does not answer');
    });

    it('stops the robot, and after SIGTERM exits with code 0, even while 70 other clients of its local socket send unfinished requests', async () => {
      const child = daemon('throws');
      await served(child);
      const clients = Array.from({ length: 70 }, () =>
        connect(simulatorSocket(folder())).on('error', () => undefined),
      );
      const trickle = setInterval(() => {
        for (const client of clients) client.write('P');
      }, 50);
      expect(await stop()).to.include('Stopped: torque is off');
      expect(await child.kill('SIGTERM')).to.equal(0);
      clearInterval(trickle);
    });
  });

  it('whose disk is full refuses saves with “free some space”, still switches modes, and saves again when space is free', async function () {
    const disk = mountDisk(this, folder());
    let child = daemon('throws');
    try {
      const url = await served(child);
      await saved(url, 0.25);
      const filler = join(folder(), 'filler');
      await writeFile(filler, Buffer.alloc(1 << 20)).catch(() => undefined);
      // The last block of the journal still has room, so a few saves succeed.
      let kept = 0.25;
      let refused = await save(url, 1);
      for (; refused.status === 200; refused = await save(url, kept + 1)) kept = refused.body.visual_yaw.kp;
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'storage-failed']);
      expect(refused.body.detail).to.contain('The disk is full: free some space.');
      expect(await savedKp(url)).to.equal(kept);
      expect((await call(url, 'POST', '/api/gimbal/mode/switch', { mode: 'auto' })).status).to.equal(200);
      await rm(filler);
      await saved(url, 0.5);
      await child.kill('SIGKILL');
      child = daemon('throws');
      expect(await savedKp(await child.url())).to.equal(0.5);
    } finally {
      await child.kill();
      disk.remove();
    }
  });

  it('whose log output nobody reads any more keeps serving, and after SIGTERM exits with code 0 and the laser off', async () => {
    const child = daemon('throws');
    const url = await served(child);
    child.process.stdout?.destroy();
    for (const mode of ['auto', 'manual', 'auto']) {
      await eventually(
        async () => (await call(url, 'POST', '/api/gimbal/mode/switch', { mode })).status === 200,
      );
    }
    await light(url);
    expect(await child.kill('SIGTERM')).to.equal(0);
    await endsDark(child);
  });
});

/** Switches the laser over the connection that this agent keeps open. */
async function laserBy(agent: Agent, url: string, action: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const asking = request(`${url}/api/laser`, { method: 'POST', agent, headers });
  asking.end(JSON.stringify({ action }));
  const [response] = await once(asking, 'response');
  let text = '';
  for await (const part of response) text += part;
  return text;
}
