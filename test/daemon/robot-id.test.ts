import { expect } from 'chai';
import { ClockedDaemon, type Settings } from '../support/clocked-daemon.js';

describe('the id of a robot', () => {
  /** The id that a daemon with this state folder shows, and the files that it leaves. */
  const shown = async (settings: Settings = {}) => {
    const daemon = await ClockedDaemon.start(settings);
    const { id } = await daemon.bodyOf('GET /healthz');
    expect((await daemon.bodyOf('GET /api/status')).id).to.equal(id);
    await daemon.close();
    return { id, files: daemon.files() };
  };

  it('is created at the first start, and stays the same in later runs with the same state folder', async () => {
    const first = await shown();
    expect(first.id).to.match(/^[0-9a-f]{16}$/);
    expect((await shown({ files: first.files })).id).to.equal(first.id);
    expect((await shown()).id).not.to.equal(first.id);
  });

  it('is replaced by a new one if its file is damaged, but is shown as `null` if its file cannot be read', async () => {
    const { id, files } = await shown({ files: { 'robot-id': 'torn' } });
    expect(id).to.match(/^[0-9a-f]{16}$/);
    expect((await shown({ files })).id).to.equal(id);
    expect((await shown({ files, diskFails: ['read'] })).id).to.equal(null);
  });

  it('is shown without a restart as soon as its file can be read, even if the file could not be read when the daemon started', async () => {
    const { id, files } = await shown();
    const daemon = await ClockedDaemon.start({ files, diskFails: ['read'] });
    daemon.diskFails([]);
    await daemon.wait(1000);
    expect(await daemon.bodyOf('GET /healthz')).to.include({ id });
    await daemon.close();
  });
});
