import { expect } from 'chai';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';
import { RobotError } from '../../src/core/errors.js';
import { type UnitName, unitNamed } from '../../src/core/units.js';
import { runDoctor, toText } from '../../src/doctor/doctor.js';
import {
  CONFIG,
  type Identity,
  identityOf,
  type Script,
  ScriptedSystem,
  type SERVICE,
  STATUS,
  shown,
  WELL,
} from './scripted-system.js';

const RUNNING: Partial<Script> = {
  status: STATUS,
  commands: { ...WELL.commands, 'systemctl show': shown({ ActiveState: 'active', SubState: 'running' }) },
};

async function examine(changes: Partial<Script>, config = CONFIG, configProblem?: string) {
  const system = new ScriptedSystem({ ...WELL, ...changes });
  return { system, findings: await runDoctor({ system, config, configProblem }) };
}

const files = (changed: Script['files']) => ({ files: { ...WELL.files, ...changed } });
const commands = (changed: Script['commands']) => ({ commands: { ...WELL.commands, ...changed } });
const stats = (changed: Script['stats']) => ({ stats: { ...WELL.stats, ...changed } });
const service = (changed: Partial<typeof SERVICE>) => commands({ 'systemctl show': shown(changed) });
const gimbal = (answer: Buffer | RobotError) => ({
  identities: { ...WELL.identities, [unitNamed('gimbal').address]: answer },
});
const identity = (changed: Partial<Identity>) => gimbal(identityOf(unitNamed('gimbal'), changed));
const runningWith = (changed: object) => ({ ...RUNNING, status: { ...STATUS, ...changed } });
/** A running daemon whose status has these members for a unit. */
const unit = (name: UnitName, changed: object) => runningWith({ [name]: { ...STATUS[name], ...changed } });
const offline = (code: string, detail: string) =>
  unit('gimbal', { online: false, problem: { code, detail } });
const laser = (shows: object) => runningWith({ laser: shows });
const busSpeed = (...bytes: number[]) =>
  files({
    '/sys/bus/i2c/devices/i2c-1/of_node/clock-frequency': bytes.length ? Buffer.from(bytes) : undefined,
  });
const gpio = (line: string | undefined) => files({ '/sys/kernel/debug/gpio': line });
const supply = (flags: string) => commands({ 'vcgencmd get_throttled': `throttled=${flags}\n` });
const ended = (line: string) => ({ 'journalctl --no-pager': `${line}\n` });

const tokensOf = (...names: string[]) =>
  encodeTokens(names.map(name => ({ name, role: 'operator', hash: hashOf(name) })));

const CLOSED = { ...RUNNING, status: { code: 'token-required' } };
const CLOSED_TO_ROOT = { ...CLOSED, boardStatus: STATUS };
const ADDON = { missing: 'The addon onoff cannot be loaded.', cure: 'npm ci' };
const TWO_CHIPS = new RobotError('pin-failed', { missing: 'More than one GPIO chip.', cure: 'Remove it.' });
const SIMULATED = { status: { ...STATUS, simulated: true } };

/** A situation for the title, its differences from a healthy board, and a pattern for the finding: verdict, check, detail and cure. */
type Row = readonly [when: string, changes: Partial<Script>, says: RegExp];

const rows: readonly Row[] = [
  [
    'if Node is 18.20.4',
    { node: '18.20.4' },
    /^wrong node: .*18\.20\.4 is older than 20\.19.*apt install nodejs/,
  ],
  ['if Node is 20.18.3', { node: '20.18.3' }, /^wrong node: .*older/],
  [
    'if Node is 24.1.0 and the package accepts every Node from 20.19 on',
    { node: '24.1.0', nodeRange: '>=20.19' },
    /^fine node: .*24\.1\.0/,
  ],
  [
    'if Node is 22.2.0 and the package is made for Node 20 only',
    { node: '22.2.0' },
    /^wrong node: .*addons.*before 21 only.*nodejs=20/,
  ],
  [
    'if the addon onoff cannot be loaded',
    { addon: new RobotError('addon-missing', ADDON) },
    /^wrong addons: .*onoff cannot be loaded.*npm ci/,
  ],
  [
    'if there is no systemd',
    commands({ 'systemctl show': undefined }),
    /^wrong service: .*no trunnion.service.*apt install/,
  ],
  [
    'if systemd does not know the service',
    service({ LoadState: 'not-found' }),
    /^wrong service: .*no trunnion.service/,
  ],
  [
    'if the service is disabled',
    service({ UnitFileState: 'disabled' }),
    /^wrong service: .*boot: disabled.*dpkg --configure -a.*enable --now/,
  ],
  [
    'if the service is enabled but not running',
    {},
    /^wrong service: .*enabled, but inactive.*systemctl start/,
  ],
  [
    'while systemd restarts the service again and again',
    service({ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' }),
    /^wrong service: .*again and again.*journalctl/,
  ],
  [
    'while the service is starting',
    service({ ActiveState: 'activating', SubState: 'start' }),
    /^unknown service: .*starting/,
  ],
  [
    'if the systemd journal shows that the watchdog ended the service',
    commands({
      'systemctl show': shown({ ActiveState: 'active', NRestarts: '2' }),
      ...ended('{"UNIT_RESULT":"watchdog","__REALTIME_TIMESTAMP":"1893456000000000"}'),
    }),
    /^wrong last stop: .*hung, and the watchdog ended it, 2030-01-01T00:00:00.000Z; restarted 2 times/,
  ],
  [
    'if the service was restarted and the systemd journal does not show why',
    service({ ActiveState: 'active', SubState: 'running', NRestarts: '3' }),
    /^unknown last stop: .*restarted 3 times.*sudo trunnion doctor/,
  ],
  [
    'if the service has failed and the systemd journal does not show why',
    service({ ActiveState: 'failed', Result: 'exit-code', ExecMainStatus: '1' }),
    /^wrong last stop: .*ended with an error, status 1/,
  ],
  [
    'if the systemd journal shows that the service ended in order',
    commands(ended('{"__REALTIME_TIMESTAMP":"1893456000000000"}')),
    /^fine last stop: .*ended in order, 2030-01-01/,
  ],
  [
    'if the running daemon has another version',
    runningWith({ version: '0.0.9' }),
    /^wrong daemon: .*version 0\.0\.9 runs.*systemctl restart/,
  ],
  [
    'if a simulator answers instead of the daemon',
    runningWith({ simulated: true }),
    /^wrong daemon: .*simulator answers/,
  ],
  [
    'if a simulator uses the port of the daemon',
    { ...SIMULATED, port: { fails: 'EADDRINUSE' } },
    /^wrong port: .*another program's/,
  ],
  ['if a simulator answers instead of the daemon', SIMULATED, /^fine laser pin: .*line 529 is free/],
  [
    'if the daemon demands a token and the user is not root',
    CLOSED,
    /^unknown daemon: .*closed to everyone without a token.*sudo trunnion doctor/,
  ],
  [
    'if the daemon demands a token but answers on the socket for root',
    CLOSED_TO_ROOT,
    /^fine daemon: .*closed to everyone without/,
  ],
  [
    'if the user is root and the daemon does not answer on the socket for root',
    { ...CLOSED_TO_ROOT, boardStatus: undefined, uid: 0 },
    /^wrong daemon: .*does not answer on the board.*trunnion stop.*systemctl restart/,
  ],
  [
    'if the daemon demands a token but answers on the socket for root',
    CLOSED_TO_ROOT,
    /^fine gimbal controller: .*firmware 1\.2\.3, protocol 1 undefined$/,
  ],
  [
    'if no daemon runs and the gimbal firmware reports its build',
    { build: { image_crc: 0xbeef, longest_loop_us: 131, reset_cause: 3 } },
    /^fine gimbal controller: .*firmware 1\.2\.3, protocol 1, build 0000beef, last reset watchdog, longest loop 131 µs undefined$/,
  ],
  [
    'if the running daemon reports the build of the gimbal firmware',
    runningWith({
      gimbal: { ...STATUS.gimbal, build: { imageCrc: '0000beef', resetCause: 'power', longestLoopUs: 9 } },
    }),
    /^fine gimbal controller: .*is online: firmware .* build 0000beef, last reset power, longest loop 9 µs undefined$/,
  ],
  [
    'if a daemon of another version demands a token',
    { ...CLOSED_TO_ROOT, boardStatus: { ...STATUS, version: '0.0.9' } },
    /^wrong daemon: .*version 0\.0\.9 runs/,
  ],
  ['if the daemon demands a token', CLOSED, /^fine port: .*daemon's/],
  [
    'if the running daemon has no tokens and other machines can reach it',
    runningWith({ access: { state: 'open', exposed: true } }),
    /^fine daemon: .*open to everyone/,
  ],
  [
    'if the running daemon cannot use its list of tokens',
    runningWith({ access: { state: 'unavailable', exposed: false, detail: 'The file is damaged.' } }),
    /^wrong daemon: .*nobody may act.*tokens/,
  ],
  [
    'if the service is active but the daemon does not answer',
    { ...RUNNING, status: undefined },
    /^wrong daemon: .*does not answer at http:..127/,
  ],
  [
    'if a daemon holds the file lock of the state folder but does not answer',
    stats({ '/var/lib/trunnion': { uid: 990, ino: 23 } }),
    /^unknown port: .*a daemon runs, but not at/,
  ],
  [
    'if a daemon holds the file lock of the I2C bus but does not answer',
    stats({ '/dev/i2c-1': { mode: 0o660, uid: 0, gid: 998, ino: 23 } }),
    /^unknown gimbal controller: .*the daemon has the bus/,
  ],
  [
    'if no daemon runs and another program uses the port',
    { port: { fails: 'EADDRINUSE' } },
    /^wrong port: .*another program's.*ss -ltnp/,
  ],
  [
    'if no daemon runs and another web server uses the port',
    { status: { hello: 'world' }, port: { fails: 'EADDRINUSE' } },
    /^wrong port: .*another/,
  ],
  ['if the board has no I2C bus', { folders: { '/dev': ['null'] } }, /^wrong i2c: .*switched off.*do_i2c 0/],
  [
    'if I2C bus 1 is on but has no device file',
    { folders: { '/dev': ['null'], '/sys/bus/i2c/devices': ['i2c-1', '1-0020'] } },
    /^wrong i2c: .*no device file.*modprobe i2c-dev/,
  ],
  [
    'if the board has other I2C buses but not the configured bus 1',
    { folders: { '/dev': ['i2c-20', 'i2c-3'] } },
    /^wrong i2c: .*no bus 1; buses: 3, 20.*i2c\.bus/,
  ],
  [
    'if only root may use the device file of the I2C bus',
    stats({ '/dev/i2c-1': { mode: 0o20600 } }),
    /^wrong i2c access: .*trunnion may not.*usermod -aG i2c/,
  ],
  [
    'if the user of the daemon is not in the group gpio',
    commands({ 'id -G': '990\n' }),
    /^wrong gpio access: .*usermod -aG gpio trunnion/,
  ],
  ['if the I2C bus runs at 10 kHz', busSpeed(0, 0, 0x27, 0x10), /^wrong bus speed: .*10 kHz is too slow/],
  ['if the I2C bus runs at 100 kHz', busSpeed(0, 1, 0x86, 0xa0), /^fine bus speed: .*100 kHz; with 400/],
  [
    'on a board that does not report the speed of the I2C bus',
    busSpeed(),
    /^unknown bus speed: .*does not say/,
  ],
  [
    'if no device answers at the address of the gimbal',
    gimbal(new RobotError('nack')),
    /^wrong gimbal controller: .*nothing answers at 0x20.*power.*i2cdetect -y 1 /,
  ],
  [
    'if something holds a line of the I2C bus low',
    gimbal(new RobotError('bus-timeout')),
    /^wrong gimbal controller: .*held down/,
  ],
  [
    'if the gimbal controller answers with 0xff in every byte',
    gimbal(Buffer.alloc(13, 0xff)),
    /^wrong gimbal controller: .*corrupt/,
  ],
  [
    'if another kind of device answers at the address of the gimbal',
    identity({ magic: 1 }),
    /^wrong gimbal controller: .*another controller: magic is 1/,
  ],
  [
    'if a chassis controller answers at the address of the gimbal',
    identity({ kind: 2 }),
    /^wrong gimbal controller: .*kind is 2, not 1.*Check/,
  ],
  [
    'if the gimbal controller speaks protocol 9',
    identity({ protocol: 9 }),
    /^wrong gimbal controller: .*protocol is 9, not 1/,
  ],
  [
    'if the I2C bus cannot be used',
    gimbal(new RobotError('bus-unavailable', { cure: 'usermod' })),
    /^unknown gimbal controller: .*bus-unavailable.*usermod/,
  ],
  [
    'if the gimbal controller does not answer the running daemon',
    offline('nack', 'The gimbal controller does not answer.'),
    /^wrong gimbal controller: .*is offline. The gimbal controller does not answer.*power/,
  ],
  [
    'if the daemon reports that the gimbal controller has a low supply voltage',
    unit('gimbal', { faults: ['supply_low'] }),
    /^wrong gimbal controller: .*Gimbal reports supply low.*battery/,
  ],
  [
    'if the daemon reports an unknown fault of the gimbal',
    unit('gimbal', { faults: ['too_blue'] }),
    /^wrong gimbal controller: .*too blue.*troubleshooting\.md/,
  ],
  [
    'if the daemon reports that the chassis does not run the saved gains',
    unit('chassis', { gains: { revision: 1, savedAt: null, applied: false } }),
    /^wrong chassis controller: .*does not run the stored gains.*journalctl/,
  ],
  [
    'if the daemon reports that the chassis runs a trial instead of the saved gains',
    unit('chassis', { gains: { ...STATUS.gimbal.gains, applied: false, trial: { id: 'a' } } }),
    /^fine chassis controller: .*online/,
  ],
  [
    'if the chassis firmware has only the withdrawn guard of version 0.2.0',
    unit('chassis', { flags: ['torque', 'withdrawn_guard'] }),
    /^fine chassis controller: .*trials without a guard of its own/,
  ],
  [
    'if the running daemon has no I2C bus',
    offline('bus-unavailable', 'There is no I2C bus.'),
    /^wrong gimbal controller: .*There is no I2C bus.*See "addons", "i2c"/,
  ],
  ['on a board with more than one GPIO chip', { chip: TWO_CHIPS }, /^wrong gpio: .*More than one.*Remove it/],
  [
    'on a board whose GPIO chip has too few lines',
    { chip: { label: 'pinctrl-rp1', base: 571, lines: 10 } },
    /^wrong gpio: .*no BCM 17/,
  ],
  [
    'if no daemon runs and the laser pin is high',
    files({ '/sys/class/gpio/gpio529/value': '1\n' }),
    /^wrong laser pin: .*lit, and no daemon.*echo low .*gpio529.direction/,
  ],
  [
    'if no daemon runs and the laser is lit because the kernel inverts the laser pin',
    files({ '/sys/class/gpio/gpio529/active_low': '1\n' }),
    /^wrong laser pin: .*lit/,
  ],
  [
    'if no daemon runs and the program “fan” holds the laser pin',
    gpio(' gpio-529 (GPIO17              |fan                 ) out hi\n'),
    /^wrong laser pin: .*held by fan/,
  ],
  [
    'if only root may see who holds the laser pin',
    gpio(undefined),
    /^unknown laser pin: .*sudo trunnion doctor/,
  ],
  [
    'if the running daemon has no laser pin',
    laser({ state: null, light: 'unknown', problem: { detail: 'No pin.' } }),
    /^wrong laser pin: .*No pin/,
  ],
  [
    'if the running daemon reports that the program “fan” holds a GPIO line',
    laser({ state: 'off', light: 'dark', problem: { detail: 'Line 539 is held by fan.' } }),
    /^wrong laser pin: .*held by fan/,
  ],
  [
    'if the daemon has switched the laser on but the laser pin does not obey',
    laser({ state: 'on', light: 'fault' }),
    /^wrong laser pin: .*LASER MAY BE ON: cut its supply/,
  ],
  [
    'if the laser pin does not obey and the daemon reports no laser state',
    laser({ state: null, light: 'fault', problem: { detail: 'The pin does not obey.' } }),
    /^wrong laser pin: .*LASER MAY BE ON: cut its supply/,
  ],
  [
    'if the state folder does not exist',
    stats({ '/var/lib/trunnion': undefined }),
    /^wrong state folder: .*does not exist.*systemctl start/,
  ],
  [
    'if the state folder belongs to root',
    stats({ '/var/lib/trunnion': { uid: 0 } }),
    /^wrong state folder: .*not trunnion's.*chown/,
  ],
  [
    'if the file of gains in the state folder belongs to root',
    stats({ '/var/lib/trunnion/gains.jsonl': { uid: 0 } }),
    /^wrong state folder: .*gains\.jsonl is not trunnion's.*chown -R/,
  ],
  [
    'if there is no systemd and the current user does not own the state folder',
    commands({ 'systemctl show': undefined }),
    /^unknown state folder: .*is not pi's sudo trunnion doctor$/,
  ],
  ['if there is no list of tokens', {}, /^fine tokens: .*no list/],
  [
    'if two tokens have names that are reserved for callers without a token',
    files({ '/var/lib/trunnion/tokens.json': tokensOf('desk', '10.0.0.7', 'break glass') }),
    /^wrong tokens: .*from 10\.0\.0\.7, break glass sudo trunnion token remove/,
  ],
  [
    'if the list of tokens is damaged',
    files({ '/var/lib/trunnion/tokens.json': '{' }),
    /^wrong tokens: .*token list/,
  ],
  [
    'if the current user may not use the state folder',
    { sync: { fails: 'EACCES' } },
    /^unknown state folder: .*sudo trunnion doctor/,
  ],
  [
    'if the disk of the state folder is read-only',
    { sync: { fails: 'EROFS' } },
    /^wrong state folder: .*read-only.*remount/,
  ],
  [
    'if the disk of the state folder is full',
    { sync: { fails: 'ENOSPC' } },
    /^wrong state folder: .*no room.*apt clean/,
  ],
  [
    'if a sync of the state folder fails with EIO',
    { sync: { fails: 'EIO' } },
    /^wrong state folder: .*EIO.*SD card/,
  ],
  ['if a sync of the state folder takes 900 ms', { sync: 900 }, /^wrong state folder: .*900\.0 ms.*SD card/],
  [
    'if the running daemon reports that its disk is full',
    runningWith({ storage: { ok: false, setAside: [], detail: 'It is full.', cure: 'Free some.' } }),
    /^wrong state folder: .*It is full.*Free some/,
  ],
  [
    'if the event log of the running daemon does not reach the disk',
    runningWith({ log: { ok: false, detail: 'The log of events does not reach the disk.' } }),
    /^wrong state folder: .*does not reach the disk.*Look at/,
  ],
  [
    'if the running daemon cannot store the lock and the phase of the match',
    runningWith({ match: { ...STATUS.match, recorded: false } }),
    /^wrong state folder: .*lock and phase.*SD card/,
  ],
  [
    'if the running daemon has set aside the damaged file “gains.1”',
    runningWith({ storage: { ok: true, setAside: ['gains.1'] } }),
    /^wrong state folder: .*gains\.1/,
  ],
  [
    'if the running daemon can use neither its state folder nor its tokens',
    runningWith({
      storage: { ok: false, setAside: [], detail: 'It is empty.', cure: 'sudo rm MARK' },
      access: { state: 'unavailable', exposed: false, detail: 'The tokens cannot be read.' },
    }),
    /^wrong tokens: The tokens cannot be read\. See "state folder"\.$/,
  ],
  ['if only 20 MB of the disk are free', { freeBytes: 20e6 }, /^wrong disk space: .*20 MB free.*apt clean/],
  ['while the supply voltage is too low', supply('0x50005'), /^wrong supply: .*now/],
  [
    'if the supply voltage was too low at some time since the boot',
    supply('0x50000'),
    /^wrong supply: .*since boot/,
  ],
  [
    'if the board is too hot but its supply voltage is not low',
    supply('0x80008'),
    /^fine supply: .*no under-voltage/,
  ],
  [
    'if “vcgencmd” is missing and the kernel reports a low supply voltage',
    {
      ...commands({ 'vcgencmd get_throttled': undefined }),
      ...files({
        '/sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
        '/sys/class/hwmon/hwmon1/name': 'rpi_volt\n',
        '/sys/class/hwmon/hwmon1/in0_lcrit_alarm': '1\n',
      }),
      folders: { ...WELL.folders, '/sys/class/hwmon': ['hwmon0', 'hwmon1'] },
    },
    /^wrong supply: .*under-voltage/,
  ],
  [
    'on a board without a sensor of the supply voltage',
    commands({ 'vcgencmd get_throttled': undefined }),
    /^unknown supply: .*no such sensor/,
  ],
  [
    'if a clock that no network sets is behind the time of the last save',
    { now: '2030-01-01T09:00:00Z', ...commands({ 'timedatectl show': 'no\n' }) },
    /^wrong clock: .*before the last save.*set-ntp/,
  ],
  [
    'if the clock is behind the day on which this version was built',
    { now: '2029-11-30T12:00:00Z', files: {} },
    /^wrong clock: .*before this program was made.*set-ntp/,
  ],
  [
    'if the clock is not synchronized over the network',
    commands({ 'timedatectl show': 'no\n' }),
    /^fine clock: .*not synchronized/,
  ],
];

describe('“trunnion doctor”', () => {
  it('finds nothing wrong on a good board with a running daemon, and touches neither the port nor the I2C bus nor the state folder', async () => {
    const { system, findings } = await examine(RUNNING);
    expect(findings.filter(({ state }) => state !== 'fine')).to.deep.equal([]);
    expect(system.touched).to.deep.equal([]);
  });

  it('reports only the check “service” as wrong on a good board without a running daemon, and only reads from the controllers', async () => {
    const { system, findings } = await examine({});
    expect(findings.filter(({ state }) => state !== 'fine').map(({ check }) => check)).to.deep.equal([
      'service',
    ]);
    expect(system.touched).to.deep.equal([
      'port 0.0.0.0:8080',
      'bus 1: read 13 of 0 at 32',
      'bus 1: read 16 of 16 at 32',
      'bus 1: read 13 of 0 at 33',
      'bus 1: read 16 of 16 at 33',
      'folder /var/lib/trunnion',
    ]);
  });

  it('touches neither the port nor the I2C bus nor the state folder if the running daemon does not answer', async () => {
    const { system } = await examine({ ...RUNNING, status: undefined });
    expect(system.touched).to.deep.equal([]);
  });

  for (const [when, changes, says] of rows) {
    const [, verdict, check] = /^\^?(\w+) ([^:]+):/.exec(says.source) ?? [];
    it(`reports the check “${check}” as ${verdict}${verdict === 'wrong' ? ', and says what to do,' : ''} ${when}`, async () => {
      const { findings } = await examine(changes);
      const found = findings.map(({ state, check, detail, cure }) => `${state} ${check}: ${detail} ${cure}`);
      expect(
        found.filter(text => says.test(text)),
        found.join('\n'),
      ).to.have.length(1);
      expect(findings.filter(({ state, cure }) => state === 'wrong' && !cure)).to.deep.equal([]);
    });
  }

  it('reports the laser as lit if its pin is at level 0 and is configured as active-low', async () => {
    const config = { ...CONFIG, laser: { ...CONFIG.laser, activeLow: true } };
    const { findings } = await examine({}, config);
    expect(findings.find(({ check }) => check === 'laser pin')?.detail).to.match(/lit/);
  });

  it('reports the check “port” as wrong if the configured port is 80 and the user of the daemon is not root', async () => {
    const { findings } = await examine(
      {},
      { ...CONFIG, http: { ...CONFIG.http, host: '0.0.0.0', port: 80 } },
    );
    const port = findings.find(({ check }) => check === 'port');
    expect(port).to.include({ state: 'wrong', detail: '80 is for root only, and the daemon is trunnion' });
  });

  it('reports a mistake in the configuration, and still makes the other checks', async () => {
    const { findings } = await examine({}, CONFIG, 'config.yaml:3: laser.gpio: expected 0 to 53');
    const wrong = findings.filter(({ state }) => state === 'wrong');
    expect(wrong.map(({ check }) => check)).to.deep.equal(['configuration', 'service']);
    expect(wrong[0]?.detail).to.contain('config.yaml:3: laser.gpio');
  });

  it('prints one line for each check, and one more line with the cure for a check that is wrong', () => {
    const text = toText([
      { check: 'node', state: 'fine', detail: 'Node 20.19.2' },
      { check: 'supply', state: 'wrong', detail: 'under-voltage now', cure: 'Another supply.' },
    ]);
    expect(text).to.equal(
      'fine     node    Node 20.19.2\n' +
        'wrong    supply  under-voltage now\n' +
        '                 -> Another supply.\n' +
        '\n2 checks: 1 wrong, 0 unknown, 1 fine.\n',
    );
  });
});
