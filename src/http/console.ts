import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'koa';
import { errnoOf, RobotError } from '../core/errors.js';
import { get, type Route } from './route.js';

/** scripts/console/build.ts writes a list of these to `manifest.json`. */
export interface ConsoleFile {
  /** The path at which the file is served. */
  readonly path: string;
  readonly file: string;
  readonly type: string;
  /** The hash of the content. */
  readonly hash: string;
  /** True if the path changes with the content, so that browsers may cache the file for ever. */
  readonly immutable: boolean;
}

type Bodies = Readonly<Record<'gzip' | 'identity', Buffer>>;

const POLICY =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The operator's page and its files. The build has compressed them; the start reads them once. */
export function consoleRoutes(folder: string): Route[] {
  const files = readManifest(folder);
  if (files.length === 0) return [missingPage()];
  return files.map(file => {
    const path = join(folder, file.file);
    // Browsers accept Brotli over TLS only.
    const bodies = { gzip: readFileSync(`${path}.gz`), identity: readFileSync(path) };
    return served(file.path, `The page: ${file.file}`, ctx => send(ctx, file, bodies));
  });
}

function readManifest(folder: string): readonly ConsoleFile[] {
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function missingPage(): Route {
  return served('/', 'The page', () => {
    throw new RobotError('not-found', {
      cure: 'The page is not built: run npm run build, then start again.',
    });
  });
}

function served(path: string, summary: string, answer: (ctx: Context) => unknown): Route {
  return get(path, 'none', {
    id: path,
    summary,
    answer: {},
    act: ({ ctx }) => answer(ctx),
  });
}

function send(ctx: Context, file: ConsoleFile, bodies: Bodies): Buffer | null {
  const coding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
  ctx.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('ETag', `"${file.hash}-${coding}"`);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return null;
  }
  ctx.type = file.type;
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  return bodies[coding];
}
