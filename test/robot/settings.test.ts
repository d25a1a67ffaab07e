import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('a daemon configured otherwise', () => {
  const daemon = simulatedDaemon({ supervision: { onControllerReset: 'restore' }, laser: { maxOnS: 0.05 } });
  const chassis = () => daemon.sim.truth().chassis as { mode: string; boots: number; stopped: boolean };

  it('gives a controller that reset itself its last mode back', async () => {
    await daemon.post('/api/chassis/mode/switch', { mode: 'auto' });
    await daemon.post('/sim/faults', { target: 'chassis', fault: 'brownout' });
    await eventually(async () => chassis().boots === 2 && chassis().mode === 'auto');
    await eventually(async () => (await daemon.get('/api/status')).body.chassis.mode === 'auto');
  });

  it('gives it manual while the robot is stopped, and the latch', async () => {
    await daemon.post('/api/stop');
    await daemon.post('/sim/faults', { target: 'chassis', fault: 'brownout' });
    await eventually(async () => chassis().boots === 3 && chassis().stopped);
    expect(chassis().mode).to.equal('manual');
    await daemon.post('/api/resume');
  });

  it('darkens the laser at its limit, and says why', async () => {
    await daemon.post('/api/laser', { action: 'on' });
    await eventually(async () => (await daemon.get('/api/status')).body.laser.state === 'off');
    expect((await daemon.get('/api/status')).body.laser).to.deep.equal({
      state: 'off',
      light: 'dark',
      reason: 'time limit',
    });
  });
});
