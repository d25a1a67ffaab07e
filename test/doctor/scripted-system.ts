import { loadConfig } from '../../src/config/config.js';
import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST, type Unit } from '../../src/core/units.js';
import { version } from '../../src/core/version.js';
import type { FileStatus, System } from '../../src/doctor/linux-system.js';
import { encodeFrame } from '../../src/protocol/codec.js';
import { type FieldValues, FLAGS, MAGIC, PROTOCOL_VERSION, REGISTERS } from '../../src/protocol/registers.js';
import { encodeEntry } from '../support/journal-lines.js';
import { statusWith, UNIT_STATUS } from '../support/status.js';

const DEFAULTS = loadConfig(undefined, {}, { host: '0.0.0.0', state: '/var/lib/trunnion' });
export const CONFIG = { ...DEFAULTS, laser: { ...DEFAULTS.laser, interlock: { gpio: 27, activeLow: true } } };

/** A result, or a failure with this error code of the system, such as ENOENT. */
type Scripted<T> = T | { readonly fails: string };

export interface Script {
  readonly node: string;
  readonly nodeRange: string;
  readonly made: string;
  readonly now: string;
  readonly files: Readonly<Record<string, string | Buffer | undefined>>;
  readonly folders: Readonly<Record<string, readonly string[]>>;
  readonly stats: Readonly<Record<string, Partial<FileStatus> | undefined>>;
  /** The outputs of commands, by the command and its first argument. */
  readonly commands: Readonly<Record<string, string | undefined>>;
  readonly freeBytes: number;
  readonly status: unknown;
  /** The answer of the daemon's socket for root. */
  readonly boardStatus?: unknown;
  /** The user who runs doctor. By default 1000. */
  readonly uid?: number;
  readonly port: Scripted<undefined>;
  readonly sync: Scripted<number>;
  readonly addon: RobotError<'addon-missing'> | undefined;
  readonly chip: { label: string; base: number; lines: number } | RobotError;
  /** The identity blocks of the controllers, by address. */
  readonly identities: Readonly<Record<number, Buffer | RobotError>>;
  /** The register `build` of both controllers. By default they have none. */
  readonly build?: FieldValues<typeof REGISTERS.build>;
}

export interface Identity {
  readonly magic: number;
  readonly kind: number;
  readonly protocol: number;
}

export function identityOf(unit: Unit, changed: Partial<Identity> = {}): Buffer {
  return encodeFrame(unit.address, REGISTERS.identity, {
    magic: MAGIC,
    kind: unit.kind,
    protocol: PROTOCOL_VERSION,
    firmware_major: 1,
    firmware_minor: 2,
    firmware_patch: 3,
    loops: unit.loops.length,
    loop_rate_hz: 1000,
    ...changed,
  });
}

export const SERVICE = {
  LoadState: 'loaded',
  UnitFileState: 'enabled',
  ActiveState: 'inactive',
  SubState: 'dead',
  Result: 'success',
  ExecMainStatus: '0',
  NRestarts: '0',
  User: 'trunnion',
};

export function shown(properties: Partial<typeof SERVICE>): string {
  const all = Object.entries({ ...SERVICE, ...properties });
  return all.map(([name, value]) => `${name}=${value}\n`).join('');
}

const unit = {
  ...UNIT_STATUS,
  firmware: '1.2.3',
  protocol: 1,
  gains: { revision: 1, savedAt: '2030-01-01T10:00:00.000Z', applied: true },
};

/** The status that a daemon without faults answers. */
export const STATUS = statusWith({ version, simulated: false, gimbal: unit, chassis: unit });

/** A healthy Pi 4 on which no daemon runs. */
export const WELL: Script = {
  node: '20.19.2',
  nodeRange: '>=20.19 <21',
  made: '2029-12-01T00:00:00Z',
  now: '2030-01-01T12:00:00Z',
  files: {
    '/proc/locks': '1: FLOCK  ADVISORY  WRITE 700 00:01:23 0 EOF\n',
    '/sys/bus/i2c/devices/i2c-1/of_node/clock-frequency': Buffer.from([0x00, 0x06, 0x1a, 0x80]),
    '/sys/kernel/debug/gpio':
      'gpiochip0: GPIOs 512-569, parent: platform/fe200000.gpio, pinctrl-bcm2711:\n' +
      ' gpio-529 (GPIO17              |sysfs               ) out lo\n' +
      ' gpio-530 (GPIO18              |backlight           ) out lo\n' +
      ' gpio-539 (GPIO27              )\n',
    '/sys/class/gpio/gpio529/direction': 'out\n',
    '/sys/class/gpio/gpio529/value': '0\n',
    '/sys/class/gpio/gpio529/active_low': '0\n',
    '/var/lib/trunnion/gains.jsonl': encodeEntry({
      revision: 1,
      time: '2030-01-01T10:00:00.000Z',
      unit: 'gimbal',
      gains: {},
    }),
  },
  folders: { '/dev': ['null', 'i2c-1', 'i2c-20'], '/sys/class/hwmon': [] },
  stats: {
    '/dev/i2c-1': { mode: 0o20660, gid: 994 },
    '/sys/class/gpio/export': { mode: 0o100220, gid: 993 },
    '/var/lib/trunnion': { mode: 0o40750, uid: 990, gid: 990 },
    '/var/lib/trunnion/gains.jsonl': { mode: 0o100640, uid: 990, gid: 990 },
  },
  commands: {
    'systemctl show': shown({}),
    'id -u': '990\n',
    'id -G': '990 994 993\n',
    'vcgencmd get_throttled': 'throttled=0x0\n',
    'timedatectl show': 'yes\n',
    'journalctl --no-pager': '',
  },
  freeBytes: 5e9,
  status: undefined,
  port: undefined,
  sync: 4.2,
  addon: undefined,
  chip: { label: 'pinctrl-bcm2711', base: 512, lines: 58 },
  identities: Object.fromEntries(UNIT_LIST.map(unit => [unit.address, identityOf(unit)])),
};

export class ScriptedSystem implements System {
  readonly nodeVersion: string;
  readonly nodeRange: string;
  readonly now: Date;
  get user() {
    const { uid = 1000 } = this.#script;
    return { name: uid === 0 ? 'root' : 'pi', uid, gids: [uid] };
  }

  /** All actions that a running daemon could notice. */
  readonly touched: string[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
    this.nodeVersion = script.node;
    this.nodeRange = script.nodeRange;
    this.now = new Date(script.now);
  }

  async madeMs(): Promise<number> {
    return Date.parse(this.#script.made);
  }

  async readFile(path: string): Promise<Buffer> {
    return Buffer.from(this.#script.files[path] ?? missing(path));
  }

  async list(folder: string): Promise<readonly string[]> {
    return this.#script.folders[folder] ?? missing(folder);
  }

  async stat(path: string): Promise<FileStatus> {
    const known = this.#script.stats[path] ?? missing(path);
    return { mode: 0, uid: 0, gid: 0, dev: 1, ino: 2, ...known };
  }

  async freeBytes(folder: string): Promise<number> {
    if (this.#script.stats[folder] === undefined && folder !== '/') missing(folder);
    return this.#script.freeBytes;
  }

  async run(command: string, ...args: readonly string[]): Promise<string> {
    return this.#script.commands[`${command} ${args[0]}`] ?? missing(command);
  }

  async getJson(url: string): Promise<unknown> {
    return url === 'http://127.0.0.1:8080/api/status' ? this.#script.status : undefined;
  }

  async boardStatus(): Promise<unknown> {
    return this.#script.boardStatus;
  }

  async tryPort(host: string, port: number): Promise<void> {
    this.touched.push(`port ${host}:${port}`);
    answer(this.#script.port);
  }

  async trySync(folder: string): Promise<number> {
    this.touched.push(`folder ${folder}`);
    return answer(this.#script.sync);
  }

  async addonProblem(): Promise<RobotError<'addon-missing'> | undefined> {
    return this.#script.addon;
  }

  async headerChip() {
    if (this.#script.chip instanceof RobotError) throw this.#script.chip;
    return this.#script.chip;
  }

  async readBlock(bus: number, address: number, register: number, length: number): Promise<Buffer> {
    this.touched.push(`bus ${bus}: read ${length} of ${register} at ${address}`);
    const { identities, build } = this.#script;
    const found = identities[address];
    if (!(found instanceof Buffer)) throw found ?? new RobotError('nack');
    if (register === REGISTERS.identity.address) return found;
    if (register === REGISTERS.build.address && build !== undefined)
      return encodeFrame(address, REGISTERS.build, build);
    return encodeFrame(address, REGISTERS.status, {
      ...{ boot_id: 1, mode: 1, flags: build === undefined ? 0 : 1 << FLAGS.indexOf('build'), faults: 0 },
      ...{ active_checksum: 0, staged: 0, refused: 0, capture: 0 },
    });
  }
}

function missing(path: string): never {
  throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}

function answer<T>(scripted: Scripted<T>): T {
  if (typeof scripted === 'object' && scripted !== null && 'fails' in scripted) {
    throw Object.assign(new Error(`${scripted.fails}: scripted`), { code: scripted.fails });
  }
  return scripted;
}
