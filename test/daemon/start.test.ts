import { once } from 'node:events';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { askAsRoot } from '../../src/access/root-socket.js';
import { loadConfig } from '../../src/config/config.js';
import { type Clock, systemClock } from '../../src/core/clock.js';
import { type Daemon, start } from '../../src/daemon/start.js';
import { type Hardware, type I2cBus, isMissing } from '../../src/hardware/ports.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually, freePort, portOf, temporaryFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

describe('a starting daemon', () => {
  before(function () {
    requirePrograms(this, 'flock');
  });

  const daemons: Daemon[] = [];
  const endDaemons = () => Promise.all(daemons.splice(0).map(daemon => daemon.close()));
  afterEach(endDaemons);
  const folder = temporaryFolder();
  const state = () => join(folder(), 'state');
  const begin = async (
    port: number,
    hardware: Hardware,
    more: Partial<Parameters<typeof start>[0]> = {},
    stateFolder = state(),
  ) => {
    const config = loadConfig(undefined, { port }, { host: '127.0.0.1', state: stateFolder });
    const log = pino({ level: 'silent' });
    const daemon = await start({ config, hardware, log, clock: systemClock, ...more });
    daemons.push(daemon);
    return daemon;
  };

  it('sends nothing on the I2C bus if its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { hardware, bus } = litRobot();
    const failure = await begin(portOf(other), hardware).catch(error => error);
    expect(failure).to.have.property('code', 'cannot-listen');
    expect(bus.calls()).to.equal(0);
    other.close();
  });

  it('answers no request before the controllers have their gains', async () => {
    const port = await freePort();
    const { hardware, bus } = litRobot();
    // Sends the request at the first bus transaction. The daemon has bound the port by then.
    const answered = bus.first.then(() => call(`http://127.0.0.1:${port}`, 'GET', '/api/status'));
    // At its start the daemon waits at most 300 ms for the controllers. A busy machine may need longer to find them,
    // so this clock runs at a tenth of real speed.
    const clock: Clock = {
      ...systemClock,
      nowMs: () => systemClock.nowMs() / 10,
      after: (delayMs, act) => systemClock.after(10 * delayMs, act),
    };
    await begin(port, hardware, { clock });
    const { body } = await answered;
    expect([body.gimbal.gains.applied, body.chassis.gains.applied]).to.deep.equal([true, true]);
  });

  it('refuses a drive command as too late if the command arrives before the start is complete', async () => {
    const port = await freePort();
    const { hardware, bus } = litRobot();
    const command = { chassis: { speed: 0.5, turn: 0 }, holdMs: 500, id: 'a' };
    const answered = bus.first.then(() => call(`http://127.0.0.1:${port}`, 'POST', '/api/drive', command));
    await begin(port, hardware);
    const { status, body } = await answered;
    expect([status, body.code]).to.deep.equal([409, 'too-late']);
  });

  it('drops a waiting request to switch the laser on if the daemon is told to end during the start', async () => {
    const port = await freePort();
    const { hardware, bus, level } = litRobot();
    let isAsked = false;
    const answered = bus.first.then(() => {
      isAsked = true;
      return call(`http://127.0.0.1:${port}`, 'POST', '/api/laser', { action: 'on' }).catch(() => 'none');
    });
    await begin(port, hardware, { isEnding: () => isAsked });
    expect(level()).to.deep.equal({ level: 0 });
    await endDaemons();
    expect(await answered).to.equal('none');
    expect(level()).to.deep.equal({ level: 0 });
  });

  it('closes its port again if another daemon already uses the state folder', async () => {
    const { hardware } = litRobot();
    await begin(0, hardware);
    const port = await freePort();
    const second = begin(port, hardware);
    expect(await second.catch(error => error)).to.have.property('code', 'state-in-use');
    const free = createServer().listen(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
  });

  it('locks and stops the robot, refuses to switch the laser on, and still accepts a stop if the disk of the state folder is not mounted', async () => {
    await symlink(join(folder(), 'unmounted'), join(folder(), 'link'));
    const { url } = await begin(0, litRobot().hardware, {}, join(folder(), 'link', 'trunnion'));
    const { body } = await call(url, 'GET', '/api/status');
    expect(body.access).to.include({ state: 'unavailable' });
    expect(body.match.lock).to.include({ by: 'trunnion' });
    expect([body.stopped, body.match.recorded]).to.deep.equal([true, false]);
    const lit = await call(url, 'POST', '/api/laser', { action: 'on' });
    expect([lit.status, lit.body.code]).to.deep.equal([503, 'access-unavailable']);
    expect((await call(url, 'POST', '/api/stop')).status).to.equal(200);
  });

  it('locks the robot and refuses access if the state folder was emptied, until a person runs the commands that the status names', async () => {
    const marks = join(folder(), 'marks');
    const { hardware } = litRobot();
    const rootSocket = join(folder(), 'socket');
    const look = async () => {
      await endDaemons();
      const daemon = await begin(0, hardware, { marks, rootSocket });
      const { access, match, storage, stopped } = (await call(daemon.url, 'GET', '/api/status')).body;
      return { storage, seen: [access.state, match.lock?.by, stopped] };
    };
    const first = await look();
    await endDaemons();
    await rm(state(), { recursive: true });
    await mkdir(join(state(), 'lost+found'), { recursive: true });
    const empty = await look();
    const again = await look();
    expect([first.seen, empty.seen, again.seen]).to.deep.equal([
      ['open', undefined, false],
      ['unavailable', 'trunnion', true],
      ['unavailable', 'trunnion', true],
    ]);
    const [, mark = ''] = /run sudo rm (\S+) and sudo trunnion unlock/.exec(again.storage.cure) ?? [];
    await rm(mark);
    await eventually(async () => (await readdir(state())).includes('match.json'));
    await askAsRoot(rootSocket, 'POST', '/api/match/unlock');
    const anew = await look();
    expect(anew.seen.slice(0, 2)).to.deep.equal(['open', undefined]);
  });

  it('switches a lit laser off before creating the state folder, and again as soon as the daemon is told to end', async () => {
    const { hardware, ...robot } = litRobot();
    const levels: unknown[] = [];
    const makeFolder = (path: string) => {
      levels.push(robot.level());
      return realDisk.makeFolder(path);
    };
    await begin(0, hardware, { disk: { ...realDisk, makeFolder } });
    expect(levels[0]).to.deep.equal({ level: 0 });
    robot.light();
    const closing = endDaemons();
    expect(robot.level()).to.deep.equal({ level: 0 });
    await closing;
  });
});

function litRobot() {
  const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
  const bus = watched(robot.hardware.bus);
  const hardware = { ...robot.hardware, bus };
  const { laser } = hardware;
  if (isMissing(laser)) throw new Error('the simulated robot has a laser');
  laser.write(true);
  const level = () => robot.truth().laser;
  return { hardware, bus, level, light: () => laser.write(true) };
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
