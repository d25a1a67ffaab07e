import { expect } from 'chai';
import { call, eventually } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('the log of requests', () => {
  const daemon = simulatedDaemon();

  it('has a line for each call that acts or is refused, and none for calls that read', async () => {
    const lines = () => daemon.logged.filter(line => line.msg === 'request');
    await daemon.get('/api/status');
    await daemon.get('/api/nothing');
    await daemon.post('/api/laser', { action: 'off' });
    await daemon.post('/api/laser', { action: 'dim' });
    const ended = await call(daemon.url, 'DELETE', '/api/gimbal/pidconfig/trial');
    await eventually(async () => lines().length === 3);
    expect(lines().map(({ method, path, status, code }) => [method, path, status, code])).to.deep.equal([
      ['POST', '/api/laser', 200, undefined],
      ['POST', '/api/laser', 400, 'invalid-request'],
      ['DELETE', '/api/gimbal/pidconfig/trial', ended.status, ended.body.code],
    ]);
  });
});
