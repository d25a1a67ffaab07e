import { fileURLToPath } from 'node:url';
import { UNIT_LIST } from '../core/units.js';
import type { Status } from '../schemas/status.js';
import type { AppOptions } from './app-options.js';
import { containment } from './contain.js';
import { createEvents } from './events.js';
import { openApiRoute } from './openapi.js';
import { type App, createRouteApp } from './route-app.js';
import { RouteCounts } from './route-counts.js';
import { driveRoutes } from './routes/drive-routes.js';
import { compareRoute, gainsRoutes } from './routes/gains-routes.js';
import { matchRoutes } from './routes/match-routes.js';
import { metricsRoute } from './routes/metrics-routes.js';
import { allProfilesRoute, profileRoutes } from './routes/profile-routes.js';
import { robotRoutes, viewRoutes } from './routes/robot-routes.js';
import { rootRoutes } from './routes/root-routes.js';
import { sessionRoutes } from './routes/session-routes.js';
import { autotuneRoutes, trialRoutes } from './routes/trial-routes.js';
import { stepRoutes, unitRoutes } from './routes/unit-routes.js';
import { statusBody } from './status-body.js';
import { telemetrySource } from './telemetry-source.js';

/** The whole HTTP interface of a robot. It does not open a port. */
export function createApp(options: AppOptions): App {
  const { clock, robot } = options;
  const startedMs = clock.nowMs();
  const statusWith = (streams: number): Status =>
    statusBody(options, (clock.nowMs() - startedMs) / 1000, streams);
  const sources = {
    status: statusWith,
    telemetry: telemetrySource(robot, clock),
    step: options.steps.captured,
    tune: options.autotune.changed,
    log: options.eventLog.recorded,
  };
  const events = createEvents(sources, clock, options.access, containment(options.log));
  const statusNow = () => statusWith(events.streams);
  const counts = new RouteCounts();
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
    metricsRoute(options, statusNow, counts),
    ...(options.extraRoutes ?? []),
  ];
  return createRouteApp({
    ...options,
    routes: [...documented, openApiRoute(documented), ...rootRoutes(options, statusNow)].map(route =>
      counts.counted(route, clock),
    ),
    allowedHosts: options.config.http.allowedHosts,
    pageFolder: fileURLToPath(new URL('../../console/', import.meta.url)),
  });
}
