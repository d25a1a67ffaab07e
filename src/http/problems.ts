import type { ErrorCode, Fault, GainsDifference, RobotError } from '../core/errors.js';
import { loopGains } from '../schemas/gains.js';
import {
  array,
  count,
  growing,
  named,
  oneOf,
  record,
  type Schema,
  type TypeOf,
  text,
} from '../schemas/schema.js';
import { PROBLEMS } from './problem-table.js';
import { TEXTS } from './problem-texts.js';

const fault: Schema<Fault> = growing({
  pointer: text('JSON pointer to the member at fault or missing.'),
  detail: text(),
});
const difference: Schema<GainsDifference> = growing({ sent: loopGains, inForce: loopGains });

const isCode = (code: string): code is ErrorCode => code in PROBLEMS;

/** A problem document of RFC 9457, with the code and what else a program may use. */
export const problem = named('Problem', {
  ...growing(
    {
      type: text(),
      title: text(),
      status: count(),
      detail: text('For people: what happened, and what to do.'),
      code: oneOf(Object.keys(PROBLEMS).filter(isCode)),
    },
    {
      unit: text(),
      units: array(text(), 'The controllers that did not confirm a stop.'),
      errors: array(fault, 'Every fault of the request.'),
      revision: count('The revision of the gains in force.'),
      also: array(text(), 'The codes of other failures of the same call. `detail` describes all of them.'),
      difference: record(difference, 'By loop name: the loops whose sent gains differ from those in force.'),
    },
  ),
  examples: [
    {
      type: 'urn:trunnion:problem:stopped',
      title: 'Stopped',
      status: 409,
      detail: 'The robot is stopped. POST /api/resume releases it.',
      code: 'stopped',
    },
  ],
});

export type Problem = TypeOf<typeof problem>;

export function problemOf<Code extends ErrorCode>({
  code,
  context,
  others,
}: Pick<RobotError<Code>, 'code' | 'context' | 'others'>): {
  problem: Problem;
  headers: Readonly<Record<string, string>>;
} {
  const { status, title, retryAfterS, members, headers } = PROBLEMS[code];
  const text = TEXTS[code];
  const besides = others.map(one => problemOf({ code: one.code, context: one.context, others: [] }).problem);
  const beside: Partial<Problem> = Object.assign({}, ...besides);
  const details = [typeof text === 'string' ? text : text(context), ...besides.map(other => other.detail)];
  return {
    problem: {
      ...beside,
      type: `urn:trunnion:problem:${code}`,
      title,
      status,
      detail: details.join(' '),
      code,
      ...(context.unit !== undefined && { unit: context.unit }),
      ...members?.(context),
      ...(others.length > 0 && { also: others.map(other => other.code) }),
    },
    headers: {
      ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }),
      ...headers?.(context),
    },
  };
}
