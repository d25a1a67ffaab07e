import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '../core/errors.js';
import { isObject } from '../core/json.js';
import type { Schema } from '../schemas/schema.js';
import { PROBLEMS } from './problem-table.js';
import { problem } from './problems.js';
import { get, isForCaller, type Route } from './route.js';

/** The problems of every route that needs a right. */
const ACCESS_PROBLEMS: readonly ErrorCode[] = [
  'token-required',
  'token-unknown',
  'not-allowed',
  'access-unavailable',
];
const ANY_REQUEST: readonly ErrorCode[] = ['cross-site', 'unknown-host', 'internal'];
const BODY_PROBLEMS: readonly ErrorCode[] = [
  'bad-json',
  'invalid-request',
  'body-too-large',
  'bad-media-type',
];

const EVENT_DATA = 'The data of one event. `x-events` has the schema of each event by its name.';

/** Serves the document of these routes and of itself. The first request makes it, because it would delay the start. */
export function openApiRoute(routes: readonly Route[], version: string): Route {
  let document: Promise<Buffer> | undefined;
  const route: Route = get({
    path: '/api/openapi.json',
    id: 'openapi',
    tag: 'Robot',
    right: 'read',
    summary: 'This document',
    answer: { type: 'object' },
    act: () => {
      document ??= openApi([...routes, route], version).then(made => Buffer.from(JSON.stringify(made)));
      return document;
    },
  });
  return route;
}

/** It takes tens of milliseconds, so the daemon answers other requests between any two routes. */
async function openApi(routes: readonly Route[], version: string): Promise<Record<string, unknown>> {
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
  const { right, body } = route;
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [route.tag],
    security: security(route),
    'x-right': typeof right === 'string' ? right : right.text,
    'x-events': route.events,
    parameters: route.query && parameters(route.query),
    requestBody: body && { required: true, content: { 'application/json': { schema: body } } },
    responses: { [route.answerStatus ?? 200]: answer(route), ...problems(route) },
  };
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

function answer(route: Route): Schema {
  const type = route.answerType ?? 'application/json';
  const schema = route.events
    ? { anyOf: Object.values(route.events), description: EVENT_DATA }
    : route.answer;
  return { description: route.summary, content: { [type]: { schema } } };
}

function problems(route: Route): Record<string, Schema> {
  const { right, method, body, query } = route;
  const mayBeGone = method === 'post' && (typeof right !== 'string' || isForCaller(right));
  const codes: readonly ErrorCode[] = [
    ...(body === undefined ? [] : BODY_PROBLEMS),
    ...(query === undefined ? [] : (['invalid-request'] as const)),
    ...(mayBeGone ? (['caller-gone'] as const) : []),
    ...(route.problems ?? []),
    ...(right === 'none' ? [] : ACCESS_PROBLEMS),
    ...ANY_REQUEST,
  ];
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const { status, title } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${title} (\`${code}\`)`]);
  }
  const content = { 'application/problem+json': { schema: problem } };
  return Object.fromEntries(
    [...byStatus].map(([status, titles]) => [String(status), { description: titles.join(', '), content }]),
  );
}

/**
 * The same value, but each schema with a title moves to `schemas`, and a reference takes its place. If another schema of
 * the same title is different, as gains with bounds differ from gains without, the schema stays in its place. `known`
 * holds the results so far, because most schemas appear many times.
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
  // A schema may have a member that is called `title`: then it is a schema, not a text.
  if (typeof title !== 'string') return members;
  schemas[title] ??= schema;
  if (JSON.stringify(schemas[title]) !== JSON.stringify(schema)) return members;
  return { $ref: `#/components/schemas/${title}`, description };
}
