import type { RequestListener, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import { asRobotError, describeError, RobotError } from '../core/errors.js';
import { UNIT_LIST } from '../core/units.js';
import type { Status } from '../schemas/status.js';
import type { AppOptions } from './app-options.js';
import { authorization, isRoot } from './authorization.js';
import { serveConsole } from './console.js';
import { containment } from './contain.js';
import { createEvents } from './events.js';
import { refuseForeignPages } from './foreign-pages.js';
import { openApiRoute } from './openapi.js';
import { problemOf } from './problems.js';
import { headRefusal } from './request-head.js';
import { recorded, requestLog } from './request-log.js';
import { driveRoutes } from './routes/drive-routes.js';
import { compareRoute, gainsRoutes } from './routes/gains-routes.js';
import { matchRoutes } from './routes/match-routes.js';
import { allProfilesRoute, profileRoutes } from './routes/profile-routes.js';
import { robotRoutes, viewRoutes } from './routes/robot-routes.js';
import { rootRoutes } from './routes/root-routes.js';
import { sessionRoutes } from './routes/session-routes.js';
import { autotuneRoutes, trialRoutes } from './routes/trial-routes.js';
import { stepRoutes, unitRoutes } from './routes/unit-routes.js';
import { statusBody } from './status-body.js';
import { telemetrySource } from './telemetry-source.js';

interface App {
  /** Answers requests. It never throws. */
  readonly listener: RequestListener;
  /** Writes the numbers of the counted requests to the log. */
  close(): void;
}

/** The whole HTTP interface. It does not open a port. */
export function createApp(options: AppOptions): App {
  const { clock, log, robot } = options;
  const contain = containment(log);
  const startedMs = clock.nowMs();
  const statusNow = (): Status => statusBody(options, (clock.nowMs() - startedMs) / 1000, events.streams);
  const sources = {
    status: statusNow,
    telemetry: telemetrySource(robot, clock),
    step: options.steps.captured,
    tune: options.autotune.changed,
    log: options.eventLog.recorded,
  };
  const events = createEvents(sources, clock, options.access, contain);
  const documented = [
    ...UNIT_LIST.flatMap(unit => [
      ...unitRoutes(options, unit),
      ...gainsRoutes(options, unit),
      ...trialRoutes(options, unit),
      ...stepRoutes(options.steps, unit),
      ...profileRoutes(options, unit),
      compareRoute(options, unit),
      ...autotuneRoutes(options, unit),
    ]),
    allProfilesRoute(options),
    ...driveRoutes(options),
    ...robotRoutes(options),
    ...viewRoutes(options, statusNow, events),
    ...sessionRoutes(options),
    ...matchRoutes(options),
    ...(options.extraRoutes ?? []),
  ];
  const authorize = authorization(options.access);
  const requests = requestLog(log, clock, contain);

  const ofRoot = rootRoutes(options, statusNow);
  const router = new Router({ strict: true, sensitive: true });
  for (const route of [...documented, openApiRoute(documented), ...ofRoot]) {
    const act = (ctx: Context) => {
      if (ofRoot.includes(route) && !isRoot(ctx)) throw new RobotError('not-found', { path: ctx.path });
      return route.handle(ctx, authorize);
    };
    router[route.method](route.path, route.method === 'get' ? act : recorded(route, options.eventLog, act));
  }
  serveConsole(router, fileURLToPath(new URL('../../console/', import.meta.url)));
  const app = new Koa();
  app.on(
    'error',
    contain(error => log.debug(describeError(error), 'connection failed')),
  );
  app.use(requests.middleware);
  app.use(problemAnswers(log));
  app.use(refuseForeignPages(options.config.http.allowedHosts));
  app.use(router.routes());
  app.use(unrouted);
  const koa = app.callback();
  const answer: RequestListener = (request, response) => {
    for (const [name, value] of ALWAYS) response.setHeader(name, value);
    const refusal = headRefusal(request);
    return refusal === undefined ? koa(request, response) : refuse(refusal, response);
  };
  const listener = contain(answer, (_, response) => response.destroy());
  return { listener, close: requests.close };
}

/** The headers of every answer. */
const ALWAYS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
] as const;
const PROBLEM_TYPE = 'application/problem+json';

/** Answers a request that Koa must not see. */
function refuse(error: RobotError, response: ServerResponse): void {
  const { problem } = problemOf(error);
  response.statusCode = problem.status;
  response.setHeader('Content-Type', PROBLEM_TYPE);
  response.end(JSON.stringify(problem));
}

/** Answers a request whose path or method has no route. The router leaves the routes of the path in `matched`. */
function unrouted(ctx: Context): void {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx.matched ?? [];
  if (layers.length === 0) throw new RobotError('not-found', { path: ctx.path });
  const allow = [...new Set([...layers.flatMap(({ methods }) => methods), 'OPTIONS'])].join(', ');
  if (ctx.method !== 'OPTIONS') throw new RobotError('method-not-allowed', { allow });
  ctx.set('Allow', allow);
  ctx.status = 204;
}

function problemAnswers(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = asRobotError(thrown);
      const { problem, headers } = problemOf(error);
      ctx.state.code = error.code;
      if (error.code === 'internal')
        log.error({ id: ctx.state.id, ...describeError(error) }, 'request failed');
      ctx.set(headers);
      ctx.status = problem.status;
      ctx.type = PROBLEM_TYPE;
      ctx.body = JSON.stringify(problem);
    }
  };
}
