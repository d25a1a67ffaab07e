import { randomBytes } from 'node:crypto';
import { LONGEST_TEXT, withoutControls } from '../../core/control-characters.js';
import { RobotError } from '../../core/errors.js';
import { inMs, requireInTime } from '../../core/not-after.js';
import { PHASES } from '../../core/phases.js';
import { matchView } from '../../schemas/match.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { sinceMs } from '../arrivals.js';
import { STOP_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';

const name = s.name(64);
const DAY_S = 86_400;
/** Milliseconds from 1970 to 2100, so that a desk may send the time as revision. */
const HIGHEST_REVISION = 4_102_444_800_000;

/** The referee's part of a match. Every call sets a state and toggles none, so repeating a call is harmless. */
export function matchRoutes({ match: control, fileLog, clock }: AppOptions): Route[] {
  const view = () => {
    const { lease } = control.match;
    const beatAgeS = lease.owner === null ? null : lease.silentMs / 1000;
    return { ...control.status, t: clock.nowMs() / 1000, beatAgeS };
  };
  const viewAfter = (change: Promise<void>) => change.then(view);
  return [
    get('/api/match', 'read', { id: 'match', summary: 'The match', answer: matchView, act: view }),
    post('/api/match', 'rule', {
      id: 'setMatch',
      event: { what: 'phase' },
      summary: 'Set the phase; what it does not allow is stopped',
      body: s.object({
        id: name,
        revision: { ...s.count('Higher than the last one of this id.'), maximum: HIGHEST_REVISION },
        phase: s.oneOf(PHASES),
        remainingS: s.optional(
          s.nullable(
            { ...s.number(), minimum: 0, maximum: DAY_S },
            'Until the phase becomes `ended`. Null or absent: no limit.',
          ),
        ),
        notAfterT: s.optional(s.notAfterT),
        holder: s.optional(
          s.name(64, 'Refuses the call if the last accepted beat came from a desk of another name.'),
        ),
      }),
      answer: matchView,
      problems: [
        'too-late',
        'caller-gone',
        'lease-held',
        'stale-match',
        'referee-silent',
        ...STOP_PROBLEMS,
        'not-kept',
      ],
      act: async ({ body: { remainingS = null, notAfterT, holder, ...call }, ctx, stillConnected }) => {
        const { match } = control;
        if (match.allowsIn(call.phase).drive) {
          const before = match.state;
          await stillConnected();
          const { call: last, phase } = match.state;
          // What came meanwhile is newer, such as the end of the match.
          if (last !== before.call || phase !== before.phase)
            throw new RobotError('stale-match', { id: last?.id ?? '', revision: last?.revision ?? 0, phase });
        }
        requireInTime(inMs(notAfterT), clock.nowMs());
        if (holder !== undefined) match.lease.requireLast(holder);
        const { who, arrival } = ctx.state;
        return viewAfter(control.set({ ...call, remainingS }, who, arrival.unreadSinceMs));
      },
    }),
    post('/api/match/lock', 'rule', {
      id: 'lock',
      summary: 'Stop, and forbid a resume until the lock is removed; the lock outlives power cuts',
      body: s.object({
        id: s.optional(
          s.name(
            64,
            'Names the lock. While a lock with this id is in force, the call only repeats its stop.',
          ),
        ),
        replaces: s.optional({
          ...s.array(
            s.name(64),
            'Replaces a lock in force only if its id begins with one of these. Another one stays, and the call only stops.',
          ),
          maxItems: 20,
        }),
        reason: s.text(
          `For people. Control characters are replaced, and ${LONGEST_TEXT} characters are kept.`,
        ),
      }),
      answer: matchView,
      problems: [...STOP_PROBLEMS, 'not-kept'],
      // A lock makes the robot safer, so no text refuses it.
      act: ({ body, ctx }) => {
        const { id = randomBytes(8).toString('hex'), replaces = [''] } = body;
        const { who: by } = ctx.state;
        const { lock: inForce } = control.match.state;
        const isKept = inForce !== null && !replaces.some(beginning => inForce.id.startsWith(beginning));
        const lock = isKept ? inForce : { id, by, reason: withoutControls(body.reason) };
        return viewAfter(control.lock(lock, by));
      },
    }),
    post('/api/match/unlock', 'rule', {
      id: 'unlock',
      // The body may have members that no schema knows.
      event: { what: 'unlock', isSecret: true },
      summary: 'Remove the lock; the robot stays stopped until a resume',
      body: s.growing({
        lock: s.optional(s.text('Removes only the lock with this id.')),
        notAfterT: s.optional(s.notAfterT),
      }),
      bodyIsOptional: true,
      answer: matchView,
      problems: ['too-late', 'caller-gone', 'lock-changed', 'not-kept'],
      act: async ({ body: { lock, notAfterT }, ctx, stillConnected }) => {
        const readMs = sinceMs(ctx.state.arrival, clock.nowMs());
        const asked = lock ?? control.match.state.lock?.id ?? '';
        await stillConnected();
        requireInTime(inMs(notAfterT), clock.nowMs());
        // A lock that may be newer stays, also one that repeats the lock in force. No lock has an empty id.
        const { lockedMs, state } = control.match;
        if (state.lock?.id === asked && lockedMs > readMs) throw new RobotError('too-late');
        return viewAfter(control.unlock(asked));
      },
    }),
    post('/api/match/lease', 'rule', {
      id: 'lease',
      event: { what: 'lease', onlyRefused: true },
      summary: "The heartbeat of the referee's desk",
      body: s.object({
        holder: name,
        ttlMs: { ...s.count('No other desk gets the lease for this long.'), minimum: 100, maximum: 60_000 },
        takeover: s.optional(s.yesNo('Take the lease from another holder.')),
        notAfterT: s.optional(s.notAfterT),
      }),
      answer: matchView,
      problems: ['lease-held', 'too-late'],
      act: ({ body: { holder, ttlMs, takeover = false, notAfterT }, ctx }) => {
        requireInTime(inMs(notAfterT), clock.nowMs());
        const { arrival, who } = ctx.state;
        control.match.beat(holder, who, ttlMs, takeover, arrival.unreadSinceMs);
        return { ...view(), head: fileLog.head };
      },
    }),
  ];
}
