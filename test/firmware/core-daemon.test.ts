import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../support/child.js';

describe('npm start -- --controllers core', () => {
  it('serves a robot whose controllers run the core', async () => {
    const state = mkdtempSync(join(tmpdir(), 'trunnion-core-'));
    const daemon = new Child('sim/main.js', ['--controllers', 'core', '--port', '0', '--state', state]);
    try {
      for (const unit of ['gimbal', 'chassis'])
        await daemon.line(new RegExp(`"unit":"${unit}","msg":"gains-applied"`));
    } finally {
      await daemon.kill('SIGTERM');
      rmSync(state, { recursive: true });
    }
  });
});
