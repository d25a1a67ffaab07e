import { expect } from 'chai';
import { ClockedDaemon } from '../support/clocked-daemon.js';

describe('a daemon with `onControllerReset: restore`', () => {
  it('puts a controller back in its last mode after a reset, or in manual if the robot is stopped', async () => {
    const daemon = await ClockedDaemon.start({ config: { supervision: { onControllerReset: 'restore' } } });
    const modeAfterReset = async () => {
      await daemon.bodyOf('POST /sim/faults', { target: 'chassis', fault: 'brownout' });
      await daemon.wait(1000);
      return (await daemon.bodyOf('GET /api/status')).chassis.mode;
    };
    await daemon.bodyOf('POST /api/chassis/mode/switch', { mode: 'auto' });
    expect(await modeAfterReset()).to.equal('auto');
    await daemon.bodyOf('POST /api/stop');
    expect(await modeAfterReset()).to.equal('manual');
    await daemon.close();
  });
});
