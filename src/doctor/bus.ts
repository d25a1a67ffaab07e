import { FAULT_CURES, firmwareText, healthLines } from '../console/bar/lines.js';
import { systemClock } from '../core/clock.js';
import { isRobotError } from '../core/errors.js';
import { UNIT_LIST, type Unit } from '../core/units.js';
import { Link } from '../protocol/link.js';
import { MotorController } from '../robot/motor-controller.js';
import type { Status } from '../schemas/status.js';
import { type Case, type Checks, mayUse } from './case.js';
import { type Found, fine, unknown, wrong } from './finding.js';

const SWITCH_ON =
  'sudo raspi-config nonint do_i2c 0, or dtparam=i2c_arm=on in /boot/firmware/config.txt and sudo reboot';
/** The clock rate of the standard mode. A slower bus is too slow for polling. */
const STANDARD_HZ = 100_000;
const FAST_HZ = 400_000;
const FASTER = `dtparam=i2c_arm_baudrate=${FAST_HZ} in /boot/firmware/config.txt, then sudo reboot`;

export const BUS_CHECKS: Checks = {
  i2c: async ({ system, config }) => {
    const { bus } = config.i2c;
    const devices = busNumbers(await system.list('/dev'));
    if (devices.includes(bus)) return fine(`/dev/i2c-${bus}; buses: ${devices.join(', ')}`);
    if (busNumbers(await system.list('/sys/bus/i2c/devices').catch(() => [])).includes(bus))
      return wrong(
        `bus ${bus} is on, but has no device file`,
        'sudo modprobe i2c-dev; echo i2c-dev | sudo tee /etc/modules-load.d/i2c.conf',
      );
    if (devices.length === 0) return wrong('I2C is switched off', SWITCH_ON);
    return wrong(`there is no bus ${bus}; buses: ${devices.join(', ')}`, `${SWITCH_ON}; or set i2c.bus`);
  },
  'i2c access': asked => mayUse(asked, `/dev/i2c-${asked.config.i2c.bus}`, 0o6, 'i2c'),
  'bus speed': async ({ system, config }) => {
    const file = `/sys/bus/i2c/devices/i2c-${config.i2c.bus}/of_node/clock-frequency`;
    const bytes = await system.readFile(file).catch(() => undefined);
    if (bytes === undefined) return unknown('the board does not say');
    const hz = bytes.readUInt32BE(0);
    if (hz < STANDARD_HZ) return wrong(`${hz / 1000} kHz is too slow for 50 polls a second`, FASTER);
    if (hz < FAST_HZ)
      return fine(`${hz / 1000} kHz; with ${FAST_HZ / 1000} there is room to spare: ${FASTER}`);
    return fine(`${hz / 1000} kHz`);
  },
  ...Object.fromEntries(
    UNIT_LIST.map(unit => [`${unit.name} controller`, (asked: Case) => controller(unit, asked)]),
  ),
};

function busNumbers(names: readonly string[]): readonly number[] {
  const numbers = names.flatMap(name => /^i2c-(\d+)$/.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

/** The time limit of an answer and its retries. A kernel call that hangs takes longer. */
const ANSWER_MS = 300;

/** Checks whether the unit's controller answers, and its identity. Asks the daemon if one runs. */
async function controller(unit: Unit, { system, config, status, daemonRuns }: Case): Promise<Found> {
  if (status !== undefined) return reported(status, unit);
  if (daemonRuns) return unknown('the daemon has the bus, and could not be asked');
  const where = `at 0x${unit.address.toString(16)}`;
  const { bus } = config.i2c;
  const link = new Link(
    {
      readBlock: (...block) => system.readBlock(bus, ...block),
      writeBlock: () => Promise.reject(new TypeError('doctor writes nothing')),
    },
    systemClock,
  );
  try {
    const untilMs = systemClock.nowMs() + ANSWER_MS;
    const asking = { priority: 'supervision', untilMs } as const;
    const controller = new MotorController({ unit, link, clock: systemClock });
    const identity = await controller.identify(asking);
    const hasBuild = (await controller.status(asking)).flags.includes('build');
    const build = hasBuild ? await controller.build(asking) : undefined;
    return fine(`${unit.title} ${where}: ${firmwareText({ ...identity, build })}`);
  } catch (error) {
    if (!isRobotError(error)) throw error;
    if (isRobotError(error, 'wrong-identity')) {
      const { field, found, expected } = error.context;
      return wrong(
        `${where} is another controller: ${field} is ${found}, not ${expected}`,
        'Check addresses, cables and firmware.',
      );
    }
    const [symptom, cure = ''] = SYMPTOMS[error.code] ?? [];
    if (symptom !== undefined) return wrong(`${symptom} ${where}`, cure.replace('BUS', String(bus)));
    const hasCure = isRobotError(error, 'bus-unavailable', 'addon-missing');
    return unknown(`could not be asked: ${error.code}`, hasCure ? error.context.cure : undefined);
  }
}

const SHORTS = 'Switch the controllers off and on; check SDA and SCL for shorts.';
const SYMPTOMS: Readonly<Record<string, readonly [detail: string, cure: string]>> = {
  nack: ['nothing answers', 'Check the power and the cable; sudo i2cdetect -y BUS shows who answers.'],
  'bus-io': ['the transfer broke off', 'Check the cable, its length and the pull-ups.'],
  deadline: ['the answer takes too long', SHORTS],
  'bus-timeout': ['the bus is held down', SHORTS],
  'arbitration-lost': ['the bus is disturbed', 'Check the cable, and whether another master is on the bus.'],
  'bad-frame': ['the answer is corrupt, or no controller gave it', 'Check cable, address and firmware.'],
};

const RETRIED = 'The daemon retries by itself. If this lasts: journalctl -u trunnion -n 50';
const CURE_OF_UNKNOWN = '/usr/share/doc/trunnion/docs/troubleshooting.md explains it.';

function reported(status: Status, { name, title }: Unit): Found {
  const { online, problem, faults, flags } = status[name];
  const lines = healthLines(status).filter(({ about }) => about === title);
  if (lines.length > 0) {
    const isBus = ['bus-unavailable', 'addon-missing'].includes(problem?.code ?? '');
    const tries = `${isBus ? 'See "addons", "i2c" and "i2c access"' : 'Check its power and cable'}; the daemon tries again by itself.`;
    const cures = online ? faults.map(fault => FAULT_CURES[fault] ?? CURE_OF_UNKNOWN) : [tries];
    const cure = cures.length > 0 ? [...new Set(cures)].join(' ') : RETRIED;
    return wrong(lines.map(({ about, text }) => `${about} ${text}`).join(' '), cure);
  }
  // Firmware that has only the guard of version 0.2.0 runs trials without a guard.
  const isWithdrawn = flags.includes('withdrawn_guard') && !flags.includes('guarded_excitation');
  const note = isWithdrawn ? '; it runs trials without a guard of its own until its firmware is updated' : '';
  return fine(`${title} is online: ${firmwareText(status[name])}${note}`);
}
