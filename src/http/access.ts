import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Middleware } from 'koa';
import { RobotError } from '../core/errors.js';

/**
 * Keeps other sites' pages in an operator's browser away from the robot. A name that is not ours is refused (DNS
 * rebinding); addresses are always ours, since a foreign page cannot be served from them.
 */
export function access(allowedHosts: readonly string[]): Middleware {
  const own = hostname().toLowerCase();
  const names = new Set(['localhost', own, `${own}.local`, ...allowedHosts.map(name => name.toLowerCase())]);

  return async (ctx, next) => {
    const name = hostName(ctx.get('Host'));
    if ((name === '' && ctx.req.httpVersion === '1.1') || hostsIn(ctx.req.rawHeaders) > 1) {
      throw new RobotError('bad-http', { header: 'Host' });
    }
    if (name !== '' && isIP(name) === 0 && !names.has(name))
      throw new RobotError('unknown-host', { host: name });
    if (isForeign(ctx.get('Sec-Fetch-Site'), ctx.get('Sec-Fetch-Mode'), ctx.method)) {
      throw new RobotError('cross-site');
    }
    const origin = ctx.get('Origin');
    if (
      ctx.get('Sec-Fetch-Site') === '' &&
      origin !== '' &&
      hostOf(origin) !== ctx.get('Host').toLowerCase()
    ) {
      throw new RobotError('cross-site', { origin });
    }
    await next();
  };
}

/** A link from elsewhere to the console is fine: following it acts on nothing. */
function isForeign(site: string, mode: string, method: string): boolean {
  if (site !== 'cross-site' && site !== 'same-site') return false;
  return !(mode === 'navigate' && method === 'GET');
}

/** Whoever reads the first of two headers and whoever reads the last would take one request for two different ones. */
function hostsIn(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

/** Without port, brackets and final dot. */
function hostName(host: string): string {
  const bracketed = /^\[(.*)\](:\d+)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
