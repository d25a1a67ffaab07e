import { UNIT_LIST } from '../core/units.js';
import { version } from '../core/version.js';
import { busSpeed, controller, i2c, i2cAccess } from './bus.js';
import { type Case, type DoctorConfig, openCase } from './case.js';
import { errorCode, type Finding, type Found, unknown } from './finding.js';
import { linuxSystem } from './linux-system.js';
import { gpio, gpioAccess, interlockPin, laserPin } from './pins.js';
import { addons, configuration, daemon, lastStop, node, port, service } from './software.js';
import { clock, diskSpace, stateFolder } from './storage.js';
import { supply } from './supply.js';
import type { System } from './system.js';
import { tokens } from './tokens.js';

/** The checks, in the best order to set up a new board. */
const CHECKS: Readonly<Record<string, (asked: Case) => Promise<Found>>> = {
  node,
  addons,
  configuration,
  service,
  'last stop': lastStop,
  daemon,
  port,
  i2c,
  'i2c access': i2cAccess,
  'bus speed': busSpeed,
  ...Object.fromEntries(
    UNIT_LIST.map(unit => [`${unit.name} controller`, (asked: Case) => controller(unit, asked)]),
  ),
  gpio,
  'gpio access': gpioAccess,
  'laser pin': laserPin,
  'interlock pin': interlockPin,
  'state folder': stateFolder,
  tokens,
  'disk space': diskSpace,
  supply,
  clock,
};

/** One finding for each check. The checks change nothing. They ask a running daemon about what it uses. */
export async function runDoctor(options: {
  system: System;
  config: DoctorConfig;
  configProblem?: string | undefined;
}): Promise<Finding[]> {
  const asked = await openCase(options.system, options, version);
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(CHECKS)) {
    const found = await look(asked).catch((error: unknown) => unknown(`could not look: ${errorCode(error)}`));
    findings.push({ check, ...found });
  }
  return findings;
}

/** `trunnion doctor`. The exit code is 0 if nothing wrong was found. */
export async function doctorCommand(asked: {
  config: DoctorConfig;
  configProblem: string | undefined;
  json: boolean;
}): Promise<number> {
  const { json, ...known } = asked;
  const findings = await runDoctor({ system: linuxSystem, ...known });
  process.stdout.write(json ? `${JSON.stringify(findings, undefined, 2)}\n` : toText(findings));
  return findings.some(({ ok }) => ok === 'wrong') ? 1 : 0;
}

export function toText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = ' '.repeat('unknown'.length + width + 4);
  return findings
    .map(({ check, ok, detail, cure }) => {
      const line = `${ok.padEnd('unknown'.length)}  ${check.padEnd(width)}  ${detail}\n`;
      return cure === undefined ? line : `${line}${indent}-> ${cure}\n`;
    })
    .join('');
}
