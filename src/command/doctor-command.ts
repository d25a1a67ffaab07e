import type { Asked } from '../doctor/case.js';
import { runDoctor, toText } from '../doctor/doctor.js';
import { linuxSystem } from '../doctor/linux-system.js';
import type { Said } from './said.js';

/** `trunnion doctor`. The exit code is 0 if nothing wrong was found. */
export async function doctorCommand(asked: Asked): Promise<Said> {
  const findings = await runDoctor({ system: linuxSystem, ...asked });
  const hasColours = process.stdout.isTTY && process.stdout.hasColors();
  const exitCode = findings.some(({ ok }) => ok === 'wrong') ? 1 : 0;
  return { text: toText(findings, hasColours), exitCode, json: findings, isReport: true };
}
