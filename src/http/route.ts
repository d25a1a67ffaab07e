import type { Context } from 'koa';
import type { Need } from '../access/roles.js';
import { type ErrorCode, RobotError } from '../core/errors.js';
import type { UnitName } from '../core/units.js';
import type { Schema } from '../schemas/schema.js';
import { jsonBody, looseBody } from './body.js';
import { compile, queryCheck } from './validate.js';

/** Throws if the caller lacks the right. Sets `ctx.state.who` to the name of the caller's token, if there is one. */
export interface Authorize {
  (ctx: Context, need: Need): void;
  /** Resolves when the rights are known as they are now. Undefined if they are, or if the need does not wait for that. */
  readonly current: (need: Need) => Promise<unknown> | undefined;
}

/** The right that a call needs. If it depends on the body, a function of the body, with words for the documentation. */
type Right<Body> = Need | { of(body: Body): Need; readonly text: string };

/** What a route declares besides its method, path and right. */
interface Endpoint<Body, Query, Answer> {
  /** Names the operation in the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  /** The schema of the body. Without it, the route accepts any body and reads none. */
  readonly body?: Schema<Body>;
  /** True if a request whose body is not JSON counts as the body `{}`. */
  readonly bodyIsOptional?: true;
  readonly query?: Schema<Query>;
  readonly answer: Schema<Answer>;
  /** The status of a success: 202 if the work continues after the answer, otherwise 200. */
  readonly answerStatus?: 202;
  /** The data of each event by its name, if the answer is a stream. */
  readonly events?: Readonly<Record<string, Schema>>;
  /**
   * The problems that only this route has. openapi.ts adds the problems of all routes, of a request body, and of a
   * missing right.
   */
  readonly problems?: readonly ErrorCode[];
  /** How the event log records the call. */
  readonly event?: {
    /** The name of the event; the id of the route by default. */
    readonly what: string;
    readonly unit?: UnitName;
    /** True if the body must not be logged. */
    readonly isSecret?: true;
    /** True if another event records the effect of the call. Then only refusals are recorded here. */
    readonly onlyRefused?: true;
  };
  /** True if `act` itself calls `stillConnected`, because a part of the call takes effect even if its caller is gone. */
  readonly asksCaller?: true;
  /**
   * Returns the answer. A Buffer is an answer that is already text. Returns undefined if `act` writes the answer
   * itself.
   */
  act(asked: {
    readonly body: Body;
    readonly query: Query;
    readonly ctx: Context;
    /** Throws once the caller has closed the connection or lost the right. Call it in requests that wait. */
    readonly stillWanted: () => void;
    /** As `stillWanted`, once a hang-up from before the request was read would be known. Call it before acts that permit something. */
    readonly stillConnected: () => Promise<void>;
  }): Answer | Buffer | undefined | Promise<Answer | Buffer>;
}

/** One endpoint, with everything that the router, the authorization, the checks and the OpenAPI document need. */
export interface Route extends Omit<Endpoint<unknown, unknown, unknown>, 'act'> {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly right: Right<never>;
  /** Resolves with the text of the answer; undefined if the route has written the answer itself. */
  handle(ctx: Context, authorize: Authorize): Promise<string | Buffer | undefined>;
}

export const get = define('get');
export const post = define('post');
export const remove = define('delete');

function define(method: Route['method']) {
  return <Answer, Body = undefined, Query = undefined>(
    path: string,
    right: Right<Body>,
    { act, ...endpoint }: Endpoint<Body, Query, Answer>,
  ): Route => {
    const readBody = endpoint.body && compile(endpoint.body);
    const readQuery = endpoint.query && queryCheck(endpoint.query);
    const handle = async (ctx: Context, authorize: Authorize) => {
      const permit = async (need: Need) => {
        await authorize.current(need);
        authorize(ctx, need);
      };
      await permit(typeof right === 'string' ? right : 'none');
      const givenBody = endpoint.bodyIsOptional ? looseBody : jsonBody;
      const body = readBody?.(await givenBody(ctx)) as Body;
      const need = typeof right === 'string' ? right : right.of(body);
      // The token may have been removed while the body was arriving.
      if (readBody !== undefined) await permit(need);
      const query = readQuery?.(ctx.query) as Query;
      const stillWanted = () => {
        if (ctx.socket.destroyed || ctx.socket.readableEnded) throw new RobotError('caller-gone');
        authorize(ctx, need);
      };
      // Node reports a hang-up one turn of the event loop after the data. A request that waited in a paused process must
      // not light the laser, and not move or unlock the robot.
      const stillConnected = async () => {
        await new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)));
        stillWanted();
      };
      if (method === 'post' && isForCaller(need) && !endpoint.asksCaller) await stillConnected();
      const answer = await act({ body, query, ctx, stillWanted, stillConnected });
      if (answer === undefined) return undefined;
      return Buffer.isBuffer(answer) ? answer : JSON.stringify(answer);
    };
    return { ...endpoint, method, path, right, handle };
  };
}

/** True if the daemon acts only while the caller is connected: for motion, light and gains. */
export function isForCaller(need: Need): boolean {
  return need === 'drive' || need === 'tune';
}
