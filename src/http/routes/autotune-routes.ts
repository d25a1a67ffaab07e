import { RobotError } from '../../core/errors.js';
import { STYLES } from '../../core/tuning-terms.js';
import type { Unit } from '../../core/units.js';
import * as s from '../../schemas/schema.js';
import { tune } from '../../schemas/tune.js';
import type { AppOptions } from '../app-options.js';
import { PIN_PROBLEMS, TRIAL_PROBLEMS } from '../problem-table.js';
import { get, post, type Route, remove } from '../route.js';
import { requireTrialsBounded, TRIAL_LEASE_S } from './trial-routes.js';

/** Tuning loops: it proposes gains, and saves none. */
export function autotuneRoutes({ autotune, config }: AppOptions, unit: Unit): Route[] {
  const { name, title } = unit;
  const names = unit.loops.map(loop => loop.name);
  const path = `/api/${name}/autotune`;
  const body = s.body(`${title}Autotune`, {
    loop: s.optional(s.oneOf(names, 'The loop to tune; or `loops`.')),
    loops: s.optional({ ...s.array(s.oneOf(names)), minItems: 1, uniqueItems: true }),
    leaseS: s.optional({
      ...s.number('The tuning ends this long after its last renewal. The default is the maximum.'),
      ...TRIAL_LEASE_S,
    }),
    style: s.optional(s.oneOf(STYLES, 'The default is `normal`.')),
    id: s.optional(s.text('Of the tuning to renew, which needs no loop. Without it, another one begins.')),
  });
  return [
    post(path, 'drive', {
      id: `${name}Autotune`,
      event: { what: 'tune', unit: name, onlyRefused: true },
      summary: 'Tune loops in debug mode, or renew the lease of a tuning; the robot moves',
      answerStatus: 202,
      body,
      answer: tune,
      problems: [
        ...TRIAL_PROBLEMS,
        ...PIN_PROBLEMS,
        'unit-offline',
        'wrong-mode',
        'tune-running',
        'loop-unfit',
      ],
      act: async ({ body: { loop, loops, leaseS = TRIAL_LEASE_S.maximum, style = 'normal', id }, ctx }) => {
        const leaseMs = 1000 * leaseS;
        if (id !== undefined) return autotune.renew(name, id, ctx.state.who, leaseMs);
        requireTrialsBounded(config);
        const chosen = loopsOf(loop, loops);
        return autotune.start({ unit: name, loops: chosen, style, by: ctx.state.who, leaseMs });
      },
    }),
    get(path, 'read', {
      id: `${name}Tune`,
      summary: 'The tuning under way, or the last one',
      answer: s.answer('LastTune', { tune: s.nullable(tune) }),
      act: () => ({ tune: autotune.of(name) ?? null }),
    }),
    remove(path, 'tune', {
      id: `${name}EndTune`,
      event: { what: 'end-tune', unit: name },
      summary: 'End the tuning; answered when the saved gains run and nothing is excited',
      answer: s.body('TuneEnded', { ended: s.yesNo('There was one.') }),
      problems: ['not-confirmed'],
      act: async () => {
        const isOurs = autotune.of(name)?.state === 'running';
        return { ended: isOurs && (await autotune.end('somebody ended it')) };
      },
    }),
  ];
}

/** Throws `invalid-request` unless one of the two is given. */
function loopsOf(loop: string | undefined, loops: readonly string[] | undefined): readonly string[] {
  if (loop !== undefined && loops === undefined) return [loop];
  if (loop === undefined && loops !== undefined) return loops;
  const detail = loop === undefined ? 'is missing, and so is loops' : 'goes without loops';
  throw new RobotError('invalid-request', { errors: [{ pointer: '/loop', detail }] });
}
