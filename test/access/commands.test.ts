import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { READ_AGAIN_MS } from '../../src/access/access.js';
import { simulatorSocket } from '../../src/access/root-socket.js';
import { tokenFile } from '../../src/access/token-file.js';
import { saidOf } from '../../src/command/command.js';
import {
  addToken,
  listTokens,
  removeToken,
  robotTokens,
  type TokenPlace,
} from '../../src/command/token-command.js';
import { loadConfig } from '../../src/config/config.js';
import { type Clock, systemClock } from '../../src/core/clock.js';
import { deskTokens } from '../../src/desk/desk-program.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { Child } from '../support/child.js';
import { eventually, inTemporaryFolder, temporaryFolder } from '../support/daemon.js';
import { requirePrograms, skip } from '../support/programs.js';

const FIELD = 'src/main.js';
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Said {
  readonly exit: number | string | undefined | null;
  readonly text: string;
}

/** Runs the program as this user. If root does not run the tests, the user is the current one. */
function asUser(id: number, ...args: string[]): Promise<Said> {
  const user = isRoot ? { uid: id, gid: id } : {};
  return new Promise(resolve => {
    execFile(process.execPath, [`dist/${FIELD}`, ...args], user, (error, stdout, stderr) =>
      resolve({ exit: error === null ? 0 : error.code, text: stdout + stderr }),
    );
  });
}

const asNobody = (...args: string[]) => asUser(NOBODY, ...args);

/** Skips a test if other users than root cannot run the program. */
async function requireNobody(context: Context): Promise<void> {
  if ((await asNobody('--version')).exit !== 0) skip(context, 'only root may read this checkout');
}

describe('the command', () => {
  const waitedMs: number[] = [];
  /** Every wait ends at once. */
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, act) => {
      waitedMs.push(delayMs);
      return systemClock.after(0, act);
    },
  };
  const placeOf = (state: string, host = '127.0.0.1'): TokenPlace => {
    const config = loadConfig(undefined, {}, { host, state });
    return robotTokens({ socket: join(state, 'none'), isSimulated: false }, config, clock);
  };
  const inPlace = (act: (place: TokenPlace, folder: string) => Promise<void>) =>
    inTemporaryFolder(folder => act(placeOf(folder), folder));

  before(function () {
    requirePrograms(this, 'flock');
  });

  it('`trunnion token` adds, lists and removes tokens, and waits after each change, so that a running daemon can read the list', () =>
    inPlace(async (place, folder) => {
      const { exitCode, text } = await addToken(place, 'desk', 'referee');
      const [secret = ''] = /^[0-9a-z]{4}(-[0-9a-z]{4}){7}$/m.exec(text) ?? [];
      expect([exitCode, text.includes(`#token=${secret}`)]).to.deep.equal([0, true]);
      expect((await listTokens(place)).text).to.equal('desk  referee');
      expect((await addToken(place, 'desk', 'operator')).exitCode).to.equal(3);
      expect((await removeToken(place, 'desk')).text).to.include('open to everyone');
      expect(waitedMs).to.deep.equal([2 * READ_AGAIN_MS, 2 * READ_AGAIN_MS]);
      await rm(tokenFile(folder));
      for (const { text } of [await listTokens(place), await removeToken(place, 'desk')])
        expect(text).to.include('A running daemon keeps the list').and.include('unless access.required');
    }));

  it('`trunnion token add` replaces a damaged list of tokens with a new list, says so, and keeps a copy of the damaged list', () =>
    inPlace(async (place, folder) => {
      await addToken(place, 'desk', 'referee');
      await writeFile(tokenFile(folder), '{');
      expect(await listTokens(place).catch(error => error.code)).to.equal('access-unavailable');
      const { exitCode, text } = await addToken(place, 'new', 'referee');
      expect([exitCode, text.includes('damaged')]).to.deep.equal([0, true]);
      expect(await readFile(tokenFile(folder), 'utf8')).to.not.include('desk');
      const [copy = ''] = (await readdir(folder)).filter(name => name.startsWith('tokens.json.damaged-'));
      expect(await readFile(join(folder, copy), 'utf8')).to.equal('{');
    }));

  it('`trunnion token` refuses to change the list of tokens while another command changes it, so that no added token is lost', () =>
    inPlace(async (place, folder) => {
      const refusal = { exitCode: 3, text: 'Another command is changing the tokens: try again.' };
      const names = ['a', 'b', 'c', 'd'];
      const added = await Promise.all(names.map(name => addToken(place, name, 'operator')));
      const shown = names.filter((_, index) => added[index]?.exitCode === 0);
      const listed = (await listTokens(place)).text.split('\n').map(line => line.split(' ')[0]);
      expect(listed).to.have.members(shown);
      for (const said of added) if (said.exitCode !== 0) expect(said).to.deep.equal(refusal);
      const before = await readFile(tokenFile(folder), 'utf8');
      const lock = new PathLock(`${tokenFile(folder)}.lock`);
      await lock.hold();
      expect(await addToken(place, 'x', 'operator')).to.deep.equal(refusal);
      expect(await removeToken(place, 'a')).to.deep.equal(refusal);
      await lock.release();
      expect(await readFile(tokenFile(folder), 'utf8')).to.equal(before);
    }));

  for (const [what, name, role] of [
    ['without a role', 'x', undefined],
    ['with the unknown role "king"', 'x', 'king'],
    ['with a slash in the name: "../x"', '../x', 'referee'],
    ['with an IP address as the name: "192.168.1.7"', '192.168.1.7', 'referee'],
    ['with the reserved name "Break Glass"', 'Break Glass', 'referee'],
    ['with the reserved name "root"', 'root', 'referee'],
    ['with a space at the end of the name: "desk "', 'desk ', 'referee'],
  ] as const)
    it(`\`trunnion token add\` refuses a token ${what}`, async () => {
      expect((await addToken(placeOf('/nowhere'), name, role)).exitCode).to.equal(2);
    });

  for (const [host, page, named] of [
    ['::1', 'http://[::1]:8080', 'the address [::1]'],
    ['127.0.0.2', 'http://127.0.0.2:8080', 'the address 127.0.0.2'],
    ['0.0.0.0', `http://${hostname()}.local:8080`, "the computer's host name"],
  ] as const)
    it(`\`trunnion token add\` prints a login link with ${named} if the daemon is configured to listen on ${host}`, () =>
      inTemporaryFolder(async state => {
        const { text } = await addToken(placeOf(state, host), 'desk', 'referee');
        expect(text).to.contain(`configuration): ${page}/#token=`);
      }));

  it('`trunnion-desk token` adds, lists and removes tokens of the referee desk, but refuses the role "operator"', () =>
    inTemporaryFolder(async folder => {
      const desk = deskTokens(folder, clock);
      const refused = await addToken(desk, 'ann', 'operator');
      expect(refused.text).to.equal('--role must be one of referee, spectator');
      const { text } = await addToken(desk, 'tablet', 'referee');
      expect(text).to.match(/The desk is closed to everyone without a token.\nPage .*:8090\/#token=\S+$/);
      expect((await listTokens(desk)).text).to.equal('tablet  referee');
      const removed = await removeToken(desk, 'tablet');
      expect(removed.text).to.include('the desk is now open to everyone, unless its host');
      expect((await listTokens(deskTokens(join(folder, 'none'), clock))).text).to.include('start the desk');
    }));

  for (const [what, occupied] of [
    ['the lock file of the list cannot be opened', '.lock'],
    ['the new list cannot be written', '.new'],
  ] as const)
    it(`\`trunnion token\` leaves the list of tokens unchanged, and says so, if ${what}`, () =>
      inPlace(async (place, folder) => {
        await addToken(place, 'desk', 'referee');
        const path = `${tokenFile(folder)}${occupied}`;
        await rm(path, { force: true });
        await mkdir(path);
        for (const change of [() => addToken(place, 'ann', 'operator'), () => removeToken(place, 'desk')]) {
          const { exitCode, text } = await change().catch(saidOf);
          expect(exitCode).to.equal(1);
          expect(text).to.match(/^The change could not be kept on disk, so nothing was changed\./);
        }
        expect((await listTokens(place)).text).to.equal('desk  referee');
      }));

  it('`trunnion token add` fails with exit code 1 if the state folder is missing, and advises the user to mount the disk', async () => {
    const { exitCode, text } = await addToken(placeOf('/nowhere'), 'x', 'referee');
    expect([exitCode, text.includes('mount its disk')]).to.deep.equal([1, true]);
  });

  it('`trunnion token` prints only the advice to use `sudo` if the user is not allowed to read the state folder', async function () {
    await requireNobody(this);
    await inTemporaryFolder(async folder => {
      await chmod(folder, 0o000);
      for (const state of [folder, join(folder, 'inner')])
        for (const args of [['list'], ['add', 'desk', '--role', 'referee']]) {
          const { exit, text } = await asNobody('token', ...args, '--state', state);
          expect([exit, text]).to.deep.equal([3, 'Only root may do this: sudo trunnion token …\n']);
        }
      const { exit, text } = await asNobody('log', 'verify', join(folder, 'events.jsonl'));
      expect(exit).to.equal(3);
      expect(text).to.include('sudo trunnion log verify');
    });
  });

  it('`trunnion doctor` works for a user id that has no user name', async function () {
    await requireNobody(this);
    const { text } = await asUser(54_321, 'doctor');
    expect(text)
      .to.match(/^fine +node /)
      .and.not.match(/\n +at /);
  });

  it('`trunnion token add` shows the new token even if Ctrl-C is pressed after the token is stored', () =>
    inTemporaryFolder(async folder => {
      const command = new Child(FIELD, ['token', 'add', 'desk', '--role', 'referee', '--state', folder]);
      await eventually(async () => (await readdir(folder)).includes('tokens.json'));
      expect(await command.kill('SIGINT')).to.equal(0);
      expect(command.lines.join()).to.match(/[0-9a-z]{4}(-[0-9a-z]{4}){7}/);
    }));

  it('`trunnion stop` does not advise `sudo` if the socket of the simulated robot belongs to another user', async function () {
    await requireNobody(this);
    await inTemporaryFolder(async folder => {
      const socket = simulatorSocket(folder);
      const other = createServer().listen(socket);
      await once(other, 'listening');
      await chmod(socket, 0o000);
      const { exit, text } = await asNobody('stop', '--simulated', '--state', folder);
      other.close();
      expect([exit, text]).to.deep.equal([3, 'The simulated robot belongs to another user.\n']);
    });
  });

  describe("`trunnion token`, run by root on another user's state folder,", () => {
    const folder = temporaryFolder();
    // Node refuses to change the user of a process that may use io_uring, as Debian's Node does.
    const refuse =
      "process.setgroups = process.setgid = process.setuid = () => { throw new Error('refused'); }";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}` };
    const token = async (...args: string[]) => {
      const child = new Child(FIELD, ['token', ...args, '--state', folder()], env);
      return { exit: await child.exited, text: child.lines.join('\n') };
    };
    before(async function () {
      if (!isRoot) skip(this, 'only root can give a folder to somebody else');
      requirePrograms(this, 'setpriv');
      await requireNobody(this);
    });
    beforeEach(() => chown(folder(), NOBODY, NOBODY));

    it('creates only files that belong to that user, even if Node.js cannot drop the rights of root', async () => {
      expect((await token('add', 'desk', '--role', 'referee')).exit).to.equal(0);
      expect(await token('add', 'desk', '--role', 'referee')).to.deep.equal({
        exit: 3,
        text: 'There is a token for desk: remove it first.',
      });
      expect(await token('list')).to.deep.equal({ exit: 0, text: 'desk  referee' });
      for (const name of await readdir(folder()))
        expect((await stat(join(folder(), name))).uid, name).to.equal(NOBODY);
      expect((await token('remove', 'desk')).exit).to.equal(0);
    });

    it('advises `chown` if the token list belongs to root', async () => {
      await writeFile(tokenFile(folder()), '{}', { mode: 0o600 });
      const { exit, text } = await token('list');
      expect(exit).to.equal(1);
      expect(text).to.match(/^The list of tokens cannot be read.* sudo chown -R 65534 /);
      expect(text.match(/chown/g)).to.have.length(1);
      expect(text).not.to.include('cure=');
    });
  });
}).timeout(180_000);
