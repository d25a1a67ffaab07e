import { expect } from 'chai';
import type { Context } from 'koa';
import { unitNamed } from '../../src/core/units.js';
import { stepRoutes } from '../../src/http/routes/step-routes.js';
import type { RememberedStep } from '../../src/schemas/step.js';
import { stepFigures } from '../../src/tuning/step-figures.js';

const STEP: RememberedStep = {
  loop: 'angle_yaw',
  number: 7,
  at: '2030-01-01T00:00:00Z',
  oldSetpoint: 0,
  setpoint: 1,
  periodS: 0.002,
  gains: { kp: 1, ki: 0, kd: 0 },
  revision: 1,
  trial: false,
  samples: { setpoint: [1], measured: [0] },
  figures: stepFigures({ measured: [0, 1, 1], periodS: 0.002, oldSetpoint: 0, setpoint: 1 }),
};

describe('the routes of captured steps', () => {
  const asked: (string | undefined)[] = [];
  const list = (what: string) => (_: string, loop?: string) => {
    asked.push(`${what} ${loop}`);
    return [];
  };
  const memory = {
    list: list('list'),
    best: list('best'),
    step: (_: string, loop: string, number: number) =>
      loop === STEP.loop && number === STEP.number ? STEP : undefined,
  };
  const routes = stepRoutes(memory, unitNamed('gimbal'));
  /** The answer, or the code and the first fault of the refusal. */
  const ask = async (path: string, query: object) => {
    const res = { hasHeader: () => true };
    const ctx = { query, path, res, body: '' } as unknown as Context;
    try {
      await routes.find(route => route.path === path)?.handle(ctx, () => undefined);
      return JSON.parse(String(ctx.body));
    } catch (error) {
      const { code, context } = error as {
        code: string;
        context: { errors?: { pointer: string }[]; cure?: string };
      };
      return [code, context.errors?.[0]?.pointer ?? context.cure];
    }
  };

  it('list all steps or those of a loop', async () => {
    await ask('/api/gimbal/steps', {});
    await ask('/api/gimbal/steps', { loop: 'angle_yaw' });
    await ask('/api/gimbal/steps/best', {});
    await ask('/api/gimbal/steps/best', { loop: 'angle_yaw' });
    expect(asked).to.deep.equal(['list undefined', 'list angle_yaw', 'best undefined', 'best angle_yaw']);
  });

  it('give the step with this number, and say where to look for others', async () => {
    expect(await ask('/api/gimbal/step', { loop: 'angle_yaw', number: '7' })).to.deep.equal(STEP);
    const [code, cure] = await ask('/api/gimbal/step', { loop: 'angle_yaw', number: '8' });
    expect(code).to.equal('not-found');
    expect(cure).to.include('/api/gimbal/steps');
  });

  for (const [path, query, pointer] of [
    ['/api/gimbal/steps', { loop: 'speed' }, '/loop'],
    ['/api/gimbal/steps', { loop: ['angle_yaw', 'angle_yaw'] }, '/loop'],
    ['/api/gimbal/steps/best', { loop: '' }, '/loop'],
    ['/api/gimbal/step', { number: '7' }, '/loop'],
    ['/api/gimbal/step', { loop: 'angle_yaw' }, '/number'],
    ['/api/gimbal/step', { loop: 'angle_yaw', number: '0' }, '/number'],
    ['/api/gimbal/step', { loop: 'angle_yaw', number: '1e3' }, '/number'],
  ] as const) {
    it(`refuse ${JSON.stringify(query)} for ${path}`, async () => {
      expect(await ask(path, query)).to.deep.equal(['invalid-request', pointer]);
    });
  }
});
