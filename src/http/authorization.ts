import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';
import { type Access, type Caller, ROOT } from '../access/access.js';
import type { Need } from '../access/roles.js';
import { hashOf } from '../access/token.js';
import { RobotError } from '../core/errors.js';
import { isOwnOrigin } from './foreign-pages.js';
import type { Authorize } from './route.js';
import { keepInFlood } from './server.js';

/** The lifetime of the page's cookie. The token in it may be removed sooner. */
const SESSION_S = 30 * 24 * 3600;

const ofRoot = new WeakSet<Socket>();

/** Serves the connections of the daemon's socket for root. */
export function asRoot(listener: RequestListener): RequestListener {
  return (request, response) => {
    ofRoot.add(request.socket);
    listener(request, response);
  };
}

export function isRoot(ctx: Context): boolean {
  return ofRoot.has(ctx.req.socket);
}

export function authorization(access: Access): Authorize {
  /** A stop, laser off, and the end of a trial or tuning wait for nothing. */
  const current = (need: Need) => (need === 'none' || need === 'stop' ? undefined : access.current());
  const authorize = (ctx: Context, need: Need) => {
    const { isCookie } = presented(ctx);
    const isAct = ctx.req.method !== 'GET' && ctx.req.method !== 'HEAD';
    if (isCookie && isAct && !isOwnOrigin(ctx.headers)) {
      // A browser also sends its cookie for pages of other sites, so the cookie gives no right here.
      const caller = access.callerOf(undefined);
      if (!access.allows(need, caller)) throw new RobotError('cross-site', { origin: ctx.get('Origin') });
      return;
    }
    const caller = callerOf(access, ctx);
    nameCaller(ctx, caller);
    if (caller.token !== undefined && ctx.state.mayAct) keepInFlood(ctx.socket);
    access.require(need, caller);
  };
  return Object.assign(authorize, { current });
}

/** Sets the caller's name for the event log. */
export function nameCaller(ctx: Context, caller: Caller): void {
  const { token, rights } = caller;
  if (caller === ROOT) ctx.state.who = 'root';
  else if (token !== undefined) ctx.state.who = token.name;
  ctx.state.mayAct = rights.some(right => right !== 'read');
}

export function callerOf(access: Pick<Access, 'callerOf'>, ctx: Context): Caller {
  return isRoot(ctx) ? ROOT : access.callerOf(presented(ctx).hash);
}

interface Presented {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The hash of the caller's secret. Undefined without a secret. */
  readonly hash: string | undefined;
  readonly isCookie: boolean;
}

/** What the last request of a connection presented. The next one mostly has the same secret, which is hashed once. */
const lastOf = new WeakMap<Socket, Presented>();

/** The token of `Authorization: Bearer`, otherwise the token in the page's cookie. */
function presented(ctx: Context): Presented {
  const { authorization, cookie } = ctx.req.headers;
  const last = lastOf.get(ctx.req.socket);
  if (last !== undefined && last.authorization === authorization && last.cookie === cookie) return last;
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const secret = bearer ?? (cookie === undefined ? undefined : ctx.cookies.get(cookieName(ctx)));
  const hash = secret === undefined ? undefined : hashOf(secret);
  const read = { authorization, cookie, hash, isCookie: bearer === undefined && secret !== undefined };
  lastOf.set(ctx.req.socket, read);
  return read;
}

/**
 * Sets the cookie; undefined deletes it. The cookie has Max-Age but no Expires, because `ctx.cookies` would compute
 * Expires from the board's clock, which may be weeks behind.
 */
export function setSession(ctx: Context, secret: string | undefined): void {
  const age = secret === undefined ? 0 : SESSION_S;
  const cookie = `${cookieName(ctx)}=${secret ?? ''}; path=/; max-age=${age}; samesite=strict; httponly`;
  ctx.set('Set-Cookie', cookie);
}

/**
 * Browsers send a host's cookies to all its ports. The name contains the port, so that two robots may share a
 * machine.
 */
function cookieName(ctx: Context): string {
  return `trunnion-${ctx.socket.localPort}`;
}
