import { isGains, isObject } from '../core/json.js';
import type { RememberedStep } from '../schemas/step.js';

/** The steps of one loop from its file, a line of JSON each; undefined where a line is none. */
export function stepsIn(bytes: Buffer, loop: string): RememberedStep[] | undefined {
  try {
    const steps: unknown[] = bytes
      .toString('utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line));
    return steps.every((step): step is RememberedStep => isStep(step, loop)) ? steps : undefined;
  } catch {
    return undefined;
  }
}

function isStep(value: unknown, loop: string): value is RememberedStep {
  return (
    isObject(value) &&
    value.loop === loop &&
    Number.isSafeInteger(value.number) &&
    typeof value.at === 'string' &&
    typeof value.trial === 'boolean' &&
    (value.revision === null || Number.isSafeInteger(value.revision)) &&
    [value.oldSetpoint, value.setpoint, value.periodS].every(Number.isFinite) &&
    isGains(value.gains) &&
    isObject(value.figures) &&
    isObject(value.samples) &&
    areNumbers(value.samples.setpoint) &&
    areNumbers(value.samples.measured)
  );
}

function areNumbers(value: unknown): boolean {
  return Array.isArray(value) && value.every(Number.isFinite);
}
