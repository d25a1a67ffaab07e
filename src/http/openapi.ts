import type { ErrorCode } from '../core/errors.js';
import type { Schema } from '../core/schema.js';
import { PROBLEMS } from './problem-table.js';
import { problem } from './problems.js';
import type { Route } from './route.js';

const ANY_REQUEST: readonly ErrorCode[] = ['cross-site', 'unknown-host', 'internal'];

/** The OpenAPI document of the routes, from what registers and checks them. */
export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunnion',
      version,
      description: 'Chassis, gimbal and laser of a competition robot.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [],
    tags: [...new Set(routes.map(route => route.tag))].map(name => ({ name, description: `${name}.` })),
    paths,
    components: { schemas: { Problem: problem } },
  };
}

function operation(route: Route): Record<string, unknown> {
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [route.tag],
    'x-right': route.right,
    ...(route.query !== undefined && {
      parameters: Object.entries(route.query).map(([name, schema]) => ({ name, in: 'query', schema })),
    }),
    ...(route.body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: route.body } } },
    }),
    responses: { 200: answer(route), ...problems(route) },
  };
}

function answer(route: Route): Schema {
  const type = route.answerType ?? 'application/json';
  return { description: route.summary, content: { [type]: { schema: route.answer } } };
}

function problems(route: Route): Record<string, Schema> {
  const byStatus = new Map<number, string[]>();
  for (const code of [...route.problems, ...ANY_REQUEST]) {
    const { status, title } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${title} (\`${code}\`)`]);
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    [...byStatus].map(([status, titles]) => [String(status), { description: titles.join(', '), content }]),
  );
}
