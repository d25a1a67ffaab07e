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

/** The differences from a healthy board, and a pattern for the finding: verdict, check, detail and cure. `when` is in the title. */
type Row = readonly [changes: Partial<Script>, says: RegExp, when?: string];

const rows: readonly Row[] = [
  [{ node: '18.20.4' }, /^wrong node: .*18\.20\.4 is older than 20\.19.*apt install nodejs/],
  [{ node: '20.18.3' }, /^wrong node: .*older/],
  [{ node: '24.1.0', nodeRange: '>=20.19' }, /^fine node: .*24\.1\.0/],
  [{ node: '22.2.0' }, /^wrong node: .*addons.*before 21 only.*nodejs=20/],
  [{ addon: new RobotError('addon-missing', ADDON) }, /^wrong addons: .*onoff cannot be loaded.*npm ci/],
  [commands({ 'systemctl show': undefined }), /^wrong service: .*no trunnion.service.*apt install/],
  [service({ LoadState: 'not-found' }), /^wrong service: .*no trunnion.service/],
  [
    service({ UnitFileState: 'disabled' }),
    /^wrong service: .*boot: disabled.*dpkg --configure -a.*enable --now/,
  ],
  [{}, /^wrong service: .*enabled, but inactive.*systemctl start/],
  [
    service({ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' }),
    /^wrong service: .*again and again.*journalctl/,
  ],
  [service({ ActiveState: 'activating', SubState: 'start' }), /^unknown service: .*starting/],
  [
    commands({
      'systemctl show': shown({ ActiveState: 'active', NRestarts: '2' }),
      ...ended('{"UNIT_RESULT":"watchdog","__REALTIME_TIMESTAMP":"1893456000000000"}'),
    }),
    /^wrong last stop: .*hung, and the watchdog ended it, 2030-01-01T00:00:00.000Z; restarted 2 times/,
  ],
  [
    service({ ActiveState: 'active', SubState: 'running', NRestarts: '3' }),
    /^unknown last stop: .*restarted 3 times.*sudo trunnion doctor/,
  ],
  [
    service({ ActiveState: 'failed', Result: 'exit-code', ExecMainStatus: '1' }),
    /^wrong last stop: .*ended with an error, status 1/,
  ],
  [
    commands(ended('{"__REALTIME_TIMESTAMP":"1893456000000000"}')),
    /^fine last stop: .*ended in order, 2030-01-01/,
  ],
  [runningWith({ version: '0.0.9' }), /^wrong daemon: .*version 0\.0\.9 runs.*systemctl restart/],
  [runningWith({ simulated: true }), /^wrong daemon: .*simulator answers/],
  [{ ...SIMULATED, port: { fails: 'EADDRINUSE' } }, /^wrong port: .*another program's/],
  [SIMULATED, /^fine laser pin: .*line 529 is free/],
  [CLOSED, /^unknown daemon: .*closed to everyone without a token.*sudo trunnion doctor/],
  [CLOSED_TO_ROOT, /^fine daemon: .*closed to everyone without/],
  [
    { ...CLOSED_TO_ROOT, boardStatus: undefined, uid: 0 },
    /^wrong daemon: .*does not answer on the board.*trunnion stop.*systemctl restart/,
  ],
  [CLOSED_TO_ROOT, /^fine gimbal controller: .*firmware 1\.2\.3, protocol 1 undefined$/],
  [
    { build: { image_crc: 0xbeef, longest_loop_us: 131, reset_cause: 3 } },
    /^fine gimbal controller: .*firmware 1\.2\.3, protocol 1, build 0000beef, last reset watchdog, longest loop 131 µs undefined$/,
  ],
  [
    runningWith({
      gimbal: { ...STATUS.gimbal, build: { imageCrc: '0000beef', resetCause: 'power', longestLoopUs: 9 } },
    }),
    /^fine gimbal controller: .*is online: firmware .* build 0000beef, last reset power, longest loop 9 µs undefined$/,
  ],
  [
    { ...CLOSED_TO_ROOT, boardStatus: { ...STATUS, version: '0.0.9' } },
    /^wrong daemon: .*version 0\.0\.9 runs/,
  ],
  [CLOSED, /^fine port: .*daemon's/],
  [runningWith({ access: { state: 'open', exposed: true } }), /^fine daemon: .*open to everyone/],
  [
    runningWith({ access: { state: 'unavailable', exposed: false, detail: 'The file is damaged.' } }),
    /^wrong daemon: .*nobody may act.*tokens/,
  ],
  [{ ...RUNNING, status: undefined }, /^wrong daemon: .*does not answer at http:..127/],
  [stats({ '/var/lib/trunnion': { uid: 990, ino: 23 } }), /^unknown port: .*a daemon runs, but not at/],
  [
    stats({ '/dev/i2c-1': { mode: 0o660, uid: 0, gid: 998, ino: 23 } }),
    /^unknown gimbal controller: .*the daemon has the bus/,
  ],
  [{ port: { fails: 'EADDRINUSE' } }, /^wrong port: .*another program's.*ss -ltnp/],
  [{ status: { hello: 'world' }, port: { fails: 'EADDRINUSE' } }, /^wrong port: .*another/],
  [{ folders: { '/dev': ['null'] } }, /^wrong i2c: .*switched off.*do_i2c 0/],
  [
    { folders: { '/dev': ['null'], '/sys/bus/i2c/devices': ['i2c-1', '1-0020'] } },
    /^wrong i2c: .*no device file.*modprobe i2c-dev/,
  ],
  [{ folders: { '/dev': ['i2c-20', 'i2c-3'] } }, /^wrong i2c: .*no bus 1; buses: 3, 20.*i2c\.bus/],
  [stats({ '/dev/i2c-1': { mode: 0o20600 } }), /^wrong i2c access: .*trunnion may not.*usermod -aG i2c/],
  [commands({ 'id -G': '990\n' }), /^wrong gpio access: .*usermod -aG gpio trunnion/],
  [busSpeed(0, 0, 0x27, 0x10), /^wrong bus speed: .*10 kHz is too slow/],
  [busSpeed(0, 1, 0x86, 0xa0), /^fine bus speed: .*100 kHz; with 400/],
  [busSpeed(), /^unknown bus speed: .*does not say/],
  [
    gimbal(new RobotError('nack')),
    /^wrong gimbal controller: .*nothing answers at 0x20.*power.*i2cdetect -y 1 /,
  ],
  [gimbal(new RobotError('bus-timeout')), /^wrong gimbal controller: .*held down/],
  [gimbal(Buffer.alloc(13, 0xff)), /^wrong gimbal controller: .*corrupt/],
  [identity({ magic: 1 }), /^wrong gimbal controller: .*another controller: magic is 1/],
  [identity({ kind: 2 }), /^wrong gimbal controller: .*kind is 2, not 1.*Check/],
  [identity({ protocol: 9 }), /^wrong gimbal controller: .*protocol is 9, not 1/],
  [
    gimbal(new RobotError('bus-unavailable', { cure: 'usermod' })),
    /^unknown gimbal controller: .*bus-unavailable.*usermod/,
  ],
  [
    offline('nack', 'The gimbal controller does not answer.'),
    /^wrong gimbal controller: .*is offline. The gimbal controller does not answer.*power/,
  ],
  [
    unit('gimbal', { faults: ['supply_low'] }),
    /^wrong gimbal controller: .*Gimbal reports supply low.*battery/,
  ],
  [unit('gimbal', { faults: ['too_blue'] }), /^wrong gimbal controller: .*too blue.*troubleshooting\.md/],
  [
    unit('chassis', { gains: { revision: 1, savedAt: null, applied: false } }),
    /^wrong chassis controller: .*does not run the stored gains.*journalctl/,
  ],
  [
    unit('chassis', { gains: { ...STATUS.gimbal.gains, applied: false, trial: { id: 'a' } } }),
    /^fine chassis controller: .*online/,
  ],
  [
    unit('chassis', { flags: ['torque', 'withdrawn_guard'] }),
    /^fine chassis controller: .*trials without a guard of its own/,
  ],
  [
    offline('bus-unavailable', 'There is no I2C bus.'),
    /^wrong gimbal controller: .*There is no I2C bus.*See "addons", "i2c"/,
  ],
  [{ chip: TWO_CHIPS }, /^wrong gpio: .*More than one.*Remove it/],
  [{ chip: { label: 'pinctrl-rp1', base: 571, lines: 10 } }, /^wrong gpio: .*no BCM 17/],
  [
    files({ '/sys/class/gpio/gpio529/value': '1\n' }),
    /^wrong laser pin: .*lit, and no daemon.*echo low .*gpio529.direction/,
  ],
  [files({ '/sys/class/gpio/gpio529/active_low': '1\n' }), /^wrong laser pin: .*lit/],
  [
    gpio(' gpio-529 (GPIO17              |fan                 ) out hi\n'),
    /^wrong laser pin: .*held by fan/,
    'without a daemon',
  ],
  [gpio(undefined), /^unknown laser pin: .*sudo trunnion doctor/],
  [laser({ state: null, light: 'unknown', problem: { detail: 'No pin.' } }), /^wrong laser pin: .*No pin/],
  [
    laser({ state: 'off', light: 'dark', problem: { detail: 'Line 539 is held by fan.' } }),
    /^wrong laser pin: .*held by fan/,
    'beside a running daemon',
  ],
  [
    laser({ state: 'on', light: 'fault' }),
    /^wrong laser pin: .*LASER MAY BE ON: cut its supply/,
    'while the daemon reports state on and light fault,',
  ],
  [
    laser({ state: null, light: 'fault', problem: { detail: 'The pin does not obey.' } }),
    /^wrong laser pin: .*LASER MAY BE ON: cut its supply/,
    'while the daemon reports no state and light fault,',
  ],
  [stats({ '/var/lib/trunnion': undefined }), /^wrong state folder: .*does not exist.*systemctl start/],
  [stats({ '/var/lib/trunnion': { uid: 0 } }), /^wrong state folder: .*not trunnion's.*chown/],
  [
    stats({ '/var/lib/trunnion/gains.jsonl': { uid: 0 } }),
    /^wrong state folder: .*gains\.jsonl is not trunnion's.*chown -R/,
  ],
  [commands({ 'systemctl show': undefined }), /^unknown state folder: .*is not pi's sudo trunnion doctor$/],
  [{}, /^fine tokens: .*no list/],
  [
    files({ '/var/lib/trunnion/tokens.json': tokensOf('desk', '10.0.0.7', 'break glass') }),
    /^wrong tokens: .*from 10\.0\.0\.7, break glass sudo trunnion token remove/,
  ],
  [files({ '/var/lib/trunnion/tokens.json': '{' }), /^wrong tokens: .*token list/],
  [{ sync: { fails: 'EACCES' } }, /^unknown state folder: .*sudo trunnion doctor/],
  [{ sync: { fails: 'EROFS' } }, /^wrong state folder: .*read-only.*remount/],
  [{ sync: { fails: 'ENOSPC' } }, /^wrong state folder: .*no room.*apt clean/],
  [{ sync: { fails: 'EIO' } }, /^wrong state folder: .*EIO.*SD card/],
  [{ sync: 900 }, /^wrong state folder: .*900\.0 ms.*SD card/],
  [
    runningWith({ storage: { ok: false, setAside: [], detail: 'It is full.', cure: 'Free some.' } }),
    /^wrong state folder: .*It is full.*Free some/,
  ],
  [
    runningWith({ log: { ok: false, detail: 'The log of events does not reach the disk.' } }),
    /^wrong state folder: .*does not reach the disk.*Look at/,
  ],
  [
    runningWith({ match: { ...STATUS.match, recorded: false } }),
    /^wrong state folder: .*lock and phase.*SD card/,
  ],
  [runningWith({ storage: { ok: true, setAside: ['gains.1'] } }), /^wrong state folder: .*gains\.1/],
  [
    runningWith({
      storage: { ok: false, setAside: [], detail: 'It is empty.', cure: 'sudo rm MARK' },
      access: { state: 'unavailable', exposed: false, detail: 'The tokens cannot be read.' },
    }),
    /^wrong tokens: The tokens cannot be read\. See "state folder"\.$/,
  ],
  [{ freeBytes: 20e6 }, /^wrong disk space: .*20 MB free.*apt clean/],
  [supply('0x50005'), /^wrong supply: .*now/],
  [supply('0x50000'), /^wrong supply: .*since boot/],
  [supply('0x80008'), /^fine supply: .*no under-voltage/],
  [
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
  [commands({ 'vcgencmd get_throttled': undefined }), /^unknown supply: .*no such sensor/],
  [{ now: '2030-01-01T09:00:00Z' }, /^wrong clock: .*before the last save.*set-ntp/],
  [{ now: '2029-11-30T12:00:00Z', files: {} }, /^wrong clock: .*before this program was made.*set-ntp/],
  [commands({ 'timedatectl show': 'no\n' }), /^fine clock: .*not synchronized/],
];

describe('doctor', () => {
  it('finds nothing wrong on a good board with a running daemon, and uses neither bus nor pin of the daemon', async () => {
    const { system, findings } = await examine(RUNNING);
    expect(findings.filter(({ state }) => state !== 'fine')).to.deep.equal([]);
    expect(system.touched).to.deep.equal([]);
  });

  it('finds only the service wrong if no daemon runs, and reads only identity and status of the controllers', async () => {
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

  it('uses neither bus nor pin if the running daemon does not answer', async () => {
    const { system } = await examine({ ...RUNNING, status: undefined });
    expect(system.touched).to.deep.equal([]);
  });

  for (const [changes, says, when] of rows) {
    const words = says.source.replaceAll(/ *\.\* */g, ' … ').replaceAll(/\\|^\^|( undefined)?\$$/g, '');
    it(`${when === undefined ? '' : `${when} `}reports “${words}”, and names a cure for every fault`, async () => {
      const { findings } = await examine(changes);
      const found = findings.map(({ state, check, detail, cure }) => `${state} ${check}: ${detail} ${cure}`);
      expect(
        found.filter(text => says.test(text)),
        found.join('\n'),
      ).to.have.length(1);
      expect(findings.filter(({ state, cure }) => state === 'wrong' && !cure)).to.deep.equal([]);
    });
  }

  it('counts an active-low laser at level 0 as lit', async () => {
    const config = { ...CONFIG, laser: { ...CONFIG.laser, activeLow: true } };
    const { findings } = await examine({}, config);
    expect(findings.find(({ check }) => check === 'laser pin')?.detail).to.match(/lit/);
  });

  it('reports that the daemon may not open a port below 1024, whichever user runs doctor', async () => {
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

  it('prints a line for each check and one for each cure', () => {
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
