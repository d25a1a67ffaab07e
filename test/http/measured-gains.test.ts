import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('the history of gains', function () {
  this.timeout(60_000);
  const daemon = simulatedDaemon();
  const history = async () => (await daemon.get('/api/gimbal/pidconfig/history')).body;

  it('shows the newest step measured on each revision, and the best so far can be asked for', async () => {
    const { body: gains } = await daemon.get('/api/gimbal/pidconfig');
    for (let count = 0; count < 2; count += 1) {
      await eventually(async () => (await daemon.post('/api/gimbal/pidconfig', gains)).status === 200);
    }
    await daemon.post('/api/gimbal/mode/switch', { mode: 'debug' });
    expect((await history())[0]).not.have.property('measured');
    await daemon.post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 0.8 });
    const best = async () => (await daemon.get('/api/gimbal/steps/best')).body;
    await eventually(async () => (await best()).length === 1);
    await daemon.post('/api/gimbal/mode/switch', { mode: 'manual' });
    const [newest, older] = await history();
    expect(Object.keys(newest.measured)).deep.equal(['angle_yaw']);
    expect(older).not.have.property('measured');
    const { number, figures } = newest.measured.angle_yaw;
    const path = `/api/gimbal/step?loop=angle_yaw&number=${number}`;
    expect((await daemon.get(path)).body).deep.include({ revision: newest.revision, figures });
    const gone = await daemon.get(`/api/gimbal/step?loop=angle_yaw&number=${number + 1000}`);
    expect([gone.status, gone.body.code]).deep.equal([404, 'not-found']);
    expect(gone.body.detail).includes('does not remember').includes('/api/gimbal/steps');
    const [step] = await best();
    expect(step).deep.include({ loop: 'angle_yaw', trial: false, revision: newest.revision });
    expect(step).not.have.property('samples');
    expect((await daemon.get('/api/gimbal/steps/best?loop=speed')).status).equal(400);
  });
});
