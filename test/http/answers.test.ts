import { Ajv } from 'ajv';
import { expect } from 'chai';
import { status } from '../../src/core/status.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('status', () => {
  const daemon = simulatedDaemon();
  const laser = async () => (await daemon.get('/api/status')).body.laser;

  it('is what its schema says, whether all is well or not', async () => {
    const isStatus = new Ajv({ allErrors: true, strictTypes: false }).compile(status);
    const check = async () => {
      const { body } = await daemon.get('/api/status');
      expect(isStatus(body), JSON.stringify(isStatus.errors)).to.equal(true);
      return body;
    };
    await check();
    daemon.sim.inject({ target: 'chassis', fault: 'unplug' });
    daemon.sim.inject({ target: 'pin', fault: 'nack' });
    await eventually(async () => !(await check()).chassis.online);
    daemon.sim.inject({ target: 'chassis', fault: 'plug' });
    daemon.sim.inject({ target: 'pin', fault: 'clear' });
    await eventually(async () => (await check()).chassis.online);
  });

  it('claims no dark that the pin does not prove', async () => {
    expect(await laser()).to.deep.equal({ state: 'off', light: 'dark' });
    daemon.sim.inject({ target: 'pin', fault: 'nack' });
    expect(await laser()).to.deep.include({ state: null, light: 'fault' });
    daemon.sim.inject({ target: 'pin', fault: 'clear' });
    await daemon.post('/api/laser', { action: 'on' });
    expect(await laser()).to.deep.equal({ state: 'on', light: 'on' });
    await daemon.post('/api/laser', { action: 'off' });
  });

  it('claims torque as the controller does, and nothing of one that is away', async () => {
    const torque = async () => (await daemon.get('/api/status')).body.gimbal.torque;
    await eventually(async () => (await torque()) === 'on');
    await daemon.post('/api/stop');
    await eventually(async () => (await torque()) === 'off');
    await daemon.post('/api/resume');
    await eventually(async () => (await torque()) === 'on');
  });
});
