import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { READ_AGAIN_MS } from '../access/access.js';
import { boardOf } from '../access/board.js';
import { ROLE_NAMES, type Role } from '../access/roles.js';
import { boardStatusAt, simulatorSocket } from '../access/root-socket.js';
import { hashOf, isNewTokenName, isReservedName, newSecret, type Token } from '../access/token.js';
import { readTokens, tokenFile, writeTokens } from '../access/token-file.js';
import type { Config } from '../config/settings.js';
import { type Clock, pause } from '../core/clock.js';
import { errnoOf, isRobotError, valueOr } from '../core/errors.js';
import { parsedJson } from '../core/json.js';
import { urlOf } from '../daemon/port.js';
import { realDisk, refusal } from '../storage/disk.js';
import { damagedCopy, replaceFile } from '../storage/durable-file.js';
import { PathLock } from '../storage/path-lock.js';
import { done, type ExitCode, failed, refused, type Said, wrong } from './command.js';
import type { Place } from './place.js';
import { qrCode } from './qr-code.js';
import { SIMULATED } from './root-commands.js';

/** The robot or the desk whose tokens a command reads or changes. */
export interface TokenPlace {
  readonly program: keyof typeof WORDS;
  readonly folder: string;
  readonly clock: Clock;
  readonly isSimulated: boolean;
  /** The address of its page, with a note if this is not known for certain. */
  page(): Promise<{ readonly url: string; readonly note?: string }>;
}

const WORDS = {
  trunnion: {
    robot: 'robot',
    daemon: 'daemon',
    open: 'open to everyone, unless access.required is true',
    roles: ROLE_NAMES,
  },
  'trunnion-desk': {
    robot: 'desk',
    daemon: 'desk',
    open: 'open to everyone, unless its host is an address for tablets',
    roles: ['referee', 'spectator'],
  },
} as const satisfies Readonly<Record<string, { roles: readonly Role[]; [word: string]: unknown }>>;

const noList = ({
  program,
}: TokenPlace) => `There is no list of tokens: the ${WORDS[program].robot} is ${WORDS[program].open}.
A running ${WORDS[program].daemon} keeps the list that it has read, and writes it again if it was deleted. If it says that its state folder is lost, it\nis closed: bring the folder back.`;

/**
 * `trunnion token add`. Rejects with `access-unavailable` or `storage-failed`. The other token commands do the same.
 */
export async function addToken(
  place: TokenPlace,
  name: string,
  role: string | undefined,
  hasCode = false,
): Promise<Said> {
  if (!isNewTokenName(name))
    return wrong(
      'token add takes a name of at most 40 letters (A-Z), digits, dots, dashes and spaces, without a space at its end',
    );
  if (isReservedName(name))
    return wrong(`the log uses ${name} for callers without a token: take another name`);
  const roles: readonly Role[] = WORDS[place.program].roles;
  const known = roles.find(one => one === role);
  if (known === undefined) return wrong(`--role must be one of ${roles.join(', ')}`);
  return inFolder(place, () =>
    uninterrupted(() => changed(place, () => add(place, { name, role: known, hasCode }))),
  );
}

export async function listTokens(place: TokenPlace): Promise<Said> {
  return inFolder(place, async () => {
    const tokens = await readTokens(realDisk, place.folder);
    const shown = tokens?.map(({ name, role }) => ({ name, role })) ?? null;
    const json = { ok: true, simulated: place.isSimulated, tokens: shown };
    return { text: listed(place, tokens), exitCode: 0, json };
  });
}

export async function removeToken(place: TokenPlace, name: string): Promise<Said> {
  return inFolder(place, () => changed(place, () => remove(place, name)));
}

/** Runs the command as the folder's owner. */
async function inFolder(place: TokenPlace, run: () => Promise<Said>): Promise<Said> {
  const { folder, program } = place;
  try {
    // A terminal sends the same signals to the command of the owner, which decides.
    const asOwner = await uninterrupted(() => runAsOwnerOf(folder));
    if (asOwner !== undefined) return asOwner;
    const said = await run();
    return place.isSimulated ? { ...said, text: `${said.text}\n${SIMULATED}` } : said;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? ''))
      return failed(
        `There is no folder ${folder}: start the ${WORDS[program].daemon}, which makes the folder, or mount its disk.`,
      );
    if (isForbidden(error) && !isOwnerOf(folder))
      return refused(`Only root may do this: sudo ${program} token …`);
    throw error;
  }
}

/** Whether the error or one of its causes is a missing permission. */
function isForbidden(error: unknown): boolean {
  return errnoOf(error) === 'EACCES' || (error instanceof Error && isForbidden(error.cause));
}

function isOwnerOf(folder: string): boolean {
  return valueOr(() => statSync(folder).uid === process.getuid?.(), false);
}

async function add(
  place: TokenPlace,
  { name, role, hasCode }: { name: string; role: Role; hasCode: boolean },
): Promise<Said> {
  const { folder } = place;
  const { tokens, note } = await usableTokens(folder);
  if (tokens.some(token => token.name === name)) {
    return refused(`There is a token for ${name}: remove it first.`);
  }
  const secret = newSecret();
  await writeTokens(realDisk, folder, [...tokens, { name, role, hash: hashOf(secret) }]);
  const { url, note: noteOfPage = '' } = await place.page();
  const link = `${url}/#token=${secret}`;
  const text = `${note}${secret}

This token for ${name} (${role}) is shown only now. The ${WORDS[place.program].robot} is closed to everyone without a token.
Page${noteOfPage}: ${link}${hasCode ? `\n\n${qrCode(link) ?? 'The link is too long for a QR code.'}` : ''}`;
  const json = { ok: true, simulated: place.isSimulated, name, role, token: secret, link };
  return { text, exitCode: 0, json };
}

/** The tokens of a robot. */
export function robotTokens(
  { socket, isSimulated }: Place,
  config: Pick<Config, 'state' | 'http'>,
  clock: Clock,
): TokenPlace {
  const { folder } = config.state;
  return { program: 'trunnion', folder, clock, isSimulated, page: () => pageOf(config, socket) };
}

/**
 * The address of a robot's page. If the folder's daemon runs, its real port is known, which may differ from the configured
 * one. Without `--simulated`, the folder may be that of a simulated robot.
 */
async function pageOf(config: Pick<Config, 'state' | 'http'>, socket: string) {
  const { folder } = config.state;
  const sockets = [socket, simulatorSocket(folder)];
  const answers = await Promise.all(sockets.map(boardStatusAt));
  const board = answers.map(boardOf).find(one => one?.stateFolder === resolve(folder));
  const { host, port } = board ?? config.http;
  const isAny = host === '0.0.0.0' || host === '::';
  return {
    url: urlOf({ address: isAny ? `${hostname()}.local` : host, port }),
    note: board === undefined ? ' (no daemon answers; this is the address in the configuration)' : '',
  };
}

/**
 * The existing tokens. A damaged list is copied and counts as empty. Rejects if a newer version wrote the list, or if
 * the list cannot be read.
 */
async function usableTokens(folder: string): Promise<{ tokens: readonly Token[]; note: string }> {
  try {
    return { tokens: (await readTokens(realDisk, folder)) ?? [], note: '' };
  } catch (error) {
    if (!isRobotError(error, 'access-unavailable')) throw error;
    if (error.context.isNewer || error.context.isUnread) throw error;
    const path = tokenFile(folder);
    const content = (await realDisk.read(path)) ?? Buffer.alloc(0);
    const copy = damagedCopy(path, content);
    await replaceFile(realDisk, copy, [content]);
    const note = `The list of tokens was damaged, and its tokens are void. This is a new list; the old one is kept as ${copy}.\n\n`;
    return { tokens: [], note };
  }
}

async function remove(place: TokenPlace, name: string): Promise<Said> {
  const { folder } = place;
  const tokens = await readTokens(realDisk, folder);
  if (tokens === undefined) return failed(noList(place));
  const left = tokens.filter(token => token.name !== name);
  if (left.length === tokens.length) return failed(`There is no token for ${name}.`);
  await writeTokens(realDisk, folder, left);
  const { robot, open: isOpen } = WORDS[place.program];
  const open = `That was the last one: the ${robot} is now ${isOpen}.`;
  return done(`The token for ${name} is void.${left.length === 0 ? ` ${open}` : ''}`);
}

function listed(place: TokenPlace, tokens: readonly Token[] | undefined): string {
  if (tokens === undefined) return noList(place);
  const { robot, open } = WORDS[place.program];
  if (tokens.length === 0) return `There are no tokens: the ${robot} is ${open}.`;
  const width = Math.max(...tokens.map(({ name }) => name.length));
  return tokens.map(({ name, role }) => `${name.padEnd(width)}  ${role}`).join('\n');
}

/** Runs to its end even if Ctrl-C is pressed or the terminal closes: a secret that is in force must be shown. */
async function uninterrupted<T>(run: () => Promise<T>): Promise<T> {
  const ignore = () => undefined;
  const signals = ['SIGINT', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, ignore);
  try {
    return await run();
  } finally {
    for (const signal of signals) process.off(signal, ignore);
  }
}

/** Runs one change at a time. The daemon has read the new list when this resolves. */
async function changed({ folder, clock }: TokenPlace, change: () => Promise<Said>): Promise<Said> {
  const path = `${tokenFile(folder)}.lock`;
  const lock = new PathLock(path);
  try {
    await (await realDisk.create(path)).close();
    await lock.hold();
    const said = await change();
    if (said.exitCode === 0) await pause(clock, 2 * READ_AGAIN_MS);
    return said;
  } catch (error) {
    if (isRobotError(error, 'storage-failed') && error.context.mayRemain === undefined)
      throw refusal(error, false);
    if (!isRobotError(error, 'state-in-use')) throw error;
    return refused('Another command is changing the tokens: try again.');
  } finally {
    await lock.release();
  }
}

/**
 * If root runs this command and another user owns the folder, runs the command again as that user. Otherwise resolves
 * with undefined. Root must not write there: the owner could not use root's files, and could redirect root with links.
 */
async function runAsOwnerOf(folder: string): Promise<Said | undefined> {
  const owner = statSync(folder);
  if (process.getuid?.() !== 0 || owner.uid === 0) return undefined;
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return new Promise(resolve => {
    execFile('setpriv', [...user, '--', ...again], (error, stdout, stderr) => {
      const text = (stdout + stderr).trimEnd();
      // With `--json` the output is JSON already.
      const said = { text, json: parsedJson(text) };
      if (error === null) resolve({ ...said, exitCode: 0 });
      else if (errnoOf(error) !== 'ENOENT') resolve({ ...said, exitCode: exitCodeOf(error.code) });
      else resolve({ text: 'Install the program setpriv: sudo apt install util-linux.', exitCode: 1 });
    });
  });
}

function exitCodeOf(code: unknown): ExitCode {
  return ([2, 3, 4] as const).find(one => one === code) ?? 1;
}
