import { BOARD_CHECKS } from './board.js';
import { BUS_CHECKS } from './bus.js';
import { type Asked, type Checks, openCase } from './case.js';
import { errorCode, type Finding, unknown } from './finding.js';
import { linuxSystem, type System } from './linux-system.js';
import { PIN_CHECKS } from './pins.js';
import { SOFTWARE_CHECKS } from './software.js';
import { STORAGE_CHECKS } from './storage.js';

/** The checks, in the best order to set up a new board. */
const CHECKS: Checks = {
  ...SOFTWARE_CHECKS,
  ...BUS_CHECKS,
  ...PIN_CHECKS,
  ...STORAGE_CHECKS,
  ...BOARD_CHECKS,
};

/** One finding for each check. The checks change nothing. They ask a running daemon about what it uses. */
export async function runDoctor({ system, ...asked }: Asked & { system: System }): Promise<Finding[]> {
  const known = await openCase(system, asked);
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(CHECKS)) {
    const found = await look(known).catch((error: unknown) => unknown(`could not look: ${errorCode(error)}`));
    findings.push({ check, ...found });
  }
  return findings;
}

/** `trunnion doctor`. The exit code is 0 if nothing wrong was found. */
export async function doctorCommand({ json, ...asked }: Asked & { json: boolean }): Promise<number> {
  const findings = await runDoctor({ system: linuxSystem, ...asked });
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
