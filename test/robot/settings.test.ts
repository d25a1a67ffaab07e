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

describe('a daemon whose controllers bear silence for long', () => {
  const daemon = simulatedDaemon({ supervision: { hostSilenceMs: 5000 } });

  it('names every controller that did not confirm a stop, and darkens all the same', async () => {
    await daemon.post('/api/laser', { action: 'on' });
    await daemon.post('/sim/faults', { target: 'bus', fault: 'nack' });
    const startMs = performance.now();
    const answer = await daemon.post('/api/stop');
    expect(performance.now() - startMs).to.be.lessThan(1000);
    expect([answer.status, answer.body.units]).to.deep.equal([503, ['gimbal', 'chassis']]);
    const status = (await daemon.get('/api/status')).body;
    expect([status.stopped, status.laser.light, status.gimbal.torque]).to.deep.equal([
      true,
      'dark',
      'unknown',
    ]);
    await daemon.post('/sim/faults', { target: 'bus', fault: 'clear' });
    await eventually(async () => chassis(daemon).stopped);
    expect((await daemon.post('/api/stop')).status).to.equal(200);
  });
});

function chassis({ sim }: { sim: { truth(): Record<string, unknown> } }): { stopped: boolean } {
  return sim.truth().chassis as { stopped: boolean };
}
