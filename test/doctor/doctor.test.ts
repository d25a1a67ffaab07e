import { expect } from 'chai';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';
import { RobotError } from '../../src/core/errors.js';
import { unitNamed } from '../../src/core/units.js';
import { runDoctor, toText } from '../../src/doctor/doctor.js';
import type { Finding } from '../../src/doctor/finding.js';
import {
  CONFIG,
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

function files(changed: Script['files']): Partial<Script> {
  return { files: { ...WELL.files, ...changed } };
}

function commands(changed: Script['commands']): Partial<Script> {
  return { commands: { ...WELL.commands, ...changed } };
}

function stats(changed: Script['stats']): Partial<Script> {
  return { stats: { ...WELL.stats, ...changed } };
}

function service(changed: Partial<typeof SERVICE>): Partial<Script> {
  return commands({ 'systemctl show': shown(changed) });
}

function gimbal(answer: Buffer | RobotError): Partial<Script> {
  return { identities: { ...WELL.identities, [unitNamed('gimbal').address]: answer } };
}

function runningWith(changed: Record<string, unknown>): Partial<Script> {
  return { ...RUNNING, status: { ...STATUS, ...changed } };
}

function tokensOf(...names: string[]): Buffer {
  return encodeTokens(names.map(name => ({ name, role: 'operator', hash: hashOf(name) })));
}

const CLOSED_TO_ROOT = { ...RUNNING, status: { code: 'token-required' }, boardStatus: STATUS };

type Row = readonly [what: string, changes: Partial<Script>, check: string, ok: Finding['ok'], says: RegExp];

const rows: readonly Row[] = [
  ['an old Node', { node: '18.20.4' }, 'node', 'wrong', /18\.20\.4 is older than 20\.19.*apt install nodejs/],
  ['Node 20.18', { node: '20.18.3' }, 'node', 'wrong', /older/],
  ['Node 24 in a checkout', { node: '24.1.0', nodeRange: '>=20.19' }, 'node', 'fine', /24\.1\.0/],
  ['Node 22 with the package', { node: '22.2.0' }, 'node', 'wrong', /addons.*before 21 only.*nodejs=20/],
  [
    'no addon',
    {
      addon: new RobotError('addon-missing', {
        missing: 'The addon onoff cannot be loaded.',
        cure: 'npm ci',
      }),
    },
    'addons',
    'wrong',
    /onoff cannot be loaded.*npm ci/,
  ],
  [
    'no systemd',
    commands({ 'systemctl show': undefined }),
    'service',
    'wrong',
    /no trunnion.service.*apt install/,
  ],
  ['no unit', service({ LoadState: 'not-found' }), 'service', 'wrong', /no trunnion.service/],
  [
    'a disabled unit',
    service({ UnitFileState: 'disabled' }),
    'service',
    'wrong',
    /boot: disabled.*dpkg --configure -a.*enable --now/,
  ],
  ['a stopped unit', {}, 'service', 'wrong', /enabled, but inactive.*systemctl start/],
  [
    'a unit that falls again and again',
    service({ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' }),
    'service',
    'wrong',
    /again and again.*journalctl/,
  ],
  [
    'a unit that is about to serve',
    service({ ActiveState: 'activating', SubState: 'start' }),
    'service',
    'unknown',
    /starting/,
  ],
  [
    'a restart after a hang',
    commands({
      'systemctl show': shown({ ActiveState: 'active', NRestarts: '2' }),
      'journalctl --no-pager': '{"UNIT_RESULT":"watchdog","__REALTIME_TIMESTAMP":"1893456000000000"}\n',
    }),
    'last stop',
    'wrong',
    /hung, and the watchdog ended it, 2030-01-01T00:00:00.000Z; restarted 2 times/,
  ],
  [
    'restarts, and no journal to read',
    service({ ActiveState: 'active', SubState: 'running', NRestarts: '3' }),
    'last stop',
    'unknown',
    /restarted 3 times.*sudo trunnion doctor/,
  ],
  [
    'an exit code, and no journal to read',
    service({ ActiveState: 'failed', Result: 'exit-code', ExecMainStatus: '1' }),
    'last stop',
    'wrong',
    /ended with an error, status 1/,
  ],
  [
    'an end in order',
    commands({ 'journalctl --no-pager': '{"__REALTIME_TIMESTAMP":"1893456000000000"}\n' }),
    'last stop',
    'fine',
    /ended in order, 2030-01-01/,
  ],
  [
    'an older daemon',
    runningWith({ version: '0.0.9' }),
    'daemon',
    'wrong',
    /version 0\.0\.9 runs.*systemctl restart/,
  ],
  ['the simulator', runningWith({ simulated: true }), 'daemon', 'wrong', /simulator answers/],
  [
    'the port under the simulator',
    { status: { ...STATUS, simulated: true }, port: { fails: 'EADDRINUSE' } },
    'port',
    'wrong',
    /another program's/,
  ],
  [
    'the laser under the simulator',
    { status: { ...STATUS, simulated: true } },
    'laser pin',
    'fine',
    /line 529 is free/,
  ],
  [
    'a daemon that is closed',
    { ...RUNNING, status: { code: 'token-required' } },
    'daemon',
    'unknown',
    /closed to everyone without a token.*sudo trunnion doctor/,
  ],
  ['a daemon that is closed, to root', CLOSED_TO_ROOT, 'daemon', 'fine', /closed to everyone without/],
  [
    'a daemon that is closed and does not answer root',
    { ...CLOSED_TO_ROOT, boardStatus: undefined, uid: 0 },
    'daemon',
    'wrong',
    /does not answer on the board.*trunnion stop.*systemctl restart/,
  ],
  ['its controllers, to root', CLOSED_TO_ROOT, 'gimbal controller', 'fine', /firmware 1/],
  [
    'what is wrong behind a closed door, to root',
    { ...CLOSED_TO_ROOT, boardStatus: { ...STATUS, version: '0.0.9' } },
    'daemon',
    'wrong',
    /version 0\.0\.9 runs/,
  ],
  [
    'the port of a closed daemon',
    { ...RUNNING, status: { code: 'token-required' } },
    'port',
    'fine',
    /daemon's/,
  ],
  [
    'a daemon that is open',
    { ...RUNNING, status: { ...STATUS, access: { state: 'open', exposed: true } } },
    'daemon',
    'fine',
    /open to everyone/,
  ],
  [
    'a list of tokens that cannot be read',
    runningWith({ access: { state: 'unavailable', exposed: false, detail: 'The file is damaged.' } }),
    'daemon',
    'wrong',
    /The file is damaged.*token list/,
  ],
  [
    'a daemon that is mute',
    { ...RUNNING, status: undefined },
    'daemon',
    'wrong',
    /does not answer at http:..127/,
  ],
  [
    'a daemon on another port',
    { stats: { ...WELL.stats, '/var/lib/trunnion': { uid: 990, ino: 23 } } },
    'port',
    'unknown',
    /a daemon runs, but not at/,
  ],
  [
    'a daemon on another port with another state folder',
    stats({ '/dev/i2c-1': { mode: 0o660, uid: 0, gid: 998, ino: 23 } }),
    'gimbal controller',
    'unknown',
    /the daemon has the bus/,
  ],
  ['a port in use', { port: { fails: 'EADDRINUSE' } }, 'port', 'wrong', /another program's.*ss -ltnp/],
  [
    'an answer that is not ours',
    { status: { hello: 'world' }, port: { fails: 'EADDRINUSE' } },
    'port',
    'wrong',
    /another/,
  ],
  ['I2C off', { folders: { '/dev': ['null'] } }, 'i2c', 'wrong', /switched off.*do_i2c 0/],
  [
    'no device file',
    { folders: { '/dev': ['null'], '/sys/bus/i2c/devices': ['i2c-1', '1-0020'] } },
    'i2c',
    'wrong',
    /no device file.*modprobe i2c-dev/,
  ],
  [
    'another bus only',
    { folders: { '/dev': ['i2c-20', 'i2c-3'] } },
    'i2c',
    'wrong',
    /no bus 1; buses: 3, 20.*i2c\.bus/,
  ],
  [
    "a device of root's",
    stats({ '/dev/i2c-1': { mode: 0o20600 } }),
    'i2c access',
    'wrong',
    /trunnion may not.*usermod -aG i2c/,
  ],
  [
    'a user outside the group',
    commands({ 'id -G': '990\n' }),
    'gpio access',
    'wrong',
    /usermod -aG gpio trunnion/,
  ],
  [
    'a slow bus',
    files({ '/sys/bus/i2c/devices/i2c-1/of_node/clock-frequency': Buffer.from([0, 0, 0x27, 0x10]) }),
    'bus speed',
    'wrong',
    /10 kHz is too slow/,
  ],
  [
    'the default speed',
    files({ '/sys/bus/i2c/devices/i2c-1/of_node/clock-frequency': Buffer.from([0, 1, 0x86, 0xa0]) }),
    'bus speed',
    'fine',
    /100 kHz; with 400/,
  ],
  [
    'a board that does not say',
    files({ '/sys/bus/i2c/devices/i2c-1/of_node/clock-frequency': undefined }),
    'bus speed',
    'unknown',
    /does not say/,
  ],
  [
    'no controller',
    gimbal(new RobotError('nack')),
    'gimbal controller',
    'wrong',
    /nothing answers at 0x20.*power.*i2cdetect -y 1 /,
  ],
  ['a held bus', gimbal(new RobotError('bus-timeout')), 'gimbal controller', 'wrong', /held down/],
  ['noise', gimbal(Buffer.alloc(13, 0xff)), 'gimbal controller', 'wrong', /corrupt/],
  [
    'something else',
    gimbal(identityOf(unitNamed('gimbal'), { magic: 1 })),
    'gimbal controller',
    'wrong',
    /another controller: magic is 1/,
  ],
  [
    'the wrong one',
    gimbal(identityOf(unitNamed('gimbal'), { kind: 2 })),
    'gimbal controller',
    'wrong',
    /kind is 2, not 1.*Check/,
  ],
  [
    'a newer protocol',
    gimbal(identityOf(unitNamed('gimbal'), { protocol: 9 })),
    'gimbal controller',
    'wrong',
    /protocol is 9, not 1/,
  ],
  [
    'no access to the bus',
    gimbal(new RobotError('bus-unavailable', { cure: 'usermod' })),
    'gimbal controller',
    'unknown',
    /bus-unavailable.*usermod/,
  ],
  [
    'a controller offline',
    runningWith({
      gimbal: { online: false, problem: { code: 'nack', detail: 'The gimbal controller does not answer.' } },
    }),
    'gimbal controller',
    'wrong',
    /cannot reach it: The gimbal controller does not answer.*power/,
  ],
  [
    'an empty battery',
    runningWith({ gimbal: { ...STATUS.gimbal, faults: ['supply_low'] } }),
    'gimbal controller',
    'wrong',
    /Gimbal reports supply_low.*battery/,
  ],
  [
    'a fault that this doctor does not know',
    runningWith({ gimbal: { ...STATUS.gimbal, faults: ['too_blue'] } }),
    'gimbal controller',
    'wrong',
    /too_blue.*troubleshooting\.md/,
  ],
  [
    'gains that are not those of the journal',
    runningWith({ chassis: { ...STATUS.chassis, gains: { revision: 1, applied: false } } }),
    'chassis controller',
    'wrong',
    /does not run the stored gains.*journalctl/,
  ],
  [
    'gains that somebody tries',
    runningWith({ chassis: { ...STATUS.chassis, gains: { applied: false, trial: { id: 'a' } } } }),
    'chassis controller',
    'fine',
    /online/,
  ],
  [
    'firmware with the withdrawn guard of 0.2.0',
    runningWith({ chassis: { ...STATUS.chassis, flags: ['torque', 'withdrawn_guard'] } }),
    'chassis controller',
    'fine',
    /trials without a guard of its own/,
  ],
  [
    'a daemon without a bus',
    runningWith({
      gimbal: { online: false, problem: { code: 'bus-unavailable', detail: 'There is no I2C bus.' } },
    }),
    'gimbal controller',
    'wrong',
    /There is no I2C bus.*See "addons", "i2c"/,
  ],
  [
    'two chips',
    { chip: new RobotError('pin-failed', { missing: 'More than one GPIO chip.', cure: 'Remove it.' }) },
    'gpio',
    'wrong',
    /More than one.*Remove it/,
  ],
  [
    'a chip without the pin',
    { chip: { label: 'pinctrl-rp1', base: 571, lines: 10 } },
    'gpio',
    'wrong',
    /no BCM 17/,
  ],
  [
    'a lit laser',
    files({ '/sys/class/gpio/gpio529/value': '1\n' }),
    'laser pin',
    'wrong',
    /lit, and no daemon.*echo low .*gpio529.direction/,
  ],
  [
    'a lit laser behind active_low',
    files({ '/sys/class/gpio/gpio529/active_low': '1\n' }),
    'laser pin',
    'wrong',
    /lit/,
  ],
  [
    'a pin in use',
    files({ '/sys/kernel/debug/gpio': ' gpio-529 (GPIO17              |fan                 ) out hi\n' }),
    'laser pin',
    'wrong',
    /held by fan/,
  ],
  [
    'a pin nobody may see',
    files({ '/sys/kernel/debug/gpio': undefined }),
    'laser pin',
    'unknown',
    /sudo trunnion doctor/,
  ],
  [
    'a daemon without laser',
    runningWith({ laser: { state: null, problem: { detail: 'No pin.' } } }),
    'laser pin',
    'wrong',
    /No pin/,
  ],
  [
    'a daemon that cannot read its interlock',
    runningWith({ laser: { state: 'off', light: 'dark', problem: { detail: 'Line 539 is held by fan.' } } }),
    'laser pin',
    'wrong',
    /held by fan/,
  ],
  [
    'a laser that is lit unasked',
    runningWith({ laser: { state: 'on', light: 'fault' } }),
    'laser pin',
    'wrong',
    /may be lit.*Cut the laser's supply/,
  ],
  [
    'a laser whose pin fails',
    runningWith({ laser: { state: null, light: 'fault', problem: { detail: 'The pin does not obey.' } } }),
    'laser pin',
    'wrong',
    /may be lit.*Cut the laser's supply/,
  ],
  [
    'no state folder',
    stats({ '/var/lib/trunnion': undefined }),
    'state folder',
    'wrong',
    /does not exist.*systemctl start/,
  ],
  [
    'the folder of another',
    stats({ '/var/lib/trunnion': { uid: 0 } }),
    'state folder',
    'wrong',
    /not trunnion's.*chown/,
  ],
  [
    'the journal of another',
    stats({ '/var/lib/trunnion/gains.jsonl': { uid: 0 } }),
    'state folder',
    'wrong',
    /gains\.jsonl is not trunnion's.*chown -R/,
  ],
  [
    'the folder of somebody, without a service that names the daemon’s user',
    commands({ 'systemctl show': undefined }),
    'state folder',
    'unknown',
    /is not pi's sudo trunnion doctor$/,
  ],
  ['no list of tokens', {}, 'tokens', 'fine', /no list/],
  [
    'tokens that look like callers without one',
    files({ '/var/lib/trunnion/tokens.json': tokensOf('desk', '10.0.0.7', 'break glass') }),
    'tokens',
    'wrong',
    /from 10\.0\.0\.7, break glass sudo trunnion token remove/,
  ],
  ['a damaged list', files({ '/var/lib/trunnion/tokens.json': '{' }), 'tokens', 'wrong', /token list/],
  ['a closed folder', { sync: { fails: 'EACCES' } }, 'state folder', 'unknown', /sudo trunnion doctor/],
  ['a read-only disk', { sync: { fails: 'EROFS' } }, 'state folder', 'wrong', /read-only.*remount/],
  ['a full disk', { sync: { fails: 'ENOSPC' } }, 'state folder', 'wrong', /no room.*apt clean/],
  ['a failing disk', { sync: { fails: 'EIO' } }, 'state folder', 'wrong', /EIO.*SD card/],
  ['a slow disk', { sync: 900 }, 'state folder', 'wrong', /900\.0 ms.*SD card/],
  [
    'storage that fails',
    runningWith({ storage: { ok: false, detail: 'It is full.', cure: 'Free some.' } }),
    'state folder',
    'wrong',
    /It is full.*Free some/,
  ],
  [
    'a log that does not reach the disk',
    runningWith({ log: { ok: false, detail: 'The log of events does not reach the disk.' } }),
    'state folder',
    'wrong',
    /does not reach the disk.*Look at/,
  ],
  [
    'a lock that does not reach the disk',
    runningWith({ match: { recorded: false } }),
    'state folder',
    'wrong',
    /lock and phase.*SD card/,
  ],
  [
    'a journal set aside',
    runningWith({ storage: { ok: true, setAside: ['gains.1'] } }),
    'state folder',
    'wrong',
    /gains\.1/,
  ],
  ['little space', { freeBytes: 20e6 }, 'disk space', 'wrong', /20 MB free.*apt clean/],
  [
    'under-voltage now',
    commands({ 'vcgencmd get_throttled': 'throttled=0x50005\n' }),
    'supply',
    'wrong',
    /now/,
  ],
  [
    'under-voltage before',
    commands({ 'vcgencmd get_throttled': 'throttled=0x50000\n' }),
    'supply',
    'wrong',
    /since boot/,
  ],
  [
    'heat only',
    commands({ 'vcgencmd get_throttled': 'throttled=0x80008\n' }),
    'supply',
    'fine',
    /no under-voltage/,
  ],
  [
    "the kernel's alarm",
    {
      ...commands({ 'vcgencmd get_throttled': undefined }),
      ...files({
        '/sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
        '/sys/class/hwmon/hwmon1/name': 'rpi_volt\n',
        '/sys/class/hwmon/hwmon1/in0_lcrit_alarm': '1\n',
      }),
      folders: { ...WELL.folders, '/sys/class/hwmon': ['hwmon0', 'hwmon1'] },
    },
    'supply',
    'wrong',
    /under-voltage/,
  ],
  [
    'a board without sensors',
    commands({ 'vcgencmd get_throttled': undefined }),
    'supply',
    'unknown',
    /no such sensor/,
  ],
  [
    'a clock before the last save',
    { now: '2030-01-01T09:00:00Z' },
    'clock',
    'wrong',
    /before the last save.*set-ntp/,
  ],
  [
    'a clock before the program',
    { now: '2029-11-30T12:00:00Z', files: {} },
    'clock',
    'wrong',
    /before this program was made.*set-ntp/,
  ],
  ['no network time', commands({ 'timedatectl show': 'no\n' }), 'clock', 'fine', /not synchronized/],
];

describe('doctor', () => {
  it('finds nothing wrong on a board that is well, while the daemon runs and touches nothing of its', async () => {
    const { system, findings } = await examine(RUNNING);
    expect(findings.filter(({ ok }) => ok !== 'fine')).to.deep.equal([]);
    expect(system.touched).to.deep.equal([]);
  });

  it('without the daemon finds only that, and reads no more than the identities', async () => {
    const { system, findings } = await examine({});
    expect(findings.filter(({ ok }) => ok !== 'fine').map(({ check }) => check)).to.deep.equal(['service']);
    expect(system.touched).to.deep.equal([
      'port 0.0.0.0:8080',
      'bus 1: read 13 of 0 at 32',
      'bus 1: read 13 of 0 at 33',
      'folder /var/lib/trunnion',
    ]);
  });

  it('touches nothing of a daemon that does not answer', async () => {
    const { system } = await examine({ ...RUNNING, status: undefined });
    expect(system.touched).to.deep.equal([]);
  });

  it('gives every fault a cure', async () => {
    for (const [what, changes] of rows) {
      const { findings } = await examine(changes);
      const without = findings.filter(({ ok, cure }) => ok === 'wrong' && !cure);
      expect(without, what).to.deep.equal([]);
    }
  });

  for (const [what, changes, check, ok, says] of rows) {
    it(`says ${ok} of ${what}`, async () => {
      const { findings } = await examine(changes);
      const finding = findings.find(found => found.check === check);
      expect(finding?.ok, finding?.detail).to.equal(ok);
      expect(`${finding?.detail} ${finding?.cure}`).to.match(says);
    });
  }

  it('takes an active-low laser at level 0 for lit', async () => {
    const config = { ...CONFIG, laser: { ...CONFIG.laser, activeLow: true } };
    const { findings } = await examine({}, config);
    expect(findings.find(({ check }) => check === 'laser pin')?.detail).to.match(/lit/);
  });

  it('says of a port below 1024 that it is not for the daemon, whoever asks', async () => {
    const { findings } = await examine(
      {},
      { ...CONFIG, http: { ...CONFIG.http, host: '0.0.0.0', port: 80 } },
    );
    const port = findings.find(({ check }) => check === 'port');
    expect(port).to.include({ ok: 'wrong', detail: '80 is for root only, and the daemon is trunnion' });
  });

  it('says what is wrong with the configuration, and looks at all the rest', async () => {
    const { findings } = await examine({}, CONFIG, 'config.yaml:3: laser.gpio: expected 0 to 53');
    const wrong = findings.filter(({ ok }) => ok === 'wrong');
    expect(wrong.map(({ check }) => check)).to.deep.equal(['configuration', 'service']);
    expect(wrong[0]?.detail).to.contain('config.yaml:3: laser.gpio');
  });

  it('prints a line for each check and one for each cure', () => {
    const text = toText([
      { check: 'node', ok: 'fine', detail: 'Node 20.19.2' },
      { check: 'supply', ok: 'wrong', detail: 'under-voltage now', cure: 'Another supply.' },
    ]);
    expect(text).to.equal(
      'fine     node    Node 20.19.2\n' +
        'wrong    supply  under-voltage now\n' +
        '                 -> Another supply.\n',
    );
  });
});
