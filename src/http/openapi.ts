import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '../core/errors.js';
import type { Schema } from '../schemas/schema.js';
import { PROBLEMS } from './problem-table.js';
import { problem } from './problems.js';
import type { Route } from './route.js';

/** The problems of every call that asks for a right, on a closed robot. */
const ACCESS_PROBLEMS: readonly ErrorCode[] = [
  'token-required',
  'token-unknown',
  'not-allowed',
  'access-unavailable',
];
const EVENT_DATA = 'The data of one event. `x-events` has the schema of each event by its name.';
const ANY_REQUEST: readonly ErrorCode[] = ['cross-site', 'unknown-host', 'internal'];

/**
 * The OpenAPI document of the routes, from what registers and checks them. It takes tens of milliseconds, so other requests
 * are answered between any two routes.
 */
export async function openApi(routes: readonly Route[], version: string): Promise<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = {};
  const known = new Map<object, unknown>();
  for (const route of routes) {
    const described = withReferences(operation(route), schemas, known);
    paths[route.path] = { ...paths[route.path], [route.method]: described };
    await setImmediate();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunnion',
      version,
      description: 'Chassis, gimbal and laser of a competition robot.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(route => route.tag))].map(name => ({ name, description: `${name}.` })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Needed on a robot that has tokens. `trunnion token add` makes one.',
        },
      },
    },
  };
}

function operation(route: Route): Record<string, unknown> {
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [route.tag],
    'x-right': route.right,
    security: security(route),
    'x-events': route.events,
    parameters:
      route.query &&
      Object.entries(route.query).map(([name, schema]) => ({
        name,
        in: 'query',
        required: route.needs?.includes(name),
        schema,
      })),
    requestBody: route.body && {
      required: true,
      content: { 'application/json': { schema: route.body } },
    },
    responses: { [route.answerStatus ?? 200]: answer(route), ...problems(route) },
  };
}

/** `{}` means that the call may come without a token. */
function security({ right }: Route): readonly Readonly<Record<string, readonly string[]>>[] {
  if (right === 'none') return [];
  return /\bstop\b/.test(right) ? [{}, { token: [] }] : [{ token: [] }];
}

function answer(route: Route): Schema {
  const type = route.answerType ?? 'application/json';
  const schema = route.events
    ? { anyOf: Object.values(route.events), description: EVENT_DATA }
    : route.answer;
  return { description: route.summary, content: { [type]: { schema } } };
}

function problems(route: Route): Record<string, Schema> {
  const byStatus = new Map<number, string[]>();
  const access = route.right === 'none' ? [] : ACCESS_PROBLEMS;
  for (const code of new Set([...route.problems, ...access, ...ANY_REQUEST])) {
    const { status, title } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${title} (\`${code}\`)`]);
  }
  const content = { 'application/problem+json': { schema: problem } };
  return Object.fromEntries(
    [...byStatus].map(([status, titles]) => [String(status), { description: titles.join(', '), content }]),
  );
}

/**
 * The same value with each schema that has a title moved to `schemas` and referred to. A schema that differs from
 * another of its title, as gains with bounds differ from those without, stays in its place. `known` holds what was done
 * already, since most schemas are met many times.
 */
function withReferences(
  value: unknown,
  schemas: Record<string, unknown>,
  known: Map<object, unknown>,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const done = Array.isArray(value)
    ? value.map(item => withReferences(item, schemas, known))
    : objectWithReferences(value, schemas, known);
  known.set(value, done);
  return done;
}

function objectWithReferences(value: object, schemas: Record<string, unknown>, known: Map<object, unknown>) {
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'examples' ? member : withReferences(member, schemas, known),
    ]),
  );
  const { title, description, ...schema } = members;
  // A schema's member may be called `title` as well; what it holds is a schema then.
  if (typeof title !== 'string') return members;
  schemas[title] ??= schema;
  if (JSON.stringify(schemas[title]) !== JSON.stringify(schema)) return members;
  return { $ref: `#/components/schemas/${title}`, description };
}
