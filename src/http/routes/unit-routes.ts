import { RobotError } from '../../core/errors.js';
import { EXCITATION_PERIOD_S, type Excitation, MODES, type Unit } from '../../core/units.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { stillWanted } from '../body.js';
import { CONTROLLER_PROBLEMS, MATCH_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';

const modeBody = { ...s.body('Mode', { mode: s.oneOf(MODES) }), examples: [{ mode: 'manual' }] };

/** Mode and excitation of a unit. */
export function unitRoutes({ robot, autotune }: AppOptions, unit: Unit): Route[] {
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
      problems: [...MATCH_PROBLEMS, 'stopped', ...CONTROLLER_PROBLEMS],
      act: async ({ body: { mode }, ctx }) => {
        await robot.units[name].setMode(mode, stillWanted(ctx));
        return { mode };
      },
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
      problems: [...MATCH_PROBLEMS, 'stopped', 'wrong-mode', 'tune-running', ...CONTROLLER_PROBLEMS],
      act: async ({ body: chosen, ctx }) => {
        const tuning = autotune.of(name);
        if (tuning?.state === 'running') {
          if (chosen.amplitude !== 0)
            throw new RobotError('tune-running', { loop: tuning.loop, by: tuning.by });
          // A failure here does not matter: `excite` writes the excitation and reads it back.
          await autotune.end('somebody ended its wave').catch(() => undefined);
        }
        return robot.units[name].excite(chosen, stillWanted(ctx));
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
