import type { IncomingMessage } from 'node:http';
import { RobotError } from '../core/errors.js';

/**
 * Checks what Node's parser accepts but Koa cannot handle, before Koa sees the request. Replaces a target that is a
 * whole URL by its path and its host. Afterwards nothing that parses the target can throw. Returns the refusal.
 */
export function headRefusal(request: IncomingMessage): RobotError | undefined {
  const { url = '', headers } = request;
  // A fragment would make Koa parse the target with `url.parse`, which throws for some targets.
  if (!/^(\/[!"$-~]*|\*)$/.test(url)) {
    const whole = /^https?:/i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
    if (whole === undefined) return new RobotError('bad-http');
    headers.host = whole.host;
    request.url = whole.pathname + whole.search;
  }
  // Node decodes only `chunked`. It leaves other codings in the body.
  if (!/^(chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return new RobotError('unknown-coding');
  return undefined;
}
