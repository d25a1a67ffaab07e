import type { Context } from 'koa';
import { RobotError } from '../../core/errors.js';
import { type GainBounds, UNIT_LIST, type Unit } from '../../core/units.js';
import type { Robot } from '../../robot/robot.js';
import { requireConnected } from '../body.js';
import { HistoryTexts } from '../history-texts.js';
import { get, post, type Route } from '../route.js';
import * as schemas from '../schemas.js';
import { compile } from '../validate.js';

const CONTROLLER_PROBLEMS = ['unit-offline', 'unit-busy', 'not-confirmed'] as const;
const HISTORY_LIMIT = { default: 50, max: 1000 } as const;

/** The same endpoints for every unit. */
export function unitRoutes(robot: Robot, bounds: GainBounds): Route[] {
  const histories = new HistoryTexts();
  return UNIT_LIST.flatMap(unit => [
    ...modeRoutes(robot, unit),
    ...gainsRoutes(robot, unit, bounds, histories),
  ]);
}

function modeRoutes(robot: Robot, { name, title, ...unit }: Unit): Route[] {
  const tag = title;
  const excitationBody = schemas.excitationBody({ name, title, ...unit });
  const excitation = { path: `/api/${name}/excitation`, tag, answer: excitationBody };
  return [
    post(
      {
        path: `/api/${name}/mode/switch`,
        id: `${name}ModeSwitch`,
        tag,
        summary: 'Switch the mode; answered when the controller confirms it',
        body: schemas.modeBody,
        right: 'drive',
        answer: schemas.modeBody,
        problems: ['stopped', ...CONTROLLER_PROBLEMS],
      },
      async ({ mode }, ctx) => {
        await robot.units[name].setMode(mode, () => requireConnected(ctx));
        return { mode };
      },
    ),
    get(
      {
        ...excitation,
        id: `${name}Excitation`,
        right: 'read',
        summary: 'The excitation chosen',
        problems: CONTROLLER_PROBLEMS,
      },
      () => robot.units[name].excitation(),
    ),
    post(
      {
        ...excitation,
        id: `${name}Excite`,
        summary: 'Choose the square wave of debug mode',
        body: excitationBody,
        right: 'drive',
        problems: ['stopped', 'wrong-mode', ...CONTROLLER_PROBLEMS],
      },
      (chosen, ctx) => robot.units[name].excite(chosen, () => requireConnected(ctx)),
    ),
  ];
}

function gainsRoutes(robot: Robot, unit: Unit, bounds: GainBounds, histories: HistoryTexts): Route[] {
  const { name, title: tag } = unit;
  const path = `/api/${name}/pidconfig`;
  const gains = schemas.gainsBody(unit, bounds);
  const anyGains = schemas.gainsBody(unit, {});
  const checkGains = compile(gains);
  return [
    get(
      {
        path,
        id: `${name}Gains`,
        right: 'read',
        tag,
        summary: 'The gains in force',
        answer: anyGains,
        problems: ['storage-failed'],
      },
      () => robot.store.current(name).gains,
    ),
    post(
      {
        path,
        id: `${name}SaveGains`,
        right: 'tune',
        tag,
        summary: 'Save gains; answered when they are active in the controller and on the disk',
        body: gains,
        answer: anyGains,
        problems: ['storage-failed', ...CONTROLLER_PROBLEMS],
      },
      async wanted => (await robot.units[name].save(wanted)).gains,
    ),
    get(
      {
        path: `${path}/history`,
        id: `${name}GainsHistory`,
        right: 'read',
        tag,
        summary: 'Saved gains, newest first',
        query: {
          limit: { type: 'integer', minimum: 1, maximum: HISTORY_LIMIT.max, default: HISTORY_LIMIT.default },
        },
        answer: schemas.history(anyGains),
        problems: ['invalid-request', 'storage-failed'],
      },
      ctx => histories.of(name, robot.store.history(name, limitOf(ctx))),
    ),
    post(
      {
        path: `${path}/restore`,
        id: `${name}RestoreGains`,
        right: 'tune',
        tag,
        summary: 'Save the gains of an earlier revision again',
        body: schemas.restoreBody,
        answer: anyGains,
        problems: ['unknown-revision', 'storage-failed', ...CONTROLLER_PROBLEMS],
      },
      async ({ revision }) => {
        const wanted = checkGains(robot.store.revision(name, revision).gains);
        return (await robot.units[name].save(wanted)).gains;
      },
    ),
  ];
}

function limitOf(ctx: Context): number {
  const { limit } = ctx.query;
  if (limit === undefined) return HISTORY_LIMIT.default;
  const wanted = typeof limit === 'string' && /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (wanted >= 1 && wanted <= HISTORY_LIMIT.max) return wanted;
  const detail = `must be a whole number from 1 to ${HISTORY_LIMIT.max}`;
  throw new RobotError('invalid-request', { errors: [{ pointer: '/limit', detail }] });
}
