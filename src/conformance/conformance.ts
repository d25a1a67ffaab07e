import { type ErrorCode, isRobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { MAGIC, PROTOCOL_VERSION, REGISTERS } from '../protocol/registers.js';
import { type Check, giveGains, listed, rest, shows, someGains } from './check.js';
import { Differs, Host, type HostParts } from './host.js';
import { motionChecks } from './motion-checks.js';
import { FOLLOWS, movingChecks } from './moving-checks.js';
import { readingChecks } from './reading-checks.js';
import { NOWHERE, refusalChecks } from './refusal-checks.js';
import { gainsChecks, LATCH, latchChecks, modeChecks, stopChecks } from './state-checks.js';

/** Sentences of docs/motor-protocol.md that no host can check over the bus, and how to check them instead. */
export const NOT_ASKED: Readonly<Record<string, string>> = {
  'A register byte without data is not a write: it is neither refused nor counted.':
    'a logic analyser or another host',
  'A read without a register byte, as `i2cdetect -r` sends it, is answered.': 'i2cdetect -r',
  'Data bytes before a repeated start are a write: the controller judges them as if a stop condition had come.':
    'another host',
  'A write of more than 32 bytes is refused.': 'another host',
  "Hold SCL low no longer than the host's own low phase: 5 µs at 100 kHz, 1.25 µs at 400 kHz.":
    'a scope on SCL',
  'If SCL or SDA stays low for 25 ms, release both and wait for a start.': 'a wire to ground',
  'Without torque the motors coast: they are neither driven nor braked.': 'a hand on the motors',
  '`over_current`, `over_temperature`, `supply_low` | when the sensor is beyond its limit':
    'a motor that is held, a warm bridge, a weak supply',
  'If both its motor and its encoder are reversed, an axis follows its setpoint in the wrong direction.':
    'your eyes: each first step goes to the left, upwards or ahead',
  'A controller that lacks a sensor never shows the fault of that sensor.': 'each sensor, unplugged',
  '`active_checksum` is computed from the gains that are active, not copied from the commit.': 'the source',
  'Swap the whole set between two loop periods, so that no period runs with a mixture, and without a jump of the output.':
    'the source',
  'Answer on the bus within 300 ms after power-up.': 'a switch and a scope',
};

/** These checks move nothing, because the stop is latched. */
export function stillChecks(unit: Unit): readonly Check[] {
  const still = [latchChecks, readingChecks, refusalChecks, stopChecks, modeChecks, gainsChecks];
  return [...still.flatMap(checks => checks(unit)), ...motionChecks(unit).still];
}

interface CheckResult extends Omit<Check, 'ask'> {
  /** What the controller did instead. Undefined if the sentence holds. */
  readonly seen?: string;
}

export interface Conformance {
  readonly unit: string;
  /** Why nothing was asked. */
  readonly refused?: string;
  readonly asked: readonly CheckResult[];
  /** What the person must know at the end. */
  readonly end: string;
}

interface Questions extends HostParts {
  readonly signal: AbortSignal;
  readonly moves: boolean;
  /** Called before each check with its number. */
  readonly onCheck?: (number: number, check: Omit<Check, 'ask'>) => void;
}

/**
 * Checks whether the controller does what docs/motor-protocol.md says. Ends with the stop latched and the earlier
 * gains in force. Rejects if the bus cannot be used at all.
 */
export async function conformance({ moves, onCheck, ...wire }: Questions): Promise<Conformance> {
  const { unit, signal } = wire;
  const host = new Host(wire);
  const asked: CheckResult[] = [];
  const refused = (why: string) => ({ unit: unit.name, refused: why, asked, end: 'Nothing was changed.' });
  const missing = await whyNone(host);
  if (missing !== undefined)
    return refused(`There is no controller at 0x${unit.address.toString(16)}: ${missing}.`);
  const { boot_id } = await host.status();
  const gains = await host.gains();
  if (moves && gains === undefined)
    return refused('The controller has no gains to move with: start the daemon once, then ask again.');
  const resetChecks = listed({
    'That is how the host notices a reset that was shorter than its poll.': {
      'no reset during the checks': shows({ boot_id }),
    },
  });
  try {
    const isSafe = await run(host, stillChecks(unit), asked, onCheck);
    if (isSafe && moves && gains !== undefined) {
      await host.take([rest, giveGains(unit, gains)]);
      await run(host, movingChecks(unit), asked, onCheck);
    }
    await run(host, resetChecks, asked);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // Without the signal, the last transactions take place even after Ctrl-C.
    asked.push(await ended(new Host({ ...wire, signal: undefined }), gains ?? someGains(unit, 0)));
  }
  const isLatched = asked.at(-1)?.seen === undefined;
  const end = isLatched
    ? 'The controller is latched: the daemon will start stopped.'
    : 'THE CONTROLLER MAY NOT BE LATCHED. Take its power away.';
  return { unit: unit.name, asked, end: signal.aborted ? `Interrupted. ${end}` : end };
}

/**
 * Why the device is not a controller of this unit. A plain memory keeps what is written to addresses without a
 * register.
 */
async function whyNone(host: Host): Promise<string | undefined> {
  try {
    const { magic, kind, protocol, loops } = await host.read(REGISTERS.identity);
    if (magic !== MAGIC) return 'its identity does not begin with TRUN';
    if (protocol !== PROTOCOL_VERSION) return `it has protocol ${protocol}`;
    if (kind !== host.unit.kind) return 'it is of another unit';
    if (loops !== host.unit.loops.length) return `it has ${loops} loops`;
    const before = await host.bytes(NOWHERE, 1);
    await host.writeBytes(NOWHERE, Buffer.of((before[0] ?? 0) ^ 0x5a)).catch(() => undefined);
    const isMemory = !(await host.bytes(NOWHERE, 1)).equals(before);
    if (isMemory) await host.writeBytes(NOWHERE, before);
    await host.status();
    return isMemory ? 'a plain memory answers' : undefined;
  } catch (error) {
    if (isRobotError(error, 'nack')) return 'nothing answers';
    if (isRobotError(error, 'bad-frame')) return 'its frames are damaged';
    throw error;
  }
}

/** If one of these sentences does not hold, no further check is safe. */
const DECISIVE: readonly string[] = [LATCH, FOLLOWS];

/** Returns whether further checks are safe. After a loop ran away they are not. */
async function run(
  host: Host,
  checks: readonly Check[],
  asked: CheckResult[],
  onCheck?: Questions['onCheck'],
): Promise<boolean> {
  for (const check of checks) {
    onCheck?.(asked.length + 1, check);
    const answer = await ask(host, check);
    asked.push(answer);
    if (host.hasRunAway || (answer.seen !== undefined && DECISIVE.includes(check.says))) return false;
  }
  return true;
}

/** Failures that mean that the bus works, but the controller does not. */
const OF_THE_CONTROLLER: readonly ErrorCode[] = ['nack', 'bad-frame', 'bus-io', 'bus-timeout'];

/** Rejects with errors that say nothing about the controller. */
async function ask(host: Host, { ask, ...check }: Check): Promise<CheckResult> {
  try {
    await host.take([rest, ask]);
    return check;
  } catch (error) {
    if (error instanceof Differs) return { ...check, seen: error.message };
    if (!isRobotError(error) || !OF_THE_CONTROLLER.includes(error.code)) throw error;
    return { ...check, seen: `${error.code} ${JSON.stringify(error.context)}` };
  }
}

/** Latches the stop and restores the gains. Tries three times. */
async function ended(host: Host, gains: GainSet): Promise<CheckResult> {
  const restored = () => host.take(giveGains(host.unit, gains)).catch(() => undefined);
  const latched = { about: 'at the end', ask: [restored, shows({ stopped: true })] };
  for (let tries = 1; ; tries += 1) {
    const last = await ask(host, { says: 'torque off at once, latched', ...latched });
    if (last.seen === undefined || tries === 3) return last;
  }
}
