import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens, tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import { systemClock } from '../../src/core/clock.js';
import { start } from '../../src/daemon/start.js';
import { realDisk } from '../../src/storage/disk.js';
import { replaceFile } from '../../src/storage/durable-file.js';
import { call, eventually, inTemporaryFolder } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('if the disk of the state folder is not mounted, the daemon', () => {
  it('starts locked and stopped, refuses to switch the laser on, and still accepts a stop', () =>
    inTemporaryFolder(async folder => {
      await symlink(join(folder, 'unmounted'), join(folder, 'link'));
      const sim = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
      const state = join(folder, 'link', 'trunnion');
      const daemon = await start({
        config: loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state }),
        hardware: sim.hardware,
        log: pino({ level: 'silent' }),
        clock: systemClock,
      });
      try {
        const { body } = await call(daemon.url, 'GET', '/api/status');
        expect(body.access).to.include({ state: 'unavailable' });
        expect(body.match.lock).to.include({ by: 'trunnion' });
        expect([body.stopped, body.match.recorded]).to.deep.equal([true, false]);
        const lit = await call(daemon.url, 'POST', '/api/laser', { action: 'on' });
        expect([lit.status, lit.body.code]).to.deep.equal([503, 'access-unavailable']);
        expect((await call(daemon.url, 'POST', '/api/stop')).status).to.equal(200);
      } finally {
        await daemon.close();
      }
    }));
});

describe('a robot without tokens', () => {
  const daemon = simulatedDaemon();
  const secret = 'secret';
  const put = (content: Buffer) => replaceFile(realDisk, tokenFile(daemon.folder), [content]);
  const headers = { authorization: `Bearer ${secret}` };
  const status = async () => (await call(daemon.url, 'GET', '/api/status', undefined, headers)).body;

  for (const [how, content] of [
    ['gets its first token', encodeTokens([{ name: 'desk', role: 'operator', hash: hashOf(secret) }])],
    ['is damaged', Buffer.from('{')],
  ] as const) {
    it(`stops and switches its laser off when its token list ${how}`, async () => {
      await put(encodeTokens([]));
      await eventually(async () => (await status()).access.state === 'open');
      await daemon.post('/api/resume');
      await daemon.post('/api/chassis/mode/switch', { mode: 'auto' });
      expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(200);
      await put(content);
      await eventually(async () => (await status()).access.state !== 'open');
      const { stopped, laser, access } = await status();
      expect([stopped, laser.state, access.state === 'open']).to.deep.equal([true, 'off', false]);
    });
  }
});
