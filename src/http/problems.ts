import { type ErrorCode, type Fault, type GainsDifference, RobotError } from '../core/errors.js';
import { loopGains } from '../schemas/gains.js';
import * as s from '../schemas/schema.js';
import { isCode, PROBLEMS, TEXTS } from './problem-table.js';

const fault: s.Schema<Fault> = s.growing({
  pointer: s.text('JSON pointer to the member at fault or missing.'),
  detail: s.text(),
});
const difference: s.Schema<GainsDifference> = s.growing({ sent: loopGains, inForce: loopGains });

const members = s.growing({
  type: s.text(),
  title: s.text(),
  status: s.count(),
  detail: s.text('For people: what happened, and what to do.'),
  code: s.oneOf(Object.keys(PROBLEMS).filter(isCode)),
  unit: s.optional(s.text()),
  units: s.optional(s.array(s.text(), 'The controllers that did not confirm a stop.')),
  errors: s.optional(s.array(fault, 'Every fault of the request.')),
  revision: s.optional(s.count('The revision of the gains in force.')),
  also: s.optional(
    s.array(s.text(), 'The codes of other failures of the same call. `detail` describes all of them.'),
  ),
  difference: s.optional(
    s.record(difference, 'By loop name: the loops whose sent gains differ from those in force.'),
  ),
});

export type Problem = s.TypeOf<typeof members>;

/** The media type of problem documents. */
export const PROBLEM_TYPE = 'application/problem+json';

/** A problem document of RFC 9457, with the code and other members for programs. */
export const problem: s.Schema<Problem> = s.named('Problem', {
  ...members,
  examples: [problemOf(new RobotError('stopped')).problem],
});

type Failure<Code extends ErrorCode> = Pick<RobotError<Code>, 'code' | 'context'>;
interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to a failed call. If other acts of the call failed too, it describes all failures. */
export function problemOf({
  others,
  ...failure
}: Failure<ErrorCode> & Pick<RobotError, 'others'>): ProblemAnswer {
  const { problem, headers } = answerTo(failure);
  if (others.length === 0) return { problem, headers };
  const all = [problem, ...others.map(other => answerTo(other).problem)];
  const detail = all.map(one => one.detail).join(' ');
  const also = others.map(({ code }) => code);
  return { problem: { ...Object.assign({}, ...all.toReversed()), detail, also }, headers };
}

function answerTo<Code extends ErrorCode>({ code, context }: Failure<Code>): ProblemAnswer {
  const { status, title, retryAfterS, shown = [], headers } = PROBLEMS[code];
  const text = TEXTS[code];
  const detail = typeof text === 'string' ? text : text(context);
  const cure = 'cure' in context && context.cure !== undefined ? ` ${context.cure}` : '';
  const known = (['unit', ...shown] as const).filter(name => context[name] !== undefined);
  return {
    problem: {
      type: `urn:trunnion:problem:${code}`,
      title,
      status,
      detail: detail + cure,
      code,
      ...Object.fromEntries(known.map(name => [name, context[name]])),
    },
    headers: {
      ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }),
      ...headers?.(context),
    },
  };
}
