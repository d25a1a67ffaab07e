import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'koa';
import { RobotError } from '../core/errors.js';
import { headersOf } from './answer.js';

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

const POLICY =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The paths of the page and its files, with what answers a GET of them. The build has compressed the files; the start reads
 * them once.
 */
export function pageRoutes(folder: string): [path: string, send: (ctx: Context) => void][] {
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) return [['/', notBuilt]];
  const files: readonly ConsoleFile[] = JSON.parse(readFileSync(manifest, 'utf8'));
  return files.map(file => {
    const path = join(folder, file.file);
    const bodies = { gzip: readFileSync(`${path}.gz`), identity: readFileSync(path) };
    return [file.path, ctx => send(ctx, file, bodies)];
  });
}

function notBuilt(): never {
  const cure = 'The page is not built: run npm run build, then start again.';
  throw new RobotError('not-found', { cure });
}

function send(ctx: Context, file: ConsoleFile, bodies: Readonly<Record<'gzip' | 'identity', Buffer>>): void {
  // Browsers accept Brotli over TLS only.
  const coding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
  ctx.set({
    ...headersOf(ctx),
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    ETag: `"${file.hash}-${coding}"`,
  });
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = file.type;
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  ctx.body = bodies[coding];
}
