import { expect } from 'chai';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const PATH = '/api/gimbal/autotune';

describe('tuning over HTTP', () => {
  const daemon = simulatedDaemon();
  const asked = { loop: 'angle_yaw', leaseS: 5 };

  it('is refused outside debug mode', async () => {
    const answer = await daemon.post(PATH, asked);
    expect([answer.status, answer.body.code]).deep.equal([409, 'wrong-mode']);
    expect((await daemon.get(PATH)).body).deep.equal({ tune: null });
  });

  it('is accepted, renewed, seen and ended', async () => {
    await daemon.post('/api/gimbal/mode/switch', { mode: 'debug' });
    const begun = await daemon.post(PATH, { ...asked, style: 'gentle' });
    expect(begun.status).equal(202);
    expect(begun.body).include({ unit: 'gimbal', loop: 'angle_yaw', style: 'gentle', state: 'running' });
    const renewed = await daemon.post(PATH, { ...asked, id: begun.body.id });
    expect([renewed.status, renewed.body.id]).deep.equal([202, begun.body.id]);
    expect((await daemon.get(PATH)).body.tune).include({ id: begun.body.id, state: 'running' });
    const light = await daemon.post('/api/laser', { action: 'on' });
    expect([light.status, light.body.code]).deep.equal([409, 'tune-running']);
    expect((await call(daemon.url, 'DELETE', PATH)).body).deep.equal({ ended: true });
    expect((await daemon.get(PATH)).body.tune).include({ state: 'aborted', why: 'somebody ended it' });
    expect((await daemon.get('/api/status')).body.gimbal.gains).include({ applied: true });
    const late = await daemon.post(PATH, { ...asked, id: begun.body.id });
    expect([late.status, late.body.code]).deep.equal([409, 'trial-ended']);
  });

  it('is in nobody’s way: another wave is refused, and one that ends the wave ends the tuning', async () => {
    await daemon.post('/api/gimbal/mode/switch', { mode: 'debug' });
    const { id } = (await daemon.post(PATH, asked)).body;
    const wave = (amplitude: number) =>
      daemon.post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude, periodS: 2 });
    const other = await wave(0.1);
    expect([other.status, other.body.code]).deep.equal([409, 'tune-running']);
    const elsewhere = await daemon.post('/api/chassis/autotune', { loop: 'speed', id });
    expect([elsewhere.status, elsewhere.body.code]).deep.equal([409, 'trial-ended']);
    expect((await wave(0)).status).equal(200);
    expect((await daemon.get(PATH)).body.tune).include({ id, state: 'aborted' });
    const late = await daemon.post(PATH, { ...asked, id });
    expect([late.status, late.body.code]).deep.equal([409, 'trial-ended']);
  });

  it('knows loops by their unit', async () => {
    const answer = await daemon.post(PATH, { ...asked, loop: 'speed' });
    expect([answer.status, answer.body.errors[0].pointer]).deep.equal([400, '/loop']);
  });
});
