import { RobotError } from '../core/errors.js';
import { MODES, type Mode } from '../core/units.js';
import { bitNames } from '../protocol/codec.js';
import { FAULTS, type FieldValues, FLAGS, type REGISTERS } from '../protocol/registers.js';

/** The status register of a controller, decoded. */
export type StatusFrame = FieldValues<typeof REGISTERS.status>;

/** Throws `bad-frame` for an unknown mode. */
export function modeOf({ mode: value }: StatusFrame): Mode {
  const mode = MODES[value];
  if (mode === undefined) throw new RobotError('bad-frame', { field: 'mode', value });
  return mode;
}

export function flagsOf(status: StatusFrame | undefined): readonly string[] {
  return bitNames(FLAGS, status?.flags ?? 0);
}

export function hasFlag(status: StatusFrame | undefined, flag: (typeof FLAGS)[number]): boolean {
  return flagsOf(status).includes(flag);
}

export function faultsOf(status: StatusFrame | undefined): readonly string[] {
  return bitNames(FAULTS, status?.faults ?? 0);
}
