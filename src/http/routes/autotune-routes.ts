import type { Autotune } from '../../autotune/autotune.js';
import { RobotError } from '../../core/errors.js';
import { STYLES } from '../../core/tuning-terms.js';
import type { Unit } from '../../core/units.js';
import { array, growing, named, nullable, number, object, oneOf, text, yesNo } from '../../schemas/schema.js';
import { tune } from '../../schemas/tune.js';
import { get, MATCH_PROBLEMS, post, type Route, remove } from '../route.js';
import { requireTrialsBounded, TRIAL_LEASE_S } from './trial-routes.js';

/** Tuning loops: it proposes gains, and saves none. */
export function autotuneRoutes(autotune: Autotune, unit: Unit, hostSilenceMs: number): Route[] {
  const { name, title: tag } = unit;
  const names = unit.loops.map(loop => loop.name);
  const path = `/api/${name}/autotune`;
  const body = named(
    `${tag}Autotune`,
    object(
      {},
      {
        loop: oneOf(names, 'The loop to tune; or `loops`.'),
        loops: { ...array(oneOf(names)), minItems: 1, uniqueItems: true },
        leaseS: {
          ...number('The tuning ends so long after its last renewal; the longest unless another is given.'),
          ...TRIAL_LEASE_S,
        },
        style: oneOf(STYLES, 'normal unless another is given.'),
        id: text('Of the tuning that this renews, which needs no loop; without it, another one begins.'),
      },
    ),
  );
  return [
    post({
      path,
      id: `${name}Autotune`,
      right: 'drive',
      tag,
      event: { what: 'tune', unit: name, onlyRefused: true },
      summary: 'Tune loops in debug mode, or renew the lease of a tuning; the robot moves',
      answerStatus: 202,
      body,
      answer: tune,
      problems: [
        ...MATCH_PROBLEMS,
        'stopped',
        'unit-offline',
        'wrong-mode',
        'tune-running',
        'trial-running',
        'trial-ended',
        'loop-unfit',
        'silence-too-long',
        'laser-unavailable',
        'pin-failed',
        'storage-failed',
      ],
      act: async ({ body: { loop, loops, leaseS = TRIAL_LEASE_S.maximum, style = 'normal', id }, ctx }) => {
        const leaseMs = 1000 * leaseS;
        if (id !== undefined) return autotune.renew(name, id, ctx.state.who, leaseMs);
        requireTrialsBounded(hostSilenceMs);
        const chosen = loopsOf(loop, loops);
        return autotune.start({ unit: name, loops: chosen, style, by: ctx.state.who, leaseMs });
      },
    }),
    get({
      path,
      id: `${name}Tune`,
      right: 'read',
      tag,
      summary: 'The tuning under way, or the last one',
      answer: named('LastTune', growing({ tune: nullable(tune) })),
      act: () => ({ tune: autotune.of(name) ?? null }),
    }),
    remove({
      path,
      id: `${name}EndTune`,
      right: 'tune',
      tag,
      event: { what: 'end-tune', unit: name },
      summary: 'End the tuning; answered when the saved gains run and nothing is excited',
      answer: named('TuneEnded', object({ ended: yesNo('There was one.') })),
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
