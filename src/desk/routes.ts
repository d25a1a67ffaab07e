import type { Access } from '../access/access.js';
import { type Clock, pause } from '../core/clock.js';
import { inMs } from '../core/not-after.js';
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
import { type BodyOf, type Button, refuse } from './press.js';
import { RESTRICTING } from './restricting.js';
import type { DeskView } from './show.js';
import type { DeskState } from './state.js';
import { takeOver } from './take-over.js';

interface DeskRouteParts {
  readonly desk: Desk;
  readonly access: Access;
  readonly clock: Clock;
  view(): DeskView;
}

/** Pages that ask within this time share one answer. It is made at the end of this time, so it is no older than another one. */
const SHARED_MS = 25;

const view: s.Schema<DeskView> = s.growing({}) as s.Schema<DeskView>;

/** The members of every press. `record` is that of the match that the referee saw. */
const PRESS = {
  press: s.name(40),
  notAfterT: s.optional(s.notAfterT),
  record: s.optional(s.text()),
};

/** Throws `not-ready` if the press was meant for another match: a page sends an end until the desk answers. */
function requireRecord({ wanted: { match } }: DeskState, record: string | undefined): void {
  if (record !== undefined && record !== match?.record)
    refuse('Another match is loaded by now. Look at the page, then press again.');
}

/** The calls of the desk's page. */
export function deskRoutes({ desk, access, clock, view: viewNow }: DeskRouteParts): Route[] {
  const press = <Body extends object>(
    path: string,
    summary: string,
    { members, act }: Button<Body>,
    right: 'rule' | 'stop' = 'rule',
  ): Route =>
    post(`/api/${path}`, right, {
      id: path.replaceAll('/', ' '),
      // The link of an added robot has its token.
      ...(path === 'robots/add' && { event: { what: 'robots add', isSecret: true } }),
      summary,
      body: s.object({ ...members, ...PRESS }) as s.Schema<Body & BodyOf<typeof PRESS>>,
      answer: view,
      problems: ['too-late', 'not-ready', 'lock-changed'],
      act: ({ body, ctx }) => {
        // What restricts is never too late.
        const notAfterMs = RESTRICTING.includes(path) ? undefined : inMs(body.notAfterT);
        desk.press(path, { id: body.press, by: ctx.state.who, notAfterMs }, (state, made) => {
          requireRecord(state, body.record);
          act(state, made, body);
        });
        return viewNow();
      },
    });
  let shared: Promise<Buffer> | undefined;
  const sharedView = () => {
    shared ??= pause(clock, SHARED_MS).then(() => {
      shared = undefined;
      return Buffer.from(JSON.stringify(viewNow()));
    });
    return shared;
  };
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
        return page === undefined ? viewNow() : sharedView();
      },
    }),
    press('lock', 'LOCK ALL', lockAll, 'stop'),
    press('unlock', 'Lift LOCK ALL', unlockAll),
    press('takeover', 'Take over what the robots report', takeOver),
    press('match/load', 'Send pre', loadMatch),
    press('match/start', 'Start the match', startMatch),
    press('match/pause', 'Pause the match', pauseMatch),
    press('match/go-on', 'Go on with the time left, or with this phase and time', goOn),
    press('match/end', 'End the match', endMatch),
    press('match/release', 'Release the robots', releaseMatch),
    press('match/without', 'Play without a robot', playWithout),
    press('match/join', 'Let a robot join', joinMatch),
    press('robots/add', 'Add a robot', addRobot),
    press('robots/remove', 'Forget a robot', removeRobot),
    press('robots/place', 'Move a tile', placeRobot),
    press('robots/lock', 'Lock one robot', lockOne, 'stop'),
    press('robots/unlock', 'Unlock one robot', unlockOne),
    press('robots/accept', 'Accept a new id', acceptRobot),
  ];
}
