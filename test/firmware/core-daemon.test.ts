import { Child } from '../support/child.js';
import { temporaryFolder } from '../support/daemon.js';

describe('npm start -- --controllers core', () => {
  let daemon: Child | undefined;
  afterEach(async () => daemon?.kill());
  const state = temporaryFolder();

  it('starts a daemon that gives both controllers, which run the C core, their gains', async () => {
    daemon = new Child('sim/main.js', ['--controllers', 'core', '--port', '0', '--state', state()]);
    for (const unit of ['gimbal', 'chassis'])
      await daemon.line(new RegExp(`"unit":"${unit}","msg":"gains-applied"`));
  });
});
