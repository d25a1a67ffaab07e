import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Middleware } from 'koa';
import { RobotError } from '../core/errors.js';

/**
 * Keeps other sites' pages in an operator's browser away from the robot. A name that is not ours is refused (DNS
 * rebinding); addresses are always ours, since a foreign page cannot be served from them.
 */
export function refuseForeignPages(allowedHosts: readonly string[]): Middleware {
  const own = hostname().toLowerCase();
  const names = new Set(['localhost', own, `${own}.local`, ...allowedHosts.map(name => name.toLowerCase())]);

  /** Remembered because a caller sends the same host again and again. */
  let lastOwn: string | undefined;
  const requireOwnHost = (host: string, httpVersion: string) => {
    if (host === lastOwn) return;
    const name = hostName(host);
    if (name === '') {
      if (httpVersion === '1.1') throw new RobotError('bad-http', { header: 'Host' });
      return;
    }
    if (!names.has(name) && isIP(name) === 0) throw new RobotError('unknown-host', { host: name });
    lastOwn = host;
  };
  return ({ req: { headers, rawHeaders, httpVersion, method } }, next) => {
    const { host = '', origin = '' } = headers;
    // With two hosts, one program would act on the first and another on the last.
    const hosts = rawHeaders.filter((name, place) => place % 2 === 0 && name.toLowerCase() === 'host');
    if (hosts.length > 1) throw new RobotError('bad-http', { header: 'Host' });
    requireOwnHost(host, httpVersion);
    const site = headers['sec-fetch-site'] ?? '';
    // A link from elsewhere to the console is allowed, since following it acts on nothing.
    const isLink = headers['sec-fetch-mode'] === 'navigate' && method === 'GET';
    if ((site === 'cross-site' || site === 'same-site') && !isLink) throw new RobotError('cross-site');
    if (site === '' && origin !== '' && !isOwnOrigin(headers)) {
      throw new RobotError('cross-site', { origin });
    }
    return next();
  };
}

/** The name without port, brackets and final dot. */
function hostName(host: string): string {
  const bracketed = /^\[(.*)\](:\d+)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/** Whether the page that asks came from this daemon. */
export function isOwnOrigin({ origin = '', host = '' }: IncomingHttpHeaders): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
