import { systemClock } from '../core/clock.js';
import { isRobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { I2cBus } from '../hardware/ports.js';
import { Link } from '../protocol/link.js';
import { MotorController } from '../robot/motor-controller.js';
import { access } from './access.js';
import type { Case } from './case.js';
import { type Found, fine, memberOf, unknown, wrong } from './finding.js';

const SWITCH_ON =
  'sudo raspi-config nonint do_i2c 0, or dtparam=i2c_arm=on in /boot/firmware/config.txt and sudo reboot';

export async function i2c({ system, config }: Case): Promise<Found> {
  const { bus } = config.i2c;
  const numbers = (names: readonly string[]) =>
    names
      .flatMap(name => /^i2c-(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  const devices = numbers(await system.list('/dev'));
  if (devices.includes(bus)) return fine(`/dev/i2c-${bus}; buses: ${devices.join(', ')}`);
  const adapters = numbers(await system.list('/sys/bus/i2c/devices').catch(() => []));
  if (adapters.includes(bus)) {
    return wrong(
      `bus ${bus} is on, but has no device file`,
      'sudo modprobe i2c-dev; echo i2c-dev | sudo tee /etc/modules-load.d/i2c.conf',
    );
  }
  if (devices.length === 0) return wrong('I2C is switched off', SWITCH_ON);
  return wrong(`there is no bus ${bus}; buses: ${devices.join(', ')}`, `${SWITCH_ON}; or set i2c.bus`);
}

export function i2cAccess({ system, config, user }: Case): Promise<Found> {
  return access(system, user, `/dev/i2c-${config.i2c.bus}`, 'rw', 'i2c');
}

/** The clock rate of the standard mode. A slower bus is too slow for polling. */
const STANDARD_HZ = 100_000;
const FAST_HZ = 400_000;

export async function busSpeed({ system, config }: Case): Promise<Found> {
  const file = `/sys/bus/i2c/devices/i2c-${config.i2c.bus}/of_node/clock-frequency`;
  const faster = `dtparam=i2c_arm_baudrate=${FAST_HZ} in /boot/firmware/config.txt, then sudo reboot`;
  let hz: number;
  try {
    hz = (await system.readFile(file)).readUInt32BE(0);
  } catch {
    return unknown('the board does not say');
  }
  if (hz < STANDARD_HZ) return wrong(`${hz / 1000} kHz is too slow for 50 polls a second`, faster);
  if (hz < FAST_HZ) return fine(`${hz / 1000} kHz; with ${FAST_HZ / 1000} there is room to spare: ${faster}`);
  return fine(`${hz / 1000} kHz`);
}

/** Checks whether the unit's controller answers, and its identity. Asks the daemon if one runs. */
export async function controller(unit: Unit, { system, config, status, daemonRuns }: Case): Promise<Found> {
  if (status !== undefined) return reported(memberOf(status, unit.name), unit);
  if (daemonRuns) return unknown('the daemon has the bus, and could not be asked');
  const where = `at 0x${unit.address.toString(16)}`;
  const bus: I2cBus = {
    readBlock: (address, register, length) => system.readBlock(config.i2c.bus, address, register, length),
    writeBlock: () => Promise.reject(new TypeError('doctor writes nothing')),
  };
  const link = new Link(bus, systemClock);
  try {
    const found = await new MotorController({ unit, link, clock: systemClock }).identify({
      priority: 'supervision',
      untilMs: systemClock.nowMs() + ANSWER_MS,
    });
    return fine(`${unit.title} ${where}: firmware ${found.firmware}, protocol ${found.protocol}`);
  } catch (error) {
    if (isRobotError(error, 'wrong-identity')) {
      const { field, found, expected } = error.context;
      return wrong(
        `${where} is another controller: ${field} is ${found}, not ${expected}`,
        'Check addresses, cables and firmware.',
      );
    }
    if (!isRobotError(error)) throw error;
    const hasCure = isRobotError(error, 'bus-unavailable', 'addon-missing');
    return unreachable(error.code, where, config.i2c.bus, hasCure ? error.context.cure : undefined);
  }
}

/** The time limit for an answer with its retries. It does not limit a kernel call that hangs. */
const ANSWER_MS = 300;

const SYMPTOMS: Readonly<Record<string, readonly [detail: string, cure: string]>> = {
  nack: ['nothing answers', 'Check the power and the cable; sudo i2cdetect -y BUS shows who answers.'],
  'bus-io': ['the transfer broke off', 'Check the cable, its length and the pull-ups.'],
  deadline: ['the answer takes too long', 'Switch the controllers off and on; check SDA and SCL for shorts.'],
  'bus-timeout': ['the bus is held down', 'Switch the controllers off and on; check SDA and SCL for shorts.'],
  'arbitration-lost': ['the bus is disturbed', 'Check the cable, and whether another master is on the bus.'],
  'bad-frame': ['the answer is corrupt, or no controller gave it', 'Check cable, address and firmware.'],
};

/** Says that a firmware with the guard of 0.2.0 runs trials without it. */
function guardNote(flags: unknown): string {
  const isWithdrawn =
    Array.isArray(flags) && flags.includes('withdrawn_guard') && !flags.includes('guarded_excitation');
  return isWithdrawn ? '; it runs trials without a guard of its own until its firmware is updated' : '';
}

function unreachable(code: string, where: string, bus: number, cure: string | undefined): Found {
  const symptom = SYMPTOMS[code];
  if (symptom !== undefined) return wrong(`${symptom[0]} ${where}`, symptom[1].replace('BUS', String(bus)));
  return unknown(`could not be asked: ${code}`, cure);
}

/** The cures of the faults that a controller reports. */
const CURES: Readonly<Record<string, string>> = {
  silent: 'It hears no heartbeats: check the cable, and the load of the board.',
  over_current: 'Let it cool, and look for what blocks it.',
  over_temperature: 'Let it cool, and look for what blocks it.',
  encoder_failed: "Check the encoder's cable.",
  supply_low: 'Check the motor supply: battery, plugs.',
  camera_lost: "Check the camera's cable.",
  frame_refused: 'Check the cable if it comes again.',
  ran_away: 'Try milder gains.',
};

function reported(status: unknown, unit: Unit): Found {
  if (memberOf(status, 'online') === true) {
    const faults = memberOf(status, 'faults');
    if (Array.isArray(faults) && faults.length > 0) {
      const cures = faults.map(
        fault => CURES[String(fault)] ?? '/usr/share/doc/trunnion/docs/troubleshooting.md explains it.',
      );
      return wrong(`${unit.title} reports ${faults.join(', ')}`, [...new Set(cures)].join(' '));
    }
    const isTried = memberOf(status, 'gains', 'trial') !== undefined;
    if (memberOf(status, 'gains', 'applied') === false && !isTried) {
      return wrong(
        `${unit.title} does not run the stored gains`,
        'The daemon tries again by itself; if it stays so: journalctl -u trunnion -n 50',
      );
    }
    const [firmware, protocol] = [memberOf(status, 'firmware'), memberOf(status, 'protocol')];
    const note = guardNote(memberOf(status, 'flags'));
    return fine(`${unit.title} is online: firmware ${firmware}, protocol ${protocol}${note}`);
  }
  const [code, detail] = [memberOf(status, 'problem', 'code'), memberOf(status, 'problem', 'detail')];
  const isBus = code === 'bus-unavailable' || code === 'addon-missing';
  return wrong(
    `the daemon cannot reach it: ${detail ?? 'it has not answered yet'}`,
    isBus
      ? 'See "addons", "i2c" and "i2c access"; the daemon tries again by itself.'
      : 'Check its power and cable; the daemon tries again by itself.',
  );
}
