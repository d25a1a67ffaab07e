import type { RequestListener, ServerResponse } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Access } from '../access/access.js';
import type { Clock } from '../core/clock.js';
import { asRobotError, describeError, RobotError } from '../core/errors.js';
import { headersOf, SECURITY_HEADERS, sendAnswer } from './answer.js';
import type { Arrivals } from './arrivals.js';
import { authorization, callerOf } from './authorization.js';
import { pageRoutes } from './console.js';
import { containment } from './contain.js';
import { refuseForeignPages } from './foreign-pages.js';
import { PROBLEM_TYPE, problemOf } from './problems.js';
import { ReadQueue } from './read-queue.js';
import { headRefusal } from './request-head.js';
import { type Recorder, recorded, requestLog } from './request-log.js';
import type { Route } from './route.js';

interface RouteAppOptions extends Recorder {
  readonly routes: readonly Route[];
  readonly access: Access;
  readonly clock: Clock;
  readonly log: Logger;
  /** The host names under which a browser may reach the app, besides addresses and this machine's own name. */
  readonly allowedHosts: readonly string[];
  /** The folder of the built page, which is served at `/`. */
  readonly pageFolder: string;
  readonly arrivals?: Arrivals;
}

export interface App {
  /** Answers requests. It never throws. */
  readonly listener: RequestListener;
  /** Writes the numbers of the counted requests to the log. */
  close(): void;
}

/** Serves a table of routes and a page. Knows no robot, and does not open a port. */
export function createRouteApp(options: RouteAppOptions): App {
  const { access, clock, eventLog, kept, log } = options;
  const contain = containment(log);
  const authorize = authorization(access);
  const requests = requestLog(log, clock, contain, options.arrivals);
  // A router for each path. One router for all would compare each request with every route.
  const routers = new Map<string, Router>();
  const at = (path: string) => {
    const router = routers.get(path) ?? new Router({ strict: true, sensitive: true });
    routers.set(path, router);
    return router;
  };
  const reads = new ReadQueue(() => clock.nowMs());
  const yielding =
    <Answer>(act: (ctx: Context) => Answer | Promise<Answer>) =>
    (ctx: Context) =>
      reads.wait(callerOf(access, ctx).rights.length > 0).then(() => act(ctx));
  for (const route of options.routes) {
    const act = (ctx: Context) => route.handle(ctx, authorize);
    const later = yielding(act);
    const sooner = (ctx: Context) => (isAllowed(route, access, ctx) ? act(ctx) : later(ctx));
    const answer = route.method === 'get' ? later : recorded(route, { eventLog, kept }, sooner);
    const type = String(route.answer.contentMediaType ?? 'application/json; charset=utf-8');
    const send = (ctx: Context) =>
      answer(ctx).then(body => {
        if (body !== undefined) sendAnswer(ctx, route.answerStatus ?? 200, type, body);
      });
    at(route.path)[route.method](route.path, send);
  }
  for (const [path, send] of pageRoutes(options.pageFolder)) at(path).get(path, yielding(send));
  const answers = new Map([...routers].map(([path, router]) => [path, router.routes()]));

  const app = new Koa();
  const failed = (error: unknown) => log.debug(describeError(error), 'connection failed');
  app.on('error', contain(failed));
  app.use(requests.middleware);
  app.use(problemAnswers(log));
  app.use(refuseForeignPages(options.allowedHosts));
  app.use((ctx: RouterContext, next) => answers.get(ctx.path)?.(ctx, next) ?? next());
  app.use(yielding(unrouted));
  const koa = app.callback();
  const answer: RequestListener = (request, response) => {
    const refusal = headRefusal(request);
    return refusal === undefined ? koa(request, response) : refuse(refusal, response);
  };
  const listener = contain(answer, (_, response) => response.destroy());
  return { listener, close: requests.close };
}

/** Acts that the caller may do never wait. If the right depends on the body, the act may be laser off, and counts as allowed. */
function isAllowed({ right }: Route, access: Access, ctx: Context): boolean {
  return typeof right !== 'string' || (right !== 'none' && access.allows(right, callerOf(access, ctx)));
}

/** Answers a request that Koa must not see. */
function refuse(error: RobotError, response: ServerResponse): void {
  const { problem } = problemOf(error);
  response.statusCode = problem.status;
  response.setHeaders(new Map(Object.entries({ ...SECURITY_HEADERS, 'Content-Type': PROBLEM_TYPE })));
  response.end(JSON.stringify(problem));
}

/** Answers a request whose path or method has no route. The router leaves the routes of the path in `matched`. */
function unrouted(ctx: Context): void {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx.matched ?? [];
  if (layers.length === 0) throw new RobotError('not-found', { path: ctx.path });
  const allow = [...new Set([...layers.flatMap(({ methods }) => methods), 'OPTIONS'])].join(', ');
  if (ctx.method !== 'OPTIONS') throw new RobotError('method-not-allowed', { allow });
  ctx.set({ ...headersOf(ctx), Allow: allow });
  ctx.status = 204;
}

function problemAnswers(log: Logger): Middleware {
  return (ctx, next) =>
    next().catch(thrown => {
      const error = asRobotError(thrown);
      const { problem, headers } = problemOf(error);
      ctx.state.code = error.code;
      if (error.code === 'internal')
        log.error({ id: ctx.state.id, ...describeError(error) }, 'request failed');
      sendAnswer(ctx, problem.status, PROBLEM_TYPE, JSON.stringify(problem), Object.entries(headers).flat());
    });
}
