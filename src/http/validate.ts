import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Fault, RobotError } from '../core/errors.js';
import { isObject } from '../core/json.js';
import type { Schema } from '../schemas/schema.js';

// strictTypes is off because `allOf` in the excitation schema refines the members beside it. The schemas are part of
// this program, so they are not checked: checking them would take a quarter of each start.
const ajv = new Ajv({
  allErrors: true,
  // Each error contains the wrong value.
  verbose: true,
  strictTypes: false,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});

/**
 * Makes a check that returns the value with its type, or throws `invalid-request` with every fault. The first use
 * compiles it, because compiling all checks would delay the start.
 */
export function compile<T>(schema: Schema<T>): (value: unknown) => T {
  let compiled: ValidateFunction<T> | undefined;
  return value => {
    compiled ??= ajv.compile<T>(schema);
    const check = compiled;
    if (check(value)) return value;
    throw invalidRequest((check.errors ?? []).filter(isOfCaller).map(faultOf));
  };
}

/** A refusal has at most this many faults. A body of 4 KiB could cause thousands. */
export const MOST_FAULTS = 20;
const LONGEST_POINTER = 200;

/** The refusal of a request with these faults. */
export function invalidRequest(faults: readonly Fault[]): RobotError<'invalid-request'> {
  const errors = faults.slice(0, MOST_FAULTS).map(({ pointer, detail }) => ({
    pointer: pointer.slice(0, LONGEST_POINTER),
    detail,
  }));
  return new RobotError('invalid-request', { errors });
}

/** As `compile`, for the query of a URL. Its values arrive as text. */
export function queryCheck<T>(schema: Schema<T>): (query: object) => T {
  const check = compile(schema);
  const declared = isObject(schema.properties) ? schema.properties : {};
  const typed = (name: string, given: unknown) => {
    const { type } = isObject(declared[name]) ? declared[name] : {};
    return type === 'integer' && typeof given === 'string' && /^\d{1,16}$/.test(given)
      ? Number(given)
      : given;
  };
  return query =>
    check(Object.fromEntries(Object.entries(query).map(([name, given]) => [name, typed(name, given)])));
}

/** Whether the error says something to a caller. A value that may be null, and is neither null nor right, has two errors more. */
function isOfCaller({ keyword, params }: ErrorObject): boolean {
  return keyword !== 'if' && keyword !== 'anyOf' && params.type !== 'null';
}

function faultOf(error: ErrorObject): Fault {
  const { instancePath, keyword, params, data, parentSchema, message = 'is not allowed' } = error;
  const ofMember = (name: string, detail: string) => ({
    pointer: `${instancePath}/${escaped(name)}`,
    detail,
  });
  const ofValue = (detail: string) => ({ pointer: instancePath, detail });
  if (keyword === 'required') return ofMember(params.missingProperty, 'is missing');
  if (keyword === 'additionalProperties') return ofMember(params.additionalProperty, 'is not known');
  if (keyword === 'enum') return ofValue(`must be one of ${params.allowedValues.join(', ')}`);
  if (keyword === 'pattern') return ofValue(`must be as described: "${parentSchema?.description}"`);
  if (keyword !== 'type') return ofValue(message);
  if (typeof data === 'number' && !Number.isFinite(data)) return ofValue('must be a finite number');
  return ofValue(`must be ${/^[aeiou]/.test(params.type) ? 'an' : 'a'} ${params.type}`);
}

/** A member's name as part of a JSON pointer. */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
