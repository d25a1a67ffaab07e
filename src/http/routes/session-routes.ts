import type { Caller } from '../../access/access.js';
import { RIGHTS, ROLE_NAMES } from '../../access/roles.js';
import { hashOf } from '../../access/token.js';
import { RobotError } from '../../core/errors.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { callerOf, nameCaller, setSession } from '../authorization.js';
import { get, post, type Route, remove } from '../route.js';

const session = s.answer('Session', {
  access: s.oneOf(['open', 'closed', 'unavailable']),
  name: s.nullable(s.text(), 'The name of the token; null without a token.'),
  role: s.nullable(s.oneOf(ROLE_NAMES)),
  rights: s.array(s.oneOf(RIGHTS), 'What the caller may do. Stop and laser off may need no right.'),
  simulated: s.yesNo('True if the robot is simulated.'),
});

/** Shows who the caller is, and gives the page its token as a cookie. */
export function sessionRoutes({
  access,
  robot: { simulated },
}: Pick<AppOptions, 'access'> & { readonly robot: Pick<AppOptions['robot'], 'simulated'> }): Route[] {
  const view = ({ token, rights }: Caller): s.TypeOf<typeof session> => ({
    access: access.state,
    name: token?.name ?? null,
    role: token?.role ?? null,
    rights,
    simulated,
  });
  return [
    get('/api/session', 'none', {
      answer: session,
      id: 'session',
      summary: 'Who the caller is, and what the caller may do',
      act: ({ ctx }) => view(callerOf(access, ctx)),
    }),
    post('/api/session', 'none', {
      answer: session,
      id: 'login',
      summary: 'Keep a token as the cookie of this browser',
      event: { what: 'login', isSecret: true },
      body: s.object({ token: { ...s.text(), maxLength: 200 } }),
      problems: ['token-unknown', 'access-unavailable'],
      act: ({ body: { token: secret }, ctx }) => {
        const caller = access.callerOf(hashOf(secret));
        access.require('read', caller);
        if (access.state === 'unavailable') throw access.problem ?? new RobotError('access-unavailable');
        if (caller.token !== undefined) {
          // A pasted token may contain line breaks or spaces, which a cookie cannot hold.
          setSession(ctx, secret.replace(/\s/g, ''));
          nameCaller(ctx, caller);
        }
        return view(caller);
      },
    }),
    remove('/api/session', 'none', {
      answer: session,
      id: 'logout',
      summary: 'Forget the cookie',
      act: ({ ctx }) => {
        setSession(ctx, undefined);
        return view(access.callerOf(undefined));
      },
    }),
  ];
}
