import type { Context } from 'koa';
import { RobotError } from '../../core/errors.js';
import type { Unit } from '../../core/units.js';
import { array, oneOf } from '../../schemas/schema.js';
import { rememberedStep, stepSummary } from '../../schemas/step.js';
import type { StepMemory } from '../../steps/step-memory.js';
import { wholeNumber } from '../query.js';
import { get, type Route } from '../route.js';

const NUMBER = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/** The captured steps that are remembered. */
export function stepRoutes(memory: StepMemory, { name, title: tag, loops }: Unit): Route[] {
  const names = loops.map(loop => loop.name);
  const loopOf = (ctx: Context): string | undefined => {
    const given = ctx.query.loop;
    if (given === undefined) return undefined;
    const loop = names.find(one => one === given);
    if (loop !== undefined) return loop;
    const detail = `must be one of ${names.join(', ')}`;
    throw new RobotError('invalid-request', { errors: [{ pointer: '/loop', detail }] });
  };
  return [
    get({
      path: `/api/${name}/steps`,
      id: `${name}Steps`,
      right: 'read',
      tag,
      summary:
        'The last 50 captured steps of each loop and the newest of each older revision, newest first, without their samples',
      query: { loop: oneOf(names) },
      answer: array(stepSummary),
      problems: ['invalid-request'],
      act: ctx => memory.list(name, loopOf(ctx)),
    }),
    get({
      path: `/api/${name}/steps/best`,
      id: `${name}BestSteps`,
      right: 'read',
      tag,
      summary:
        'The best settled step of each loop so far, saved or tried, among those about as tall as its newest',
      query: { loop: oneOf(names) },
      answer: array(stepSummary),
      problems: ['invalid-request'],
      act: ctx => memory.best(name, loopOf(ctx)),
    }),
    get({
      path: `/api/${name}/step`,
      id: `${name}Step`,
      right: 'read',
      tag,
      summary: 'One captured step with its samples, by its loop and number',
      query: { loop: oneOf(names), number: NUMBER },
      needs: ['loop', 'number'],
      answer: rememberedStep,
      problems: ['invalid-request', 'not-found'],
      act: ctx => {
        const step = memory.step(name, loopOf(ctx) ?? '', wholeNumber(ctx, 'number', NUMBER) ?? 0);
        const cure = `That step is not remembered, or not any more. /api/${name}/steps lists those that are.`;
        if (step === undefined) throw new RobotError('not-found', { path: ctx.path, cure });
        return step;
      },
    }),
  ];
}
