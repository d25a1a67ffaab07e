import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Middleware } from 'koa';
import { RobotError } from '../core/errors.js';

/**
 * Keeps pages of other sites in an operator's browser away from the robot. It refuses host names that are not ours (DNS
 * rebinding). It accepts every address, because a foreign page cannot come from ours.
 */
export function refuseForeignPages(allowedHosts: readonly string[]): Middleware {
  const own = hostname().toLowerCase();
  const names = new Set(['localhost', own, `${own}.local`, ...allowedHosts.map(name => name.toLowerCase())]);

  return ({ req: { url = '', headers, headersDistinct, httpVersion, method } }, next) => {
    const { host = '', origin = '' } = headers;
    // A request line may hold a whole URL. Its host counts then, not the header.
    const name = hostName(url.startsWith('/') || !URL.canParse(url) ? host : new URL(url).host);
    // If there were two hosts, one program would act on the first and another on the last.
    if ((headersDistinct.host ?? []).length > 1 || (name === '' && httpVersion === '1.1')) {
      throw new RobotError('bad-http', { header: 'Host' });
    }
    if (name !== '' && !names.has(name) && isIP(name) === 0) {
      throw new RobotError('unknown-host', { host: name });
    }
    const site = headers['sec-fetch-site'] ?? '';
    // A link from elsewhere to the page is allowed, because following it changes nothing.
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

/** True if this daemon served the page that asks. */
export function isOwnOrigin({ origin = '', host = '' }: IncomingHttpHeaders): boolean {
  // A page from a file has an origin without a host, and HTTP/1.0 may come without one.
  return host !== '' && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
