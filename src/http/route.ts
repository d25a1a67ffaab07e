import type { Context } from 'koa';
import type { ErrorCode } from '../core/errors.js';
import type { Need } from '../core/rights.js';
import type { Schema } from '../core/schema.js';
import type { UnitName } from '../core/units.js';
import { jsonBody, requireCaller } from './body.js';
import { requireQuery } from './query.js';
import { compile } from './validate.js';

/** Throws the refusal where the caller may not do it. It may set `ctx.state.who`, the name of whoever asks. */
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
    /** Its body is not for the log. */
    readonly isSecret?: true;
    /** Only refusals are recorded: what was done is recorded as another event. */
    readonly onlyRefused?: true;
  };
  /** What the caller must be allowed, in a word or, where it depends on the body, in words. */
  readonly right: string;
  readonly body?: Schema;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Of the query: what may not be left out. */
  readonly needs?: readonly string[];
  readonly answer: Schema;
  readonly answerType?: string;
  /** 202 for what goes on after the answer; absent: 200. */
  readonly answerStatus?: 202;
  /** Of a stream: the data of each event by its name. */
  readonly events?: Readonly<Record<string, Schema>>;
  /** Besides those that any request may meet. */
  readonly problems: readonly ErrorCode[];
  handle(ctx: Context, guard: Guard): Promise<void>;
}

interface Described<Answer>
  extends Pick<
    Route,
    'path' | 'id' | 'tag' | 'summary' | 'event' | 'query' | 'needs' | 'answerType' | 'answerStatus'
  > {
  readonly right: Need;
  readonly answer: Schema<Answer>;
  readonly problems?: readonly ErrorCode[];
}

/** A need that depends on what is asked. */
interface NeedOf<Body> {
  of(body: Body): Need;
  /** For the documentation. */
  readonly text: string;
}

type DescribedWithBody<Body, Answer> = Omit<Described<Answer>, 'right'> & {
  readonly right: Need | NeedOf<Body>;
  readonly body: Schema<Body>;
};

/** Of what a lock, a silent referee or the phase of a match may forbid. */
export const MATCH_PROBLEMS = [
  'locked',
  'referee-silent',
  'wrong-phase',
] as const satisfies readonly ErrorCode[];

/** Of any JSON body. */
const BODY_PROBLEMS: readonly ErrorCode[] = [
  'bad-json',
  'invalid-request',
  'body-too-large',
  'bad-media-type',
];

export const get = withoutBody('get');

/** An act that needs no body and reads none. */
export const command = withoutBody('post');

/** What is taken away; it needs no body and reads none. */
export const remove = withoutBody('delete');

/** An answer that goes on: `open` writes it. */
export function stream(
  described: Described<string> & Required<Pick<Route, 'answerType' | 'events'>>,
  open: (ctx: Context) => void,
): Route {
  return get<unknown>(described, open);
}

export function post<Body, Answer>(
  described: DescribedWithBody<Body, Answer>,
  act: (body: Body, ctx: Context) => Answer | Promise<Answer>,
): Route {
  const { right } = described;
  const check = compile(described.body);
  return {
    ...described,
    right: typeof right === 'string' ? right : right.text,
    problems: [...BODY_PROBLEMS, ...(described.problems ?? [])],
    method: 'post',
    async handle(ctx, guard) {
      if (typeof right === 'string') await guard(ctx, right);
      const body = check(await jsonBody(ctx));
      const need = typeof right === 'string' ? right : right.of(body);
      // A token may have been taken away while the body was on its way.
      await guard(ctx, need);
      if (isForCaller(need)) await requireCaller(ctx);
      const answer = await act(body, ctx);
      if (described.answerStatus !== undefined) ctx.status = described.answerStatus;
      send(ctx, answer);
    },
  };
}

/** A `Buffer` is an answer that was serialised already: JSON, unless its route names another type. */
function withoutBody(method: Route['method']) {
  return <Answer>(
    described: Described<Answer>,
    answer: (ctx: Context) => Answer | Promise<Answer | Buffer>,
  ): Route => ({
    problems: [],
    ...described,
    method,
    async handle(ctx, guard) {
      await guard(ctx, described.right);
      requireQuery(ctx, described.needs ?? []);
      if (method === 'post' && isForCaller(described.right)) await requireCaller(ctx);
      send(ctx, await answer(ctx));
    },
  });
}

/** What moves, lights or changes gains is done for those who are still there. Whoever stops, ends or rules is obeyed all the same. */
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
