import type { Context } from 'koa';
import type { ErrorCode } from '../core/errors.js';
import type { Need } from '../core/rights.js';
import type { UnitName } from '../core/units.js';
import type { Schema } from '../schemas/schema.js';
import { jsonBody, requireCaller } from './body.js';
import { requireQuery } from './query.js';
import { compile } from './validate.js';

/**
 * Throws the refusal where the caller may not do it. It sets `ctx.state.who` to the name of the token, where there is
 * one.
 */
export type Guard = (ctx: Context, need: Need) => void | Promise<void>;

/** One endpoint: what registers it, guards it, checks its requests and documents it. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** How the log of events names the call; its id unless it is given. */
  readonly event?: {
    readonly what: string;
    readonly unit?: UnitName;
    /** True where the body must not be logged. */
    readonly isSecret?: true;
    /** True where only refusals are recorded, because what is done is recorded as another event. */
    readonly onlyRefused?: true;
  };
  /** The right that the caller must have, in a word or, where it depends on the body, in words. */
  readonly right: string;
  readonly body?: Schema;
  readonly query?: Readonly<Record<string, Schema>>;
  /** The names in the query that may not be left out. */
  readonly needs?: readonly string[];
  readonly answer: Schema;
  readonly answerType?: string;
  /** 202 where the work goes on after the answer; otherwise the answer is 200. */
  readonly answerStatus?: 202;
  /** The data of each event of a stream, by its name. */
  readonly events?: Readonly<Record<string, Schema>>;
  /** The problems that a request may meet besides those of any request. */
  readonly problems: readonly ErrorCode[];
  handle(ctx: Context, guard: Guard): Promise<void>;
}

interface Described<Answer>
  extends Omit<Route, 'method' | 'right' | 'body' | 'answer' | 'problems' | 'handle'> {
  readonly right: Need;
  readonly answer: Schema<Answer>;
  readonly problems?: readonly ErrorCode[];
  /** A `Buffer` is an answer that was serialised already: JSON, unless its route names another type. */
  readonly act: (ctx: Context) => Answer | Promise<Answer | Buffer>;
}

/** A need that depends on what is asked. */
interface NeedOf<Body> {
  of(body: Body): Need;
  /** The need in words, for the documentation. */
  readonly text: string;
}

type DescribedWithBody<Body, Answer> = Omit<Described<Answer>, 'right' | 'act'> & {
  readonly right: Need | NeedOf<Body>;
  readonly body: Schema<Body>;
  readonly act: (body: Body, ctx: Context) => Answer | Promise<Answer>;
};

/** The problems of every act that a lock, a silent referee or the phase of a match may forbid. */
export const MATCH_PROBLEMS = [
  'locked',
  'referee-silent',
  'wrong-phase',
] as const satisfies readonly ErrorCode[];

/** The problems that any JSON body may have. */
const BODY_PROBLEMS: readonly ErrorCode[] = [
  'bad-json',
  'invalid-request',
  'body-too-large',
  'bad-media-type',
];

export const get = withoutBody('get');

/** An act that needs no body and reads none. */
export const command = withoutBody('post');

/** An act that takes something away; it needs no body and reads none. */
export const remove = withoutBody('delete');

export function post<Body, Answer>(described: DescribedWithBody<Body, Answer>): Route {
  const { right } = described;
  const check = compile(described.body);
  return {
    ...described,
    right: typeof right === 'string' ? right : right.text,
    problems: [
      ...BODY_PROBLEMS,
      ...callerProblems(typeof right !== 'string' || isForCaller(right)),
      ...(described.problems ?? []),
    ],
    method: 'post',
    async handle(ctx, guard) {
      await guard(ctx, typeof right === 'string' ? right : 'none');
      const body = check(await jsonBody(ctx));
      const need = typeof right === 'string' ? right : right.of(body);
      // A token may have been taken away while the body was on its way.
      await guard(ctx, need);
      if (isForCaller(need)) await requireCaller(ctx);
      const answer = await described.act(body, ctx);
      if (described.answerStatus !== undefined) ctx.status = described.answerStatus;
      send(ctx, answer);
    },
  };
}

function withoutBody(method: Route['method']) {
  return <Answer>(described: Described<Answer>): Route => {
    const needsCaller = method === 'post' && isForCaller(described.right);
    return {
      ...described,
      problems: [...callerProblems(needsCaller), ...(described.problems ?? [])],
      method,
      async handle(ctx, guard) {
        await guard(ctx, described.right);
        requireQuery(ctx, described.needs ?? []);
        if (needsCaller) await requireCaller(ctx);
        send(ctx, await described.act(ctx));
      },
    };
  };
}

/** A caller who has closed only the sending side still reads the answer `caller-gone`. */
function callerProblems(needsCaller: boolean): readonly ErrorCode[] {
  return needsCaller ? ['caller-gone'] : [];
}

/**
 * Whether the act is done only for a caller who is still there. That is so for what moves, lights or changes gains;
 * whoever stops, ends or rules is obeyed all the same.
 */
function isForCaller(need: Need): boolean {
  return need === 'drive' || need === 'tune';
}

/**
 * Koa gets text or bytes. Of anything else it asks whether it is a fetch `Response`, and that alone makes Node load its
 * fetch: 60 ms and several megabytes at the first answer, on a small board long enough for the watchdog to bite.
 * `undefined` is an answer that its route writes by itself.
 */
function send(ctx: Context, answer: unknown): void {
  if (answer === undefined) return;
  if (answer !== null && !ctx.res.hasHeader('Content-Type')) {
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  }
  ctx.body = answer === null || Buffer.isBuffer(answer) ? answer : JSON.stringify(answer);
}
