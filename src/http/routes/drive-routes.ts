import { RobotError } from '../../core/errors.js';
import { inMs } from '../../core/not-after.js';
import { MAX_HOLD_MS, perUnit, RATE_COUNTS, type Rates, UNIT_LIST, type Unit } from '../../core/units.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { MOTION_PROBLEMS } from '../problem-table.js';
import { post, type Route } from '../route.js';

const LEAST_HOLD_MS = 50;

/** The rate of every axis of a unit. */
function ratesOf({ title, axes }: Unit): s.Schema<Rates> {
  const members = axes.map(({ name, quantity }) => [name, s.number(quantity)] as const);
  return s.named(`${title}Rates`, s.object(Object.fromEntries(members)));
}

const rates = perUnit(unit => s.optional(ratesOf(unit)));
const command = {
  ...s.body('DriveCommand', {
    ...rates,
    id: s.name(64, 'Names the driver, together with the token.'),
    holdMs: { ...s.count('How long the rates hold.'), minimum: LEAST_HOLD_MS, maximum: MAX_HOLD_MS },
    notAfterT: s.optional(s.notAfterT),
    takeover: s.optional(s.yesNo('Takes a unit that another caller drives.')),
  }),
  examples: [
    { gimbal: { yaw: 0.4, pitch: 0 }, chassis: { speed: 0.5, turn: -0.2 }, holdMs: 200, id: 'left stick' },
  ],
};

/** Moving the units in manual mode. */
export function driveRoutes({ robot, autotune, config }: AppOptions): Route[] {
  const limits: Readonly<Record<string, number>> = config.drive;
  const limited = (asked: Rates): Rates =>
    Object.fromEntries(
      Object.entries(asked).map(([axis, rate]) => {
        // A register rounds to its counts, which must not go beyond the limit.
        const greatest = Math.floor((limits[axis] ?? 0) * RATE_COUNTS + 1e-6) / RATE_COUNTS;
        return [axis, Math.min(greatest, Math.max(-greatest, rate))];
      }),
    );
  return [
    post('/api/drive', 'drive', {
      id: 'drive',
      event: { what: 'drive', onlyRefused: true },
      summary: 'Move units in manual at these rates, for a limited time',
      body: command,
      answer: s.answer('Driven', rates, 'The rates that the controllers show.'),
      problems: [
        ...MOTION_PROBLEMS,
        'wrong-mode',
        'tune-running',
        'driven',
        'overtaken',
        'not-drivable',
        'too-late',
        'closing',
      ],
      asksCaller: true,
      act: ({ body, ctx, stillWanted, stillConnected }) => {
        const { id, holdMs, notAfterT, takeover = false } = body;
        const named = UNIT_LIST.flatMap(({ name }) => {
          const asked = body[name];
          return asked === undefined ? [] : [[name, limited(asked)] as const];
        });
        if (named.length === 0)
          throw new RobotError('invalid-request', { errors: [{ pointer: '', detail: 'names no unit' }] });
        return robot.drive({
          rates: Object.fromEntries(named),
          by: ctx.state.who,
          id,
          receivedMs: ctx.state.arrival.receivedMs,
          holdMs,
          notAfterMs: inMs(notAfterT),
          takeover,
          stillWanted,
          stillConnected,
          requireUntuned: unit => autotune.requireUntuned(unit),
        });
      },
    }),
  ];
}
