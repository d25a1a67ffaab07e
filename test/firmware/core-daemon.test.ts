import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../support/child.js';

describe('npm start -- --controllers core', () => {
  const state = mkdtempSync(join(tmpdir(), 'trunnion-core-'));
  let daemon: Child | undefined;

  after(async () => {
    await daemon?.kill();
    rmSync(state, { recursive: true });
  });

  it('serves a robot whose controllers run the core', async () => {
    daemon = new Child('sim/main.js', ['--controllers', 'core', '--port', '0', '--state', state]);
    for (const unit of ['gimbal', 'chassis'])
      await daemon.line(new RegExp(`"unit":"${unit}","msg":"gains-applied"`));
  });
});
