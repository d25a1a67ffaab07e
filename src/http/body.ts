import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type Fault, isRobotError, RobotError } from '../core/errors.js';
import { escaped, invalidRequest, MOST_FAULTS } from './validate.js';

const LIMIT_BYTES = 4096;

const OPTIONS = {
  enableTypes: ['json'],
  // The callers have judged the media type.
  detectJSON: () => true,
  jsonLimit: String(LIMIT_BYTES),
  // The schemas refuse unknown members, so the name __proto__ needs no refusal of its own.
  onProtoPoisoning: 'ignore',
  onerror: (error: Error & { status?: number; type?: string }) => {
    if (error.type === 'request.aborted') throw new RobotError('caller-gone', {}, { cause: error });
    throw new RobotError(error.status === 413 ? 'body-too-large' : 'bad-json', {}, { cause: error });
  },
};
const parse = bodyParser(OPTIONS);

/** Reads a JSON body of at most 4 KiB. Rejects a body that names a member twice. */
export async function jsonBody(ctx: Context): Promise<unknown> {
  if (!isJson(ctx) || !isUtf8(ctx.get('Content-Type'))) throw new RobotError('bad-media-type');
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) throw new RobotError('bad-media-type');
  return parsedBody(ctx);
}

/** As `jsonBody`, for a body that may be missing or no JSON: then it counts as `{}`. */
export async function looseBody(ctx: Context): Promise<unknown> {
  if (isJson(ctx)) return jsonBody(ctx);
  // Whoever sends JSON under another media type means it.
  return parsedBody(ctx).catch(error => {
    if (isRobotError(error, 'bad-json')) return {};
    throw error;
  });
}

async function parsedBody(ctx: Context): Promise<unknown> {
  if ((ctx.request.length ?? 0) > LIMIT_BYTES) throw new RobotError('body-too-large');
  await parse(ctx, async () => undefined);
  const { rawBody, body } = ctx.request;
  // A text that is written the same again has no member twice.
  const isExact = rawBody === JSON.stringify(body);
  const faults = typeof rawBody === 'string' && !isExact ? duplicateMembers(rawBody) : [];
  if (faults.length > 0) throw invalidRequest(faults);
  return body;
}

/** Whether the request says that its body is JSON, in whatever charset. */
export function isJson(ctx: Context): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(ctx.get('Content-Type'));
}

function isUtf8(contentType: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  return /^utf-?8$/i.test(charset);
}

/** A string, with the colon if it names a member; or a bracket, a brace or a comma. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]/gs;

interface Container {
  readonly pointer: string;
  /** The members so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The current member's name or index. */
  place: string | number;
}

/**
 * The first members that valid JSON text names twice. JSON.parse silently keeps the last one, so a sender and a
 * reader could take the same text for different requests.
 */
function duplicateMembers(json: string): Fault[] {
  const faults: Fault[] = [];
  const open: Container[] = [];
  for (const [token, text = '', colon] of json.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      const pointer = inner === undefined ? '' : `${inner.pointer}/${inner.place}`;
      open.push({ pointer, names: token === '{' ? new Set() : undefined, place: token === '{' ? '' : 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof inner?.place === 'number') inner.place += 1;
    else if (colon !== undefined && inner?.names !== undefined) {
      const name = String(JSON.parse(text));
      inner.place = escaped(name);
      if (inner.names.has(name)) {
        faults.push({ pointer: `${inner.pointer}/${inner.place}`, detail: 'is given twice' });
        if (faults.length === MOST_FAULTS) break;
      }
      inner.names.add(name);
    }
  }
  return faults;
}
