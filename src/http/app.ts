import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import { asRobotError, describeError } from '../core/errors.js';
import { UNIT_LIST } from '../core/units.js';
import { logEvent } from '../schemas/log.js';
import { text } from '../schemas/schema.js';
import { type Status, status } from '../schemas/status.js';
import { step } from '../schemas/step.js';
import { telemetry } from '../schemas/telemetry.js';
import { tune } from '../schemas/tune.js';
import { recorded } from './act-log.js';
import type { AppOptions } from './app-options.js';
import { consoleRoutes } from './console.js';
import { createEvents } from './events.js';
import { refuseForeignPages } from './foreign-pages.js';
import { createGuard } from './guard.js';
import { openApi } from './openapi.js';
import { problemOf } from './problems.js';
import { requestLog } from './request-log.js';
import { robotFeed } from './robot-feed.js';
import { get, type Route } from './route.js';
import { autotuneRoutes } from './routes/autotune-routes.js';
import { compareRoute } from './routes/compare-routes.js';
import { logRoutes } from './routes/log-routes.js';
import { matchRoutes } from './routes/match-routes.js';
import { allProfilesRoute, profileRoutes } from './routes/profile-routes.js';
import { robotRoutes } from './routes/robot-routes.js';
import { sessionRoutes } from './routes/session-routes.js';
import { stepRoutes } from './routes/step-routes.js';
import { trialRoutes } from './routes/trial-routes.js';
import { unitRoutes } from './routes/unit-routes.js';
import { routing } from './routing.js';
import { statusBody } from './status-body.js';

/** The whole HTTP interface, and what it says of the robot. Never listens. */
export function createApp(options: AppOptions): { readonly app: Koa; readonly status: () => Status } {
  const { robot, clock, version, hostSilenceMs } = options;
  const startedMs = clock.nowMs();
  const statusNow = (): Status => statusBody(options, (clock.nowMs() - startedMs) / 1000, events.streams);
  const guard = createGuard(options.access);
  const events = createEvents(robotFeed(options, statusNow), clock, options.access);
  /** Made when first asked for: a start has no time for it. */
  let described: Promise<Buffer> | undefined;
  const documented: Route[] = [
    ...unitRoutes(options),
    ...UNIT_LIST.flatMap(unit => trialRoutes(options, unit)),
    ...UNIT_LIST.flatMap(unit => stepRoutes(options.steps, unit)),
    ...UNIT_LIST.flatMap(unit => profileRoutes(options, unit)),
    ...UNIT_LIST.map(unit => compareRoute(options, unit)),
    allProfilesRoute(options),
    ...UNIT_LIST.flatMap(unit => autotuneRoutes(options.autotune, unit, hostSilenceMs)),
    ...robotRoutes(robot, statusNow),
    ...logRoutes(options.eventLog, options.durableLog),
    ...sessionRoutes(options.access),
    ...matchRoutes(options.match, options.durableLog, clock),
    get<unknown>({
      path: '/api/events',
      id: 'events',
      tag: 'Robot',
      right: 'read',
      summary:
        'Server-sent events: `status` at once and on change, `telemetry`, `step` after each captured step, `tune` and `log`',
      answer: text(),
      answerType: 'text/event-stream',
      events: { status, telemetry, step, tune, log: logEvent },
      problems: ['too-many-streams'],
      act: events.open,
    }),
    get({
      path: '/api/openapi.json',
      id: 'openapi',
      tag: 'Robot',
      right: 'read',
      summary: 'This document',
      answer: { type: 'object' },
      act: () => {
        described ??= openApi(documented, version).then(document => Buffer.from(JSON.stringify(document)));
        return described;
      },
    }),
    ...(options.extraRoutes ?? []),
  ];
  const routes = [...documented, ...consoleRoutes(options.consoleFolder)];

  const app = new Koa();
  app.on('error', error => options.log.debug(describeError(error), 'connection failed'));
  app.use(requestLog(options.log, clock));
  app.use(problemAnswers(options.log));
  app.use(refuseForeignPages(options.allowedHosts));
  app.use(
    routing(routes, route => {
      const act = (ctx: Context) => route.handle(ctx, guard);
      return route.method === 'get' ? act : recorded(route, options.eventLog, act);
    }),
  );
  return { app, status: statusNow };
}

function problemAnswers(log: Logger): Middleware {
  return async (ctx, next) => {
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    ctx.res.setHeader('Cache-Control', 'no-store');
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
      ctx.type = 'application/problem+json';
      ctx.body = JSON.stringify(problem);
    }
  };
}
