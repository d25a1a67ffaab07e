import Router from '@koa/router';
import type { Middleware } from 'koa';
import { RobotError } from '../core/errors.js';
import type { Route } from './route.js';

type RouterMiddleware = ReturnType<Router['routes']>;

/**
 * Finds the route of a request. No path has parameters, so each has a router of its own and is found by its name: one
 * router for all would try every route of the robot for every request.
 */
export function routing(routes: readonly Route[], actOf: (route: Route) => Middleware): RouterMiddleware {
  const routers = new Map<string, Router>();
  for (const route of routes) {
    const router = routers.get(route.path) ?? new Router({ strict: true, sensitive: true });
    router.register(route.path, [route.method], actOf(route));
    routers.set(route.path, router);
  }
  const answers = new Map([...routers].map(([path, router]) => [path, answerOf(router)] as const));
  return (ctx, next) => {
    const answer = answers.get(ctx.path);
    if (answer === undefined) throw new RobotError('not-found', { path: ctx.path });
    return answer(ctx, next);
  };
}

function answerOf(router: Router): RouterMiddleware {
  const answer = router.routes();
  const methods = router.stack.flatMap(layer => layer.methods);
  const allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
  return ctx =>
    answer(ctx, async () => {
      if (ctx.method !== 'OPTIONS') throw new RobotError('method-not-allowed', { allow });
      ctx.set('Allow', allow);
      ctx.status = 204;
    });
}
