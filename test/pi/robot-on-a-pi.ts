import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildSync } from 'esbuild';
import { defaultGains, type GainSet, MODES, unitNamed } from '../../src/core/units.js';
import { crc8 } from '../../src/protocol/codec.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { sectionOf } from '../support/documented-calls.js';
import { putOnDisk, until, VirtualPi } from './virtual-pi.js';

/** Far more than is ever needed: on a slow machine, only a hang is a failure. */
const BOOT_MS = 900_000;
const START_MS = 600_000;
/** The emulated processor cannot poll 50 times a second, so the host silence is longer. */
const CONFIG = 'supervision:\\n  pollHz: 5\\n  hostSilenceMs: 2000\\n';
const INSTALL = readFileSync('docs/install.md', 'utf8');
const [gimbal, chassis] = [unitNamed('gimbal'), unitNamed('chassis')];

/** The tests run in the order in which a team works: from an empty board to the removal of the package. */
describe('a robot on a Pi', function () {
  this.timeout(BOOT_MS + 2 * START_MS);
  let folder: string;
  let pi: VirtualPi;
  /** The package's file name, as copied to the board. */
  let deb: string;

  const status = async () => (await pi.ask('/api/status')).body;
  const online = (...units: string[]) =>
    until(`${units.join(' and ')} online`, START_MS, async () => {
      const shown = await status();
      return units.every(unit => shown[unit].online);
    });
  /** Waits until the daemon answers. curl runs inside the guest, because that is faster. */
  const serves = () =>
    pi.run(
      `curl -s -o /dev/null --retry 200 --retry-delay 1 --retry-connrefused localhost:8080/healthz`,
      START_MS,
    );
  /** Retries a 503, as a program should. */
  const insist = (path: string, body: unknown) =>
    until(`${path} answers 200`, START_MS, async () => (await pi.ask(path, body)).status === 200);
  const laser = (action: 'on' | 'off') => pi.ask('/api/laser', { action });
  const light = async () => {
    expect(await laser('on')).to.deep.equal({ status: 200, body: { state: 'on' } });
    expect(await pi.laserLevel()).to.equal(1);
  };
  const isDark = async () => (await pi.laserLevel()) === 0;
  const darken = async () => {
    expect(await laser('off')).to.deep.equal({ status: 200, body: { state: 'off' } });
    expect(await isDark()).to.equal(true);
  };
  const lastOf = (pattern: RegExp) => Number([...pi.heard.matchAll(pattern)].at(-1)?.[1] ?? 0);
  const mainPid = () => pi.run('systemctl show -P MainPID trunnion');
  const gainsNumbered = (number: number): GainSet => ({
    ...defaultGains(gimbal),
    angle_yaw: { kp: number, ki: 0.1, kd: -0.001 },
  });

  before(() => {
    execFileSync('test/pi/setup', { stdio: 'inherit' });
    folder = mkdtempSync(join(process.env.TRUNNION_PI_FOLDER ?? tmpdir(), 'trunnion-pi-'));
    const disk = join(folder, 'disk.raw');
    const cache = process.env.TRUNNION_PI_CACHE ?? join(process.env.HOME ?? '/root', '.cache/trunnion-pi');
    execFileSync('cp', ['--sparse=always', join(cache, 'base.raw'), disk]);
    const packed = execFileSync('node', ['dist/scripts/package/main.js', 'arm64'], { encoding: 'utf8' });
    deb = packed.split(':')[0] ?? '';
    const player = join(folder, 'memory-controllers.mjs');
    buildSync({
      entryPoints: ['dist/test/pi/memory-controllers.js'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: player,
    });
    putOnDisk(disk, [
      [deb, `/root/${deb}`],
      [player, '/root/memory-controllers.mjs'],
      ['test/pi/memory-controllers.service', '/etc/systemd/system/memory-controllers.service'],
    ]);
    pi = new VirtualPi(disk, folder);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    console.log(await pi.run('journalctl -u trunnion -u memory-controllers -n 60 --no-pager').catch(String));
  });

  after(async () => {
    await pi?.cutPower();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  it('serves HTTP and switches its laser if installed before I2C was switched on, and answers a mode switch with 503', async () => {
    await pi.powerOn([gimbal.address, chassis.address]);
    await pi.logIn(BOOT_MS);
    await pi.run('modprobe -r i2c-bcm2835');
    await pi.run(`sudo apt install -y ./${deb}`, START_MS);
    await serves();
    const states = await pi.run('systemctl is-enabled trunnion; systemctl is-active trunnion');
    expect(states).to.equal('enabled\nactive');
    expect((await pi.ask('/api/gimbal/mode/switch', { mode: 'auto' })).status).to.equal(503);
    await light();
    await darken();
  });

  it('makes trunnion doctor name I2C and fail while I2C is off', async () => {
    const doctor = await pi.run('sudo trunnion doctor; echo exit $?', START_MS);
    expect(doctor).to.match(/i2c/i);
    expect(doctor).to.match(/exit 1$/);
  });

  it('serves HTTP with both units online after the next boot, without another command', async () => {
    await pi.run(`printf '${CONFIG}' > /etc/trunnion/config.yaml; systemctl enable memory-controllers`);
    await pi.powerOff(START_MS);
    await pi.powerOn([gimbal.address, chassis.address]);
    await pi.logIn(BOOT_MS);
    await serves();
    await online('gimbal', 'chassis');
  });

  it('switches the level of the laser pin when the laser is switched on and off', async () => {
    expect(await isDark()).to.equal(true);
    await light();
    await darken();
  });

  it('writes mode frames and heartbeats with valid CRCs on the I2C bus', async () => {
    await insist('/api/gimbal/mode/switch', { mode: 'auto' });
    const writes = pi.writesOnTheWire();
    const register = REGISTERS.mode.address;
    const mode = MODES.indexOf('auto');
    expect(writes).to.deep.include({
      address: gimbal.address,
      bytes: [register, mode, crc8(gimbal.address, register, Uint8Array.of(mode))],
    });
    const beats = writes.filter(({ bytes: [at, ...frame] }) => {
      // MemoryController wipes each heartbeat that it has received. Those writes are not the daemon's.
      const wiped = frame.every(byte => byte === 0xff);
      return at === REGISTERS.heartbeat.address && frame.length > 0 && !wiped;
    });
    expect(new Set(beats.map(({ address }) => address))).to.deep.equal(
      new Set([gimbal.address, chassis.address]),
    );
    for (const { address, bytes } of beats) {
      const [at = 0, ...frame] = bytes;
      expect(frame.pop()).to.equal(crc8(address, at, Uint8Array.from(frame)));
    }
  });

  it('makes trunnion doctor name gimbal, chassis and the laser pin (line 529)', async () => {
    const doctor = await pi.run('sudo trunnion doctor', START_MS);
    expect(doctor).to.match(/gimbal/i);
    expect(doctor).to.match(/chassis/i);
    expect(doctor).to.contain('529');
  });

  /** Waits until the pin is dark. A real board takes one second, or four after a hang. An emulated one depends on its host. */
  const darkBeforeItServes = async () => {
    const tookMs = await until('the pin is low', START_MS, isDark);
    console.log(`      dark after ${Math.round(tookMs)} ms`);
    expect((await pi.ask('/healthz')).status).to.equal(0);
  };

  it('darkens its lit laser after a SIGKILL of the daemon, before a new process serves', async () => {
    const pid = await mainPid();
    await light();
    pi.start(`kill -KILL ${pid}`);
    await darkBeforeItServes();
    await serves();
    expect(await isDark()).to.equal(true);
    expect(await mainPid()).not.to.equal(pid);
  });

  it('darkens its lit laser after a hang of the daemon, before a new process serves', async () => {
    const pid = await mainPid();
    await light();
    pi.start(`kill -STOP ${pid}`);
    await darkBeforeItServes();
    await serves();
    expect(await mainPid()).not.to.equal(pid);
  });

  it('shows its running service, log, laser pin, I2C device and page to the usual shell commands', async () => {
    await insist('/api/gimbal/pidconfig', gainsNumbered(1));
    expect(await pi.run('systemctl status trunnion')).to.contain('active (running)');
    expect(await pi.run('journalctl -u trunnion')).to.contain('listening on');
    expect(await pi.run('cat /sys/kernel/debug/gpio')).to.match(/gpio-529 .*sysfs/);
    expect(await pi.run('ls /dev/i2c-*')).to.contain('/dev/i2c-1');
    expect(await pi.run('curl -s localhost:8080/')).to.contain('<title>');
  });

  it('obeys trunnion commands of root on the board, and all state files still belong to the user trunnion', async () => {
    const isOwned = async () => {
      expect(await pi.run('find /var/lib/trunnion ! -user trunnion')).to.equal('');
    };
    await light();
    const said = await pi.run('sudo trunnion token add driver --role operator', START_MS);
    const driver = /^[0-9a-z]{4}(-[0-9a-z]{4}){7}/m.exec(said)?.[0] ?? expect.fail(said);
    // The first token darkens and stops a robot that was open to everyone.
    expect(await isDark()).to.equal(true);
    await isOwned();
    expect(await pi.run('sudo trunnion doctor', START_MS)).to.contain('closed to everyone without a token');
    expect((await laser('on')).status).to.equal(401);
    await until('a resume', START_MS, async () => (await pi.ask('/api/resume', {}, driver)).status === 200);
    expect(await pi.run('sudo trunnion stop', START_MS)).to.contain('Stopped');
    expect(await pi.run('sudo trunnion match end', START_MS)).to.contain('The match has ended');
    const verified = await pi.run('sudo trunnion log verify /var/lib/trunnion; echo exit $?', START_MS);
    expect(verified).to.match(/exit 0$/);
    await pi.run('sudo trunnion token remove driver', START_MS);
    await isOwned();
    await insist('/api/match', { id: 'M1', revision: 1, phase: 'none' });
    await insist('/api/resume', {});
    await light();
    await darken();
  });

  it('has the gains of the backup, and not those saved later, after the backup was restored', async () => {
    const [backUp, ...putBack] = sectionOf(INSTALL, '## Backup').match(/(?<=^ {4})sudo .*/gm) ?? [];
    await pi.run(backUp ?? '');
    await insist('/api/gimbal/pidconfig', gainsNumbered(2));
    expect(putBack).to.have.length(4);
    for (const command of putBack) await pi.run(command, START_MS);
    await serves();
    await until('the gains run', START_MS, async () => (await status()).gimbal.gains.applied);
    expect((await pi.ask('/api/gimbal/pidconfig')).body).to.deep.equal(gainsNumbered(1));
  });

  it('keeps mode, gains and configuration when the package is installed again', async () => {
    await online('gimbal');
    await insist('/api/gimbal/mode/switch', { mode: 'auto' });
    const pid = await mainPid();
    await pi.run(`sudo apt install -y --reinstall ./${deb}`, START_MS);
    await serves();
    await online('gimbal');
    expect(await mainPid()).not.to.equal(pid);
    expect((await status()).gimbal.mode).to.equal('auto');
    expect((await pi.ask('/api/gimbal/pidconfig')).body).to.deep.equal(gainsNumbered(1));
    expect(await pi.run('tail -n 1 /etc/trunnion/config.yaml')).to.equal(CONFIG.split('\\n').at(-2)?.trim());
  });

  it('has the last confirmed gains or newer ones after a power cut during saves', async () => {
    const body = JSON.stringify(gainsNumbered(7)).replace(':7,', ':$n,').replaceAll('"', '\\"');
    const save = `curl -sf -m 5 -o /dev/null -H content-type:application/json -d "${body}" localhost:8080/api/gimbal/pidconfig`;
    pi.start(`n=1; while :; do n=$((n+1)); echo asked-$n; ${save} && echo saved-$n; done`);
    await until(
      'three saves',
      START_MS,
      () => lastOf(/saved-(\d+)/g) > 0 && pi.heard.match(/saved-\d/g)?.length === 3,
    );
    // The power fails in the middle of the next saves.
    await new Promise(resolve => setTimeout(resolve, 137));
    await pi.cutPower();
    const [acknowledged, asked] = [lastOf(/saved-(\d+)/g), lastOf(/asked-(\d+)/g)];
    console.log(`      power cut when ${asked} was asked and ${acknowledged} acknowledged`);

    // Powers the board on without the chassis' controller.
    await pi.powerOn([gimbal.address]);
    await pi.logIn(BOOT_MS);
    await serves();
    const { body: gains } = await pi.ask('/api/gimbal/pidconfig');
    const found = gains.angle_yaw.kp;
    expect(found).to.be.within(acknowledged, asked + 1);
    expect(gains).to.deep.equal(gainsNumbered(found));
  });

  it('still switches the mode of the gimbal and the laser while the controller of the chassis is missing', async () => {
    await online('gimbal');
    expect((await pi.ask('/api/chassis/mode/switch', { mode: 'auto' })).status).to.equal(503);
    expect((await pi.ask('/api/chassis/pidconfig')).status).to.equal(200);
    await insist('/api/gimbal/mode/switch', { mode: 'debug' });
    await light();
    await darken();
  });

  it('keeps its configuration and state files, and darkens its lit laser, when the package is removed', async () => {
    await light();
    await pi.run('sudo apt remove -y trunnion', START_MS);
    expect(await isDark()).to.equal(true);
    expect((await pi.ask('/healthz')).status).to.equal(0);
    expect(await pi.run('ls /etc/trunnion')).to.equal('config.yaml');
    expect(await pi.run('ls -A /var/lib/trunnion')).not.to.equal('');
    expect(await pi.run('ls /usr/bin/trunnion')).to.contain('No such file');
  });

  it('loses its folders, its service and the user trunnion when the package is purged', async () => {
    await pi.run('sudo apt purge -y trunnion', START_MS);
    const left = await pi.run('ls -d /etc/trunnion /var/lib/trunnion /usr/lib/trunnion; id trunnion');
    expect(left.match(/No such file|no such user/g)).to.have.length(4);
    expect(await pi.run('systemctl is-enabled trunnion')).to.equal('not-found');
  });
});
