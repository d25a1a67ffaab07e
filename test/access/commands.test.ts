import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFile } from '../../src/access/token-file.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { Child } from '../support/child.js';
import { call, inTemporaryFolder } from '../support/daemon.js';
import { skip } from '../support/programs.js';

const FIELD = 'src/main.js';
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

async function trunnion(...args: string[]): Promise<{ exit: number | string; text: string }> {
  const child = new Child(FIELD, args);
  const exit = await child.exited;
  return { exit, text: child.lines.join('\n') };
}

/** As somebody who is not root; where the tests are not run by root, that is whoever runs them. */
function asNobody(...args: string[]): Promise<{ exit: number | string | undefined | null; text: string }> {
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  return new Promise(resolve => {
    execFile(process.execPath, [`dist/${FIELD}`, ...args], user, (error, stdout, stderr) =>
      resolve({ exit: error === null ? 0 : error.code, text: stdout + stderr }),
    );
  });
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
      const [copy = ''] = (await readdir(folder)).filter(name => name.startsWith('tokens.json.damaged-'));
      expect(await readFile(join(folder, copy), 'utf8')).to.equal('{');
    }));

  it('shows no token that is not in the list, however many are added at once', () =>
    inTemporaryFolder(async folder => {
      const names = ['a', 'b', 'c', 'd'];
      const added = await Promise.all(
        names.map(name => trunnion('token', 'add', name, '--role', 'operator', '--state', folder)),
      );
      const shown = names.filter((_, index) => added[index]?.exit === 0);
      const { text } = await trunnion('token', 'list', '--state', folder);
      expect(text.split('\n').map(line => line.split(' ')[0])).to.have.members(shown);
      const refused = added.filter(({ exit }) => exit !== 0);
      for (const { exit, text } of refused)
        expect([exit, text]).to.deep.equal([1, 'Somebody else is changing the tokens: ask again.']);
    }));

  it('changes nothing while another command does', () =>
    inTemporaryFolder(async folder => {
      await trunnion('token', 'add', 'desk', '--role', 'referee', '--state', folder);
      const before = await readFile(tokenFile(folder), 'utf8');
      await writeFile(`${tokenFile(folder)}.lock`, '');
      const lock = new PathLock(`${tokenFile(folder)}.lock`);
      await lock.hold();
      for (const args of [
        ['add', 'x', '--role', 'operator'],
        ['remove', 'desk'],
      ]) {
        const { exit, text } = await trunnion('token', ...args, '--state', folder);
        expect([exit, text]).to.deep.equal([1, 'Somebody else is changing the tokens: ask again.']);
      }
      await lock.release();
      expect(await readFile(tokenFile(folder), 'utf8')).to.equal(before);
    }));

  it('asks for root where somebody else may not look, and advises nothing that takes the folder from the daemon', async function () {
    const { exit: readable } = await asNobody('--version');
    if (readable !== 0) skip(this, 'only root may read this checkout');
    await inTemporaryFolder(async folder => {
      await chmod(folder, 0o000);
      for (const args of [['list'], ['remove', 'desk'], ['add', 'desk', '--role', 'referee']]) {
        const { exit, text } = await asNobody('token', ...args, '--state', folder);
        expect([exit, text]).to.deep.equal([1, 'Only root may do this: sudo trunnion token …\n']);
      }
      const { exit, text } = await asNobody('log', 'verify', join(folder, 'events.jsonl'));
      expect(exit).to.equal(1);
      expect(text).to.include('only root and the daemon may; put sudo before the command');
    });
  });

  describe('as root, with a state folder of somebody else', () => {
    let folder = '';
    before(async function () {
      if (!isRoot) skip(this, 'only root can give a folder to somebody else');
      if ((await asNobody('--version')).exit !== 0) skip(this, 'only root may read this checkout');
    });
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
      await chown(folder, NOBODY, NOBODY);
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('makes, shows and removes tokens as that user, without changing its own user', async () => {
      // Node refuses to change the user of a process that may use io_uring, as Debian's does.
      const refuse =
        "process.setgroups = process.setgid = process.setuid = () => { throw new Error('refused'); }";
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}` };
      const token = async (...args: string[]) => {
        const child = new Child(FIELD, ['token', ...args, '--state', folder], env);
        return { exit: await child.exited, text: child.lines.join('\n') };
      };
      expect((await token('add', 'desk', '--role', 'referee')).exit).to.equal(0);
      expect(await token('add', 'desk', '--role', 'referee')).to.deep.equal({
        exit: 1,
        text: 'There is a token for desk: remove it first.',
      });
      expect(await token('list')).to.deep.equal({ exit: 0, text: 'desk  referee' });
      for (const name of await readdir(folder))
        expect((await stat(join(folder, name))).uid, name).to.equal(NOBODY);
      expect((await token('remove', 'desk')).exit).to.equal(0);
    });

    it('names that user where root made a file that is closed to the daemon', async () => {
      await writeFile(tokenFile(folder), '{}', { mode: 0o600 });
      const { exit, text } = await trunnion('token', 'list', '--state', folder);
      expect(exit).to.equal(1);
      expect(text).to.match(/^The list of tokens cannot be read.* sudo chown -R 65534 /);
      expect(text.match(/chown/g)).to.have.length(1);
      expect(text).not.to.include('cure=');
    });
  });

  for (const args of [
    ['token'],
    ['token', 'add'],
    ['token', 'add', 'x'],
    ['token', 'add', 'x', '--role', 'king'],
    ['token', 'add', '../x', '--role', 'referee'],
    ['token', 'add', '192.168.1.7', '--role', 'referee'],
    ['token', 'add', 'Break Glass', '--role', 'referee'],
    ['token', 'list', 'x'],
    ['stop', 'now'],
    ['stop', '--role'],
  ]) {
    it(`refuses ${args.join(' ')}`, async () => {
      expect((await trunnion(...args, '--state', '/nowhere')).exit).to.equal(2);
    });
  }

  it('changes nothing where there is no folder', async () => {
    const { exit, text } = await trunnion('token', 'add', 'x', '--role', 'referee', '--state', '/nowhere');
    expect([exit, text.includes('mount its disk')]).to.deep.equal([1, true]);
  });

  it('stop says so where there is no daemon', async () => {
    const { exit, text } = await trunnion('stop');
    expect(exit).to.equal(1);
    expect(text).to.include('cut its power');
  });
});
