import type { Context } from 'koa';
import { RobotError } from '../core/errors.js';

interface Range {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
}

/** Reads a whole number from the query; undefined where it is not given. Throws `invalid-request`. */
export function wholeNumber(ctx: Context, name: string, { minimum, maximum }: Range): number | undefined {
  const given = ctx.query[name];
  if (given === undefined) return undefined;
  const value = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const detail = `must be a whole number from ${minimum} to ${maximum}`;
  throw new RobotError('invalid-request', { errors: [{ pointer: `/${name}`, detail }] });
}

/** Throws `invalid-request`. */
export function requireQuery(ctx: Context, needs: readonly string[]): void {
  const missing = needs.filter(name => ctx.query[name] === undefined);
  if (missing.length === 0) return;
  const errors = missing.map(name => ({ pointer: `/${name}`, detail: 'is missing' }));
  throw new RobotError('invalid-request', { errors });
}
