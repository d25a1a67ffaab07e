import type { Context, Middleware } from 'koa';
import type { ErrorCode } from '../core/errors.js';
import type { Schema } from '../core/schema.js';
import { jsonBody, requireCaller } from './body.js';
import { compile } from './validate.js';

/** One endpoint: what registers it, checks its requests and documents it. */
export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly body?: Schema;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly answer: Schema;
  readonly answerType?: string;
  /** Besides those that any request may meet. */
  readonly problems: readonly ErrorCode[];
  readonly handlers: readonly Middleware[];
}

type Described<Answer> = Omit<Route, 'method' | 'handlers' | 'body' | 'answer' | 'problems'> & {
  readonly answer: Schema<Answer>;
  readonly problems?: readonly ErrorCode[];
};

/** Of any JSON body. */
const BODY_PROBLEMS: readonly ErrorCode[] = [
  'bad-json',
  'invalid-request',
  'body-too-large',
  'bad-media-type',
];

export function get<Answer>(
  described: Described<Answer>,
  answer: (ctx: Context) => Answer | Promise<Answer>,
): Route {
  const handler: Middleware = async ctx => {
    ctx.body = await answer(ctx);
  };
  return { ...described, problems: described.problems ?? [], method: 'get', handlers: [handler] };
}

/** An answer that goes on: `open` writes it. */
export function stream(described: Described<string>, open: (ctx: Context) => void): Route {
  const handler: Middleware = async ctx => open(ctx);
  return { ...described, problems: described.problems ?? [], method: 'get', handlers: [handler] };
}

/** What `risks` light or motion is not done for a caller who has hung up. */
export function post<Body, Answer>(
  described: Described<Answer> & { body: Schema<Body>; risks?: (body: Body) => boolean },
  act: (body: Body) => Answer | Promise<Answer>,
): Route {
  const { risks, ...documented } = described;
  const check = compile(described.body);
  const handler: Middleware = async ctx => {
    const body = check(ctx.request.body);
    if (risks?.(body)) await requireCaller(ctx);
    ctx.body = await act(body);
  };
  const problems = [...BODY_PROBLEMS, ...(described.problems ?? [])];
  return { ...documented, problems, method: 'post', handlers: [jsonBody, handler] };
}

/** An act that needs no body and reads none. */
export function command<Answer>(
  described: Described<Answer> & { risks?: true },
  act: () => Answer | Promise<Answer>,
): Route {
  const { risks, ...documented } = described;
  const handler: Middleware = async ctx => {
    if (risks) await requireCaller(ctx);
    ctx.body = await act();
  };
  return { ...documented, problems: described.problems ?? [], method: 'post', handlers: [handler] };
}
