import { RobotError } from '../../core/errors.js';
import type { Unit } from '../../core/units.js';
import { array, count, growing, oneOf } from '../../schemas/schema.js';
import { rememberedStep, stepSummary } from '../../schemas/step.js';
import type { StepMemory } from '../../steps/step-memory.js';
import { get, type Route } from '../route.js';

/** The captured steps that the daemon remembers. */
export function stepRoutes(
  memory: Pick<StepMemory, 'list' | 'best' | 'step'>,
  { name, title: tag, loops }: Unit,
): Route[] {
  const loop = oneOf(loops.map(({ name }) => name));
  const number = { ...count(), minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  return [
    get({
      path: `/api/${name}/steps`,
      id: `${name}Steps`,
      right: 'read',
      tag,
      summary:
        'The last 50 captured steps of each loop and the newest of each older revision, newest first, without their samples',
      query: growing({}, { loop }),
      answer: array(stepSummary),
      act: ({ query }) => memory.list(name, query.loop),
    }),
    get({
      path: `/api/${name}/steps/best`,
      id: `${name}BestSteps`,
      right: 'read',
      tag,
      summary:
        'The best settled step of each loop so far, saved or tried, among those about as tall as its newest',
      query: growing({}, { loop }),
      answer: array(stepSummary),
      act: ({ query }) => memory.best(name, query.loop),
    }),
    get({
      path: `/api/${name}/step`,
      id: `${name}Step`,
      right: 'read',
      tag,
      summary: 'One captured step with its samples, by its loop and number',
      query: growing({ loop, number }),
      answer: rememberedStep,
      problems: ['not-found'],
      act: ({ query, ctx }) => {
        const step = memory.step(name, query.loop, query.number);
        const cure = `The daemon does not remember this step. GET /api/${name}/steps lists those that it remembers.`;
        if (step === undefined) throw new RobotError('not-found', { path: ctx.path, cure });
        return step;
      },
    }),
  ];
}
