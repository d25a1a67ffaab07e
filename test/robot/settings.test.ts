import { expect } from 'chai';
import { ClockedDaemon } from '../support/clocked-daemon.js';

describe('a daemon with onControllerReset: restore', () => {
  it('puts a controller back in its last mode after a reset, or in manual if the robot is stopped', async () => {
    const daemon = await ClockedDaemon.start({ config: { supervision: { onControllerReset: 'restore' } } });
    const post = (path: string, body?: unknown) => daemon.ask({ ask: `POST ${path}`, body });
    const modeAfterReset = async () => {
      await post('/sim/faults', { target: 'chassis', fault: 'brownout' });
      await daemon.wait(1000);
      const { body } = await daemon.ask({ ask: 'GET /api/status' });
      return JSON.parse(JSON.stringify(body)).chassis.mode;
    };
    await post('/api/chassis/mode/switch', { mode: 'auto' });
    expect(await modeAfterReset()).to.equal('auto');
    await post('/api/stop');
    expect(await modeAfterReset()).to.equal('manual');
    await daemon.close();
  });
});
