import { Child } from '../support/child.js';
import { temporaryFolder } from '../support/daemon.js';

describe('`npm start -- --controllers core`', () => {
  let daemon: Child | undefined;
  afterEach(async () => daemon?.kill());
  const state = temporaryFolder();

  it('starts a daemon whose two controllers run the C core and apply their gains', async () => {
    daemon = new Child('sim/main.js', ['--controllers', 'core', '--port', '0', '--state', state()]);
    for (const unit of ['gimbal', 'chassis'])
      await daemon.line(new RegExp(`"unit":"${unit}","msg":"gains-applied"`));
  });
});
