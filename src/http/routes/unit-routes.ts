import { RobotError } from '../../core/errors.js';
import { EXCITATION_PERIOD_S, type Excitation, MODES, type Unit } from '../../core/units.js';
import * as s from '../../schemas/schema.js';
import { rememberedStep, stepSummary } from '../../schemas/step.js';
import type { StepMemory } from '../../steps/step-memory.js';
import type { AppOptions } from '../app-options.js';
import { sinceMs } from '../arrivals.js';
import { MOTION_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';

const modeBody = { ...s.body('Mode', { mode: s.oneOf(MODES) }), examples: [{ mode: 'manual' }] };

/** Mode and excitation of a unit. */
export function unitRoutes({ robot, autotune, clock }: AppOptions, unit: Unit): Route[] {
  const { name } = unit;
  const body = excitationBody(unit);
  const path = `/api/${name}/excitation`;
  return [
    post(`/api/${name}/mode/switch`, 'drive', {
      id: `${name}ModeSwitch`,
      event: { what: 'mode', unit: name },
      summary: 'Switch the mode; answered when the controller confirms it',
      body: modeBody,
      answer: modeBody,
      problems: [...MOTION_PROBLEMS, 'too-late'],
      act: ({ body, ctx, stillWanted }) =>
        robot.units[name]
          .setMode(body.mode, stillWanted, sinceMs(ctx.state.arrival, clock.nowMs()))
          .then(() => body),
    }),
    get(path, 'read', {
      answer: body,
      id: `${name}Excitation`,
      summary: 'The excitation chosen',
      problems: ['unit-offline', 'unit-busy'],
      act: () => robot.units[name].excitation(),
    }),
    post(path, 'drive', {
      answer: body,
      id: `${name}Excite`,
      event: { what: 'excite', unit: name },
      summary: 'Choose the excitation of debug mode',
      body,
      problems: [...MOTION_PROBLEMS, 'too-late', 'wrong-mode', 'no-torque', 'tune-running'],
      act: async ({ body: chosen, ctx, stillWanted }) => {
        const since = sinceMs(ctx.state.arrival, clock.nowMs());
        if (chosen.amplitude !== 0) autotune.requireUntuned(name);
        // A failure here does not matter, because `excite` writes the excitation and reads it back.
        else await autotune.end('somebody ended its excitation', name).catch(() => undefined);
        return robot.units[name].excite(chosen, { stillWanted, sinceMs: since });
      },
    }),
  ];
}

function excitationBody({ title, loops }: Unit): s.Schema<Excitation> {
  const amplitudes = loops.map(loop => ({
    if: { properties: { loop: { const: loop.name } }, required: ['loop'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { properties: { loop: {}, amplitude: { maximum: loop.maxAmplitude }, periodS: {} } },
  }));
  const { min, max } = EXCITATION_PERIOD_S;
  const body = s.object({
    loop: s.oneOf(loops.map(loop => loop.name)),
    amplitude: { ...s.number("In the loop's unit; 0 moves nothing."), minimum: 0 },
    periodS: { ...s.number(), minimum: min, maximum: max },
  });
  const examples = loops.slice(0, 1).map(loop => ({ loop: loop.name, amplitude: 0.1, periodS: 2 }));
  return s.named(`${title}Excitation`, { ...body, allOf: amplitudes, examples });
}

/** The captured steps of a unit that the daemon remembers. */
export function stepRoutes(memory: Pick<StepMemory, 'list' | 'best' | 'step'>, { name, loops }: Unit) {
  const path = `/api/${name}/steps`;
  const loop = s.oneOf(loops.map(({ name }) => name));
  const number = { ...s.count(), minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  const ofLoop = { query: s.growing({ loop: s.optional(loop) }), answer: s.array(stepSummary) };
  return [
    get(path, 'read', {
      ...ofLoop,
      id: `${name}Steps`,
      summary:
        'The last 50 steps of each loop and the newest of each older revision, newest first, without samples',
      act: ({ query }) => memory.list(name, query.loop),
    }),
    get(`${path}/best`, 'read', {
      ...ofLoop,
      id: `${name}BestSteps`,
      summary: 'The best settled step of each loop, saved or tried, among those about as tall as its newest',
      act: ({ query }) => memory.best(name, query.loop),
    }),
    get(`/api/${name}/step`, 'read', {
      id: `${name}Step`,
      summary: 'One captured step with its samples, by its loop and number',
      query: s.growing({ loop, number }),
      answer: rememberedStep,
      problems: ['not-found'],
      act: ({ query }) => {
        const step = memory.step(name, query.loop, query.number);
        const cure = `The daemon does not remember this step. GET ${path} lists those that it remembers.`;
        if (step === undefined) throw new RobotError('not-found', { cure });
        return step;
      },
    }),
  ];
}
