import { visible } from '../core/control-characters.js';
import { BOARD_CHECKS, PIN_CHECKS } from './board.js';
import { BUS_CHECKS } from './bus.js';
import { type Checks, openCase, type Subject } from './case.js';
import { errorCode, type Finding, fine, unknown } from './finding.js';
import type { System } from './linux-system.js';
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

/** The checks that also make sense for a simulated robot. */
const SIMULATED = ['node', 'configuration', 'daemon', 'port', 'state folder', 'tokens', 'disk space'];

/**
 * Makes all checks, with one finding each. The checks change nothing. If a daemon runs, they ask it about the
 * hardware and files that it uses.
 */
export async function runDoctor({ system, ...asked }: Subject & { system: System }): Promise<Finding[]> {
  const known = await openCase(system, asked);
  const findings: Finding[] = [];
  const isSimulated = asked.simulatedAt !== undefined;
  if (isSimulated)
    findings.push({ check: 'robot', ...fine('simulated: it has no service, bus, pins and supply to check') });
  for (const [check, look] of Object.entries(CHECKS)) {
    if (isSimulated && !SIMULATED.includes(check)) continue;
    const found = await look(known).catch((error: unknown) => unknown(`could not look: ${errorCode(error)}`));
    findings.push({ check, ...found });
  }
  return findings;
}

/** A line for each finding, and their number at the end. */
export function toText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = ' '.repeat('unknown'.length + width + 4);
  const lines = findings.map(({ check, state, detail, cure }) => {
    const line = `${state.padEnd('unknown'.length)}  ${check.padEnd(width)}  ${visible(detail)}\n`;
    return cure === undefined ? line : `${line}${indent}-> ${visible(cure)}\n`;
  });
  const counts = (['wrong', 'unknown', 'fine'] as const).map(
    word => `${findings.filter(({ state }) => state === word).length} ${word}`,
  );
  return `${lines.join('')}\n${findings.length} checks: ${counts.join(', ')}.\n`;
}
