import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Fault, RobotError } from '../core/errors.js';
import type { Schema } from '../schemas/schema.js';

type Validate<T> = (value: unknown) => T;

// Types are not checked strictly, because `allOf` in the excitation schema refines what stands beside it. The schemas
// are our own, and checking them as well would cost a start a quarter of its time.
const ajv = new Ajv({
  allErrors: true,
  // Each error brings the value at fault along.
  verbose: true,
  strictTypes: false,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});

/**
 * Makes a check that returns the value with its type, or throws `invalid-request` with every fault. It is compiled when
 * it is first needed, since a start has no time for all checks.
 */
export function compile<T>(schema: Schema<T>): Validate<T> {
  let compiled: ValidateFunction<T> | undefined;
  return value => {
    compiled ??= ajv.compile<T>(schema);
    const check = compiled;
    if (check(value)) return value;
    const errors = (check.errors ?? []).filter(error => error.keyword !== 'if').map(faultOf);
    throw new RobotError('invalid-request', { errors });
  };
}

function faultOf({ instancePath, keyword, params, data, message }: ErrorObject): Fault {
  switch (keyword) {
    case 'required':
      return { pointer: `${instancePath}/${escaped(params.missingProperty)}`, detail: 'is missing' };
    case 'additionalProperties':
      return { pointer: `${instancePath}/${escaped(params.additionalProperty)}`, detail: 'is not known' };
    case 'enum':
      return { pointer: instancePath, detail: `must be one of ${params.allowedValues.join(', ')}` };
    case 'type':
      return { pointer: instancePath, detail: typeDetail(params.type, data) };
    case 'minimum':
    case 'maximum':
      return { pointer: instancePath, detail: `must be ${params.comparison} ${params.limit}` };
    default:
      return { pointer: instancePath, detail: message ?? 'is not allowed' };
  }
}

function typeDetail(type: string, value: unknown): string {
  const article = /^[aeiou]/.test(type) ? 'an' : 'a';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a finite number';
  return `must be ${article} ${type}`;
}

/** A member's name as part of a JSON pointer. */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
