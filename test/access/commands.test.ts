import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFile } from '../../src/access/token-file.js';
import { Child } from '../support/child.js';
import { call, inTemporaryFolder } from '../support/daemon.js';

const FIELD = 'src/main.js';

async function trunnion(...args: string[]): Promise<{ exit: number | string; text: string }> {
  const child = new Child(FIELD, args);
  const exit = await child.exited;
  return { exit, text: child.lines.join('\n') };
}

describe('trunnion token', function () {
  this.timeout(60_000);

  it('closes a running robot, and opens it again with the last one', () =>
    inTemporaryFolder(async folder => {
      const state = join(folder, 'state');
      const daemon = new Child('sim/main.js', ['--port', '0', '--state', state]);
      try {
        const url = await daemon.url();
        const add = await trunnion('token', 'add', 'desk', '--role', 'referee', '--state', state);
        expect(add.exit).to.equal(0);
        const [secret = ''] = /^[0-9a-z]{4}(-[0-9a-z]{4}){7}$/m.exec(add.text) ?? [];
        expect(add.text).to.include(`#token=${secret}`);
        const status = (token?: string) =>
          call(url, 'GET', '/api/status', undefined, token ? { authorization: `Bearer ${token}` } : {});
        expect((await status()).status).to.equal(401);
        expect((await status(secret)).status).to.equal(200);
        expect((await trunnion('token', 'list', '--state', state)).text).to.equal('desk  referee');
        expect(
          (await trunnion('token', 'add', 'desk', '--role', 'operator', '--state', state)).exit,
        ).to.equal(1);
        const remove = await trunnion('token', 'remove', 'desk', '--state', state);
        expect(remove.text).to.include('open to everyone');
        expect((await status()).status).to.equal(200);
      } finally {
        await daemon.kill('SIGTERM');
      }
    }));

  it('does not say of a list that is gone that the robot is open', () =>
    inTemporaryFolder(async folder => {
      for (const args of [['list'], ['remove', 'desk']]) {
        const { text } = await trunnion('token', ...args, '--state', folder);
        expect(text, args[0])
          .to.include('A daemon that has read one keeps to it')
          .and.include('unless access.required');
      }
    }));

  it('begins a new list where the old one is damaged, and says so', () =>
    inTemporaryFolder(async folder => {
      await trunnion('token', 'add', 'desk', '--role', 'referee', '--state', folder);
      await writeFile(tokenFile(folder), '{');
      expect((await trunnion('token', 'list', '--state', folder)).exit).to.equal(1);
      const { exit, text } = await trunnion('token', 'add', 'new', '--role', 'referee', '--state', folder);
      expect([exit, text.includes('damaged')]).to.deep.equal([0, true]);
      expect((await readFile(tokenFile(folder), 'utf8')).includes('desk')).to.equal(false);
    }));

  for (const args of [
    ['token'],
    ['token', 'add'],
    ['token', 'add', 'x'],
    ['token', 'add', 'x', '--role', 'king'],
    ['token', 'add', '../x', '--role', 'referee'],
    ['token', 'list', 'x'],
    ['stop', 'now'],
    ['stop', '--role'],
  ]) {
    it(`refuses ${args.join(' ')}`, async () => {
      expect((await trunnion(...args, '--state', '/nowhere')).exit).to.equal(2);
    });
  }

  it('stop says so where there is no daemon', async () => {
    const { exit, text } = await trunnion('stop');
    expect(exit).to.equal(1);
    expect(text).to.include('Cut the power');
  });
});
