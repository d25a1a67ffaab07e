import type { Access } from '../access/access.js';
import type { Clock } from '../core/clock.js';
import { withoutControls } from '../core/control-characters.js';
import { inMs, requireInTime } from '../core/not-after.js';
import { callerOf } from '../http/authorization.js';
import { get, post, type Route } from '../http/route.js';
import * as s from '../schemas/schema.js';
import type { Desk } from './desk.js';
import { acceptRobot, addRobot, placeRobot, removeRobot } from './field-presses.js';
import { lockAll, lockOne, unlockAll, unlockOne } from './lock-presses.js';
import {
  endMatch,
  goOn,
  joinMatch,
  loadMatch,
  pauseMatch,
  playWithout,
  releaseMatch,
  startMatch,
} from './match-presses.js';
import type { Press } from './press.js';
import type { DeskState } from './state.js';
import { takeOver } from './take-over.js';
import type { DeskView, MatchPlan } from './view.js';

interface Parts {
  readonly desk: Desk;
  readonly access: Access;
  readonly clock: Clock;
  readonly plans: readonly MatchPlan[];
  view(): DeskView;
  /** Resolves when the disk has what is wanted, or soon if it fails. */
  saved(): Promise<void>;
}

const view: s.Schema<DeskView> = s.growing({}) as s.Schema<DeskView>;
const robot = s.name(64);
const reason = s.optional(s.text());
const LONGEST_REASON = 200;
/** Presses that make robots safer. They are never too late. */
const RESTRICTING: readonly string[] = ['/lock', '/robots/lock', '/match/pause', '/match/end'];

/** A reason for people. No text refuses a lock. */
function said(text: string | undefined, by: string): string {
  return [...withoutControls(text ?? `locked by ${by}`)].slice(0, LONGEST_REASON).join('');
}

/** The calls of the desk's page. */
export function deskRoutes({ desk, access, clock, plans, view: viewNow, saved }: Parts): Route[] {
  const press = <Body extends object>(
    path: string,
    members: { readonly [Name in keyof Body]: s.Schema<Body[Name]> },
    summary: string,
    act: (state: DeskState, press: Press, body: Body) => void,
    right: 'rule' | 'stop' = 'rule',
  ): Route =>
    post(`/api${path}`, right, {
      id: path.slice(1).replaceAll('/', ' '),
      // The link of an added robot has its token.
      event: { what: path.slice(1).replaceAll('/', ' '), ...(path === '/robots/add' && { isSecret: true }) },
      summary,
      body: s.object({ ...members, press: s.name(40), notAfterT: s.optional(s.notAfterT) }) as s.Schema<
        Body & { readonly press: string; readonly notAfterT?: number }
      >,
      answer: view,
      problems: ['too-late', 'not-ready'],
      act: async ({ body, ctx }) => {
        if (!RESTRICTING.includes(path)) requireInTime(inMs(body.notAfterT), clock.nowMs());
        desk.press(path, { id: body.press, by: ctx.state.who }, (state, made) => act(state, made, body));
        // The robots are asked already. A desk that is killed after the answer does not forget the press.
        await saved();
        return viewNow();
      },
    });
  return [
    get('/healthz', 'none', {
      id: 'health',
      summary: 'Whether the desk serves',
      answer: s.growing({ status: s.text() }),
      act: () => ({ status: 'ok' }),
    }),
    get('/api/status', 'read', {
      id: 'status',
      summary: 'Everything that a page shows',
      query: s.growing({ page: s.optional(s.oneOf(['true', 'false'])) }),
      answer: view,
      act: ({ query: { page }, ctx }) => {
        if (page === 'true' && access.allows('rule', callerOf(access, ctx))) desk.pageAnswered();
        return viewNow();
      },
    }),
    press<{ reason: string | undefined }>(
      '/lock',
      { reason },
      'LOCK ALL',
      (state, made, body) => lockAll(state, made, said(body.reason, made.by)),
      'stop',
    ),
    press('/unlock', {}, 'Lift LOCK ALL', unlockAll),
    press('/takeover', {}, 'Take over what the robots report', (state, made) => takeOver(state, made, plans)),
    press<{ match: string }>('/match/load', { match: s.text() }, 'Send pre', (state, made, body) =>
      loadMatch(
        state,
        made,
        plans.find(({ id }) => id === body.match),
      ),
    ),
    press('/match/start', {}, 'Start the match', startMatch),
    press('/match/pause', {}, 'Pause the match', pauseMatch),
    press('/match/go-on', {}, 'Go on with the time left', goOn),
    press('/match/end', {}, 'End the match', endMatch),
    press('/match/release', {}, 'Release the robots', releaseMatch),
    press<{ robot: string }>('/match/without', { robot }, 'Play without a robot', (state, made, body) =>
      playWithout(state, made, body.robot),
    ),
    press<{ robot: string }>('/match/join', { robot }, 'Let a robot join', (state, made, body) =>
      joinMatch(state, made, body.robot),
    ),
    press<{ name: string; link: string }>(
      '/robots/add',
      { name: s.name(40), link: s.text() },
      'Add a robot',
      (state, _, body) => addRobot(state, body.name, body.link),
    ),
    press<{ robot: string }>('/robots/remove', { robot }, 'Forget a robot', (state, _, body) =>
      removeRobot(state, body.robot),
    ),
    press<{ robot: string; place: 'field' | 'pit' }>(
      '/robots/place',
      { robot, place: s.oneOf(['field', 'pit']) },
      'Move a tile',
      (state, _, body) => placeRobot(state, body.robot, body.place),
    ),
    press<{ robot: string; reason: string | undefined }>(
      '/robots/lock',
      { robot, reason },
      'Lock one robot',
      (state, made, body) => lockOne(state, made, body.robot, said(body.reason, made.by)),
      'stop',
    ),
    press<{ robot: string }>('/robots/unlock', { robot }, 'Unlock one robot', (state, made, body) =>
      unlockOne(state, made, body.robot),
    ),
    press<{ robot: string; id: string }>(
      '/robots/accept',
      { robot, id: s.text() },
      'Accept a new id',
      (state, _, body) => acceptRobot(state, body.robot, body.id),
    ),
  ];
}
