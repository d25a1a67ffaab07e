import { expect } from 'chai';
import type { Context } from 'koa';
import { unitNamed } from '../../src/core/units.js';
import { stepRoutes } from '../../src/http/routes/unit-routes.js';

describe('the calls for captured steps', () => {
  const asked: string[] = [];
  const list = (what: string) => (_: string, loop?: string) => {
    asked.push(`${what} ${loop}`);
    return [];
  };
  const memory = { list: list('list'), best: list('best'), step: () => undefined };
  const ask = async (path: string, query: object) => {
    const route = stepRoutes(memory, unitNamed('gimbal')).find(one => one.path === `/api/gimbal/${path}`);
    const ctx = { state: {}, query, path, res: { hasHeader: () => true }, body: '' } as unknown as Context;
    const authorize = Object.assign(() => undefined, { current: () => undefined });
    return route?.handle(ctx, authorize).catch(error => error.context.cure);
  };

  it('return the steps of one loop if the query names a loop, and otherwise those of all loops', async () => {
    for (const path of ['steps', 'steps/best'])
      for (const query of [{}, { loop: 'angle_yaw' }]) await ask(path, query);
    expect(asked).to.deep.equal(['list undefined', 'list angle_yaw', 'best undefined', 'best angle_yaw']);
  });

  it('answer a request for a missing step with an error that names the call that lists the steps', async () => {
    expect(await ask('step', { loop: 'angle_yaw', number: '8' })).to.include('/api/gimbal/steps');
  });
});
