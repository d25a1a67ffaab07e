import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Middleware } from 'koa';
import { RobotError } from '../core/errors.js';

/**
 * Rejects requests that pages of other sites cause in an operator's browser. Rejects foreign host names (DNS
 * rebinding). Accepts every IP address as host, because a foreign page cannot come from the robot's address.
 */
export function refuseForeignPages(allowedHosts: readonly string[]): Middleware {
  const own = hostname().toLowerCase();
  const names = new Set(['localhost', own, `${own}.local`, ...allowedHosts.map(name => name.toLowerCase())]);

  return ({ req: { headers, rawHeaders, httpVersion, method } }, next) => {
    const { host = '', origin = '' } = headers;
    const name = hostName(host);
    // Two Host headers are rejected, because one program would use the first and another the last.
    if (numberOf('host', rawHeaders) > 1 || (name === '' && httpVersion === '1.1')) {
      throw new RobotError('bad-http', { header: 'Host' });
    }
    if (name !== '' && !names.has(name) && isIP(name) === 0) {
      throw new RobotError('unknown-host', { host: name });
    }
    const site = headers['sec-fetch-site'] ?? '';
    // Links from other pages to this page are allowed, because following them changes nothing.
    const isLink = headers['sec-fetch-mode'] === 'navigate' && method === 'GET';
    if ((site === 'cross-site' || site === 'same-site') && !isLink) throw new RobotError('cross-site');
    if (site === '' && origin !== '' && !isOwnOrigin(headers)) {
      throw new RobotError('cross-site', { origin });
    }
    return next();
  };
}

/** `rawHeaders` has names and values in turns. */
function numberOf(header: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count;
}

/** The name without port, brackets and final dot. */
function hostName(host: string): string {
  const bracketed = /^\[(.*)\](:\d+)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/** True if this daemon served the page that sent the request. */
export function isOwnOrigin({ origin = '', host = '' }: IncomingHttpHeaders): boolean {
  // A page from a file has an origin without a host, and an HTTP/1.0 request may have no host.
  return host !== '' && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
