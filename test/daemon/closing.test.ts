import { expect } from 'chai';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens, tokenFile } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { replaceFile } from '../../src/storage/durable-file.js';
import { call, eventually } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

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
