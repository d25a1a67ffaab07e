import type { Context } from 'koa';
import type { GainSet, Unit } from '../../core/units.js';
import type { MotorUnit } from '../../robot/motor-unit.js';
import { gainsBody } from '../../schemas/gains.js';
import { historyLine } from '../../schemas/history.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { stillWanted } from '../body.js';
import { historyText } from '../history-text.js';
import { SAVE_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';
import { compile } from '../validate.js';

const LIMIT = s.growing({ limit: s.optional({ ...s.count(), minimum: 1, maximum: 1000, default: 50 }) });
/** The revision from which the caller made the gains; 0 before the first save. Without it, the daemon does not compare. */
export const BASE_REVISION = s.growing({
  baseRevision: s.optional({ ...s.count(), maximum: Number.MAX_SAFE_INTEGER }),
});

const restoreBody = {
  ...s.body('Restore', { revision: { ...s.count(), minimum: 1 } }),
  examples: [{ revision: 1 }],
};

/** A save of gains for the caller of `ctx`. It resolves with the gains in force. */
export function saver({ gains }: MotorUnit) {
  return async (ctx: Context, baseRevision: number | undefined, wanted: GainSet): Promise<GainSet> =>
    (await gains.save(wanted, { baseRevision, stillWanted: stillWanted(ctx) })).gains;
}

/** The gains of one unit: those in force, their history, and saves. */
export function gainsRoutes({ robot, config, steps }: AppOptions, unit: Unit): Route[] {
  const { name } = unit;
  const path = `/api/${name}/pidconfig`;
  const gains = gainsBody(unit, config.gains.bounds);
  const anyGains = gainsBody(unit, {});
  const checkGains = compile(gains);
  const save = saver(robot.units[name]);
  return [
    get(path, 'read', {
      id: `${name}Gains`,
      summary: 'The gains in force',
      answer: anyGains,
      problems: ['storage-failed'],
      act: () => robot.store.current(name).gains,
    }),
    post(path, 'tune', {
      id: `${name}SaveGains`,
      event: { what: 'save', unit: name },
      summary: 'Save gains; answered when they are active in the controller and on the disk',
      body: gains,
      answer: anyGains,
      query: BASE_REVISION,
      problems: SAVE_PROBLEMS,
      act: ({ body, query, ctx }) => save(ctx, query.baseRevision, body),
    }),
    get(`${path}/history`, 'read', {
      id: `${name}GainsHistory`,
      summary: 'Saved gains, newest first, with the newest step measured on each revision by loop',
      query: LIMIT,
      answer: s.array(historyLine(anyGains)),
      problems: ['storage-failed'],
      act: ({ query: { limit = 50 } }) => historyText(name, robot.store.history(name, limit), steps),
    }),
    post(`${path}/restore`, 'tune', {
      id: `${name}RestoreGains`,
      event: { what: 'restore', unit: name },
      summary: 'Save the gains of an earlier revision again',
      body: restoreBody,
      answer: anyGains,
      query: BASE_REVISION,
      problems: ['unknown-revision', ...SAVE_PROBLEMS],
      act: ({ body: { revision }, query, ctx }) =>
        save(ctx, query.baseRevision, checkGains(robot.store.revision(name, revision).gains)),
    }),
  ];
}
