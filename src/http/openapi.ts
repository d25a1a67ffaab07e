import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '../core/errors.js';
import { isObject } from '../core/json.js';
import { UNIT_LIST } from '../core/units.js';
import { version } from '../core/version.js';
import type { Schema } from '../schemas/schema.js';
import { PROBLEMS } from './problem-table.js';
import { PROBLEM_TYPE, problem } from './problems.js';
import { get, isForCaller, type Route } from './route.js';

/** The problems of every route, of every route with a body, and of every route that needs a right. */
const OF = {
  all: ['cross-site', 'unknown-host', 'internal'],
  body: ['bad-json', 'invalid-request', 'body-too-large', 'bad-media-type'],
  right: ['token-required', 'token-unknown', 'not-allowed', 'access-unavailable'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;

/** Tags of paths: the first part of the path that is listed here decides. Units have tags of their own. */
const TAGS: Readonly<Record<string, string>> = { sim: 'Simulator', match: 'Match', session: 'Access' };

const EVENT_DATA = 'The data of one event. `x-events` has the schema of each event by its name.';

/**
 * Serves the document of these routes and of itself. The first request makes the document, because making it
 * earlier would delay the start.
 */
export function openApiRoute(routes: readonly Route[]): Route {
  let document: Promise<Buffer> | undefined;
  const route: Route = get('/api/openapi.json', 'read', {
    id: 'openapi',
    summary: 'This document',
    answer: { type: 'object' },
    act: () => {
      document ??= openApi([...routes, route]).then(made => Buffer.from(JSON.stringify(made)));
      return document;
    },
  });
  return route;
}

/** This takes tens of milliseconds, so the daemon answers other requests between any two routes. */
async function openApi(routes: readonly Route[]): Promise<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = {};
  for (const route of routes) {
    const described = withReferences(operation(route), schemas);
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
    tags: [...new Set(routes.map(tagOf))].map(name => ({ name, description: `${name}.` })),
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
  const { right, body, events, summary } = route;
  const schema = events ? { anyOf: Object.values(events), description: EVENT_DATA } : route.answer;
  const [type = ''] = String(route.answer.contentMediaType ?? 'application/json').split(';');
  const content = { [events ? 'text/event-stream' : type]: { schema } };
  return {
    operationId: route.id,
    summary,
    tags: [tagOf(route)],
    security: security(route),
    'x-right': typeof right === 'string' ? right : right.text,
    'x-events': events,
    parameters: route.query && parameters(route.query),
    requestBody: body && {
      required: !route.bodyIsOptional,
      content: { 'application/json': { schema: body } },
    },
    responses: { [route.answerStatus ?? 200]: { description: summary, content }, ...problems(route) },
  };
}

function tagOf({ path }: Route): string {
  const parts = path.split('/');
  const unit = UNIT_LIST.find(({ name }) => parts.includes(name));
  return unit?.title ?? parts.map(part => TAGS[part]).find(Boolean) ?? 'Robot';
}

/** `{}` means that the call may come without a token. */
function security({ right }: Route): readonly Readonly<Record<string, readonly string[]>>[] {
  if (right === 'none') return [];
  return typeof right !== 'string' || right === 'stop' ? [{}, { token: [] }] : [{ token: [] }];
}

function parameters({ properties, required }: Schema): Schema[] {
  const names: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: names.includes(name) || undefined,
    schema,
  }));
}

function problems(route: Route): Record<string, Schema> {
  const { right, method, body, query } = route;
  const mayBeGone = method === 'post' && (typeof right !== 'string' || isForCaller(right));
  const codes = new Set<ErrorCode>([
    ...(body ? OF.body : []),
    ...(query ? (['invalid-request'] as const) : []),
    ...(mayBeGone ? (['caller-gone'] as const) : []),
    ...(route.problems ?? []),
    ...(right === 'none' ? [] : OF.right),
    ...OF.all,
  ]);
  const content = { [PROBLEM_TYPE]: { schema: problem } };
  const described: Record<string, { readonly description: string; readonly content: object }> = {};
  for (const code of codes) {
    const { status, title } = PROBLEMS[code];
    const before = described[status] ? `${described[status].description}, ` : '';
    described[status] = { description: `${before}${title} (\`${code}\`)`, content };
  }
  return described;
}

/**
 * The same value, but each schema with a title moves to `schemas`, and a reference takes its place. If two schemas of
 * one title differ, such as gains with and without bounds, the second one stays in its place.
 */
function withReferences(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map(item => withReferences(item, schemas));
  if (!isObject(value)) return value;
  const moved = (name: string, member: unknown) =>
    name === 'examples' ? member : withReferences(member, schemas);
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, moved(name, member)]),
  );
  const { title, description, ...schema } = members;
  // In a list of members, `title` may be the schema of a member instead of a text.
  if (typeof title !== 'string') return members;
  schemas[title] ??= schema;
  if (JSON.stringify(schemas[title]) !== JSON.stringify(schema)) return members;
  return { $ref: `#/components/schemas/${title}`, description };
}
