import { RobotError } from '../../core/errors.js';
import type { Unit } from '../../core/units.js';
import * as s from '../../schemas/schema.js';
import { rememberedStep, stepSummary } from '../../schemas/step.js';
import type { StepMemory } from '../../steps/step-memory.js';
import { get, type Route } from '../route.js';

/** The captured steps that the daemon remembers. */
export function stepRoutes(
  memory: Pick<StepMemory, 'list' | 'best' | 'step'>,
  { name, loops }: Unit,
): Route[] {
  const loop = s.oneOf(loops.map(({ name }) => name));
  const number = { ...s.count(), minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  return [
    get(`/api/${name}/steps`, 'read', {
      id: `${name}Steps`,
      summary:
        'The last 50 steps of each loop and the newest of each older revision, newest first, without samples',
      query: s.growing({ loop: s.optional(loop) }),
      answer: s.array(stepSummary),
      act: ({ query }) => memory.list(name, query.loop),
    }),
    get(`/api/${name}/steps/best`, 'read', {
      id: `${name}BestSteps`,
      summary: 'The best settled step of each loop, saved or tried, among those about as tall as its newest',
      query: s.growing({ loop: s.optional(loop) }),
      answer: s.array(stepSummary),
      act: ({ query }) => memory.best(name, query.loop),
    }),
    get(`/api/${name}/step`, 'read', {
      id: `${name}Step`,
      summary: 'One captured step with its samples, by its loop and number',
      query: s.growing({ loop, number }),
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
