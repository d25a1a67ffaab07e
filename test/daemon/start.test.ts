import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { askAsRoot } from '../../src/access/root-socket.js';
import { loadConfig } from '../../src/config/config.js';
import { type Clock, systemClock } from '../../src/core/clock.js';
import { start } from '../../src/daemon/start.js';
import { type Hardware, type I2cBus, isMissing } from '../../src/hardware/ports.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually, freePort, inTemporaryFolder, portOf } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

describe('a starting daemon', () => {
  before(function () {
    requirePrograms(this, 'flock');
  });

  const settings = (folder: string, port: number) =>
    loadConfig(undefined, { port }, { host: '127.0.0.1', state: folder });
  const begin = (
    folder: string,
    port: number,
    hardware: Hardware,
    more: Partial<Parameters<typeof start>[0]> = {},
  ) =>
    start({
      config: settings(folder, port),
      hardware,
      log: pino({ level: 'silent' }),
      clock: systemClock,
      ...more,
    });

  it('sends nothing on the I2C bus if its port is in use', () =>
    inTemporaryFolder(async folder => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { hardware } = litRobot();
      const bus = watched(hardware.bus);
      const failure = await begin(folder, portOf(other), { ...hardware, bus }).catch(error => error);
      expect(failure).to.have.property('code', 'cannot-listen');
      expect(bus.calls()).to.equal(0);
      other.close();
    }));

  it('answers no request before the controllers have their gains', () =>
    inTemporaryFolder(async folder => {
      const port = await freePort();
      const { hardware } = litRobot();
      const bus = watched(hardware.bus);
      // Sends the request at the first bus transaction. The daemon has bound the port by then.
      const answered = bus.first.then(() => call(`http://127.0.0.1:${port}`, 'GET', '/api/status'));
      // At its start the daemon waits at most 300 ms for the controllers. A busy machine may need longer to find them,
      // so this clock runs at a tenth of real speed.
      const clock: Clock = {
        ...systemClock,
        nowMs: () => systemClock.nowMs() / 10,
        after: (delayMs, act) => systemClock.after(10 * delayMs, act),
      };
      const daemon = await begin(folder, port, { ...hardware, bus }, { clock });
      try {
        const { body } = await answered;
        expect([body.gimbal.gains.applied, body.chassis.gains.applied]).to.deep.equal([true, true]);
      } finally {
        await daemon.close();
      }
    }));

  it('refuses a drive command as too late if the command arrives before the start is complete', () =>
    inTemporaryFolder(async folder => {
      const port = await freePort();
      const { hardware } = litRobot();
      const bus = watched(hardware.bus);
      const command = { chassis: { speed: 0.5, turn: 0 }, holdMs: 500, id: 'a' };
      const answered = bus.first.then(() => call(`http://127.0.0.1:${port}`, 'POST', '/api/drive', command));
      const daemon = await begin(folder, port, { ...hardware, bus });
      const { status, body } = await answered;
      await daemon.close();
      expect([status, body.code]).to.deep.equal([409, 'too-late']);
    }));

  it('drops a waiting request to switch the laser on if the daemon is told to end during the start', () =>
    inTemporaryFolder(async folder => {
      const port = await freePort();
      const { hardware, level } = litRobot();
      const bus = watched(hardware.bus);
      let isAsked = false;
      const answered = bus.first.then(() => {
        isAsked = true;
        return call(`http://127.0.0.1:${port}`, 'POST', '/api/laser', { action: 'on' }).catch(() => 'none');
      });
      const daemon = await begin(folder, port, { ...hardware, bus }, { isEnding: () => isAsked });
      expect(level()).to.deep.equal({ level: 0 });
      await daemon.close();
      expect(await answered).to.equal('none');
      expect(level()).to.deep.equal({ level: 0 });
    }));

  it('closes its port again if another daemon already uses the state folder', () =>
    inTemporaryFolder(async folder => {
      const { hardware } = litRobot();
      const first = await begin(folder, 0, hardware);
      const port = await freePort();
      const second = begin(folder, port, hardware);
      expect(await second.catch(error => error)).to.have.property('code', 'state-in-use');
      const free = createServer().listen(port, '127.0.0.1');
      await once(free, 'listening');
      free.close();
      await first.close();
    }));

  it('locks the robot and refuses access if the state folder was emptied, until a person runs the commands that the status names', () =>
    inTemporaryFolder(async root => {
      const [folder, marks] = [join(root, 'state'), join(root, 'marks')];
      const { hardware } = litRobot();
      const rootSocket = join(root, 'socket');
      const look = async () => {
        const daemon = await begin(folder, 0, hardware, { marks, rootSocket });
        const { access, match, storage, stopped } = (await call(daemon.url, 'GET', '/api/status')).body;
        return { daemon, storage, seen: [access.state, match.lock?.by, stopped] };
      };
      const first = await look();
      await first.daemon.close();
      await rm(folder, { recursive: true });
      await mkdir(join(folder, 'lost+found'), { recursive: true });
      const empty = await look();
      await empty.daemon.close();
      const again = await look();
      expect([first.seen, empty.seen, again.seen]).to.deep.equal([
        ['open', undefined, false],
        ['unavailable', 'trunnion', true],
        ['unavailable', 'trunnion', true],
      ]);
      const [, mark = ''] = /run sudo rm (\S+) and sudo trunnion unlock/.exec(again.storage.cure) ?? [];
      await rm(mark);
      await eventually(async () => (await readdir(folder)).includes('match.json'));
      await askAsRoot(rootSocket, 'POST', '/api/match/unlock');
      await again.daemon.close();
      const anew = await look();
      await anew.daemon.close();
      expect(anew.seen.slice(0, 2)).to.deep.equal(['open', undefined]);
    }));

  it('switches a lit laser off before creating the state folder, and again as soon as the daemon is told to end', () =>
    inTemporaryFolder(async folder => {
      const { hardware, ...robot } = litRobot();
      const levels: unknown[] = [];
      const makeFolder = (path: string) => {
        levels.push(robot.level());
        return realDisk.makeFolder(path);
      };
      const daemon = await begin(folder, 0, hardware, { disk: { ...realDisk, makeFolder } });
      expect(levels[0]).to.deep.equal({ level: 0 });
      robot.light();
      const closing = daemon.close();
      expect(robot.level()).to.deep.equal({ level: 0 });
      await closing;
    }));
});

function litRobot() {
  const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
  const { hardware } = robot;
  const { laser } = hardware;
  if (isMissing(laser)) throw new Error('the simulated robot has a laser');
  laser.write(true);
  const level = () => robot.truth().laser;
  return { hardware, level, light: () => laser.write(true) };
}

/** Counts the transactions on a bus. `first` resolves at the first one. */
function watched(bus: I2cBus) {
  let onFirst = () => {};
  const first = new Promise<void>(resolve => {
    onFirst = resolve;
  });
  let calls = 0;
  const counted = <T>(act: () => T): T => {
    calls += 1;
    onFirst();
    return act();
  };
  return {
    readBlock: (...read: Parameters<I2cBus['readBlock']>) => counted(() => bus.readBlock(...read)),
    writeBlock: (...write: Parameters<I2cBus['writeBlock']>) => counted(() => bus.writeBlock(...write)),
    first,
    calls: () => calls,
  };
}
