import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens, tokenFile } from '../../src/access/token-file.js';
import type { DeskView } from '../../src/desk/show.js';
import { verifyRecord } from '../../src/desk/verify.js';
import { realDisk } from '../../src/storage/disk.js';
import { type Child, children } from '../support/child.js';
import { call, temporaryFolder } from '../support/daemon.js';
import { requirePrograms, skip } from '../support/programs.js';

const TOKEN = 'a958-qtpq-xerk-zhhn-2mgm-h9j7-xyqr-arrh';
const NAMES = ['Red 1', 'Red 2', 'Blue 1'];
/** A network namespace, and the cable to it. */
const FAR = `tr-far-${process.pid % 10_000}`;
const LISTENS = /http:\/\/127\.0\.0\.1:\d+/;

describe('a desk with three robots', function () {
  this.timeout(120_000);
  const start = children();
  const temporary = temporaryFolder();
  let robots: Child[] = [];
  let file: string;
  let url: string;
  let desk: Child;
  let presses = 0;

  const startDesk = async () => {
    desk = start('src/desk/main.js', [file, '--port', '0', '--state', join(temporary(), 'desk')]);
    url = (await desk.line(LISTENS))[0];
  };
  const view = async (): Promise<DeskView> => (await call(url, 'GET', '/api/status?page=true')).body;
  const press = async (path: string, more: object = {}) => {
    presses += 1;
    const answer = await call(url, 'POST', path, { press: `P${presses}`, ...more });
    expect(answer.status, JSON.stringify(answer.body).slice(0, 400)).to.equal(200);
  };
  /** Polls as a page does until the view is as wanted. */
  const until = async (isWanted: (view: DeskView) => boolean) => {
    for (let times = 0; times < 200; times += 1) {
      if (isWanted(await view())) return;
      await wait(100);
    }
    throw new Error(JSON.stringify(await view()));
  };
  const phases = (view: DeskView) => view.robots.map(({ phase }) => phase);

  const newState = (name: string) => {
    const state = join(temporary(), name);
    mkdirSync(state);
    writeFileSync(tokenFile(state), encodeTokens([{ name: 'desk', role: 'referee', hash: hashOf(TOKEN) }]));
    return state;
  };

  beforeEach(async () => {
    robots = NAMES.map(name => start('sim/main.js', ['--port', '0', '--state', newState(name)]));
    const listed = await Promise.all(
      robots.map(async (robot, place) => {
        const [address] = await robot.line(LISTENS);
        return { name: NAMES[place], address, token: TOKEN };
      }),
    );
    file = join(temporary(), 'field.yaml');
    const matches = [{ id: 'final', robots: NAMES, auto: 15, teleop: 600 }];
    writeFileSync(file, JSON.stringify({ robots: listed, matches }), { mode: 0o600 });
    await startDesk();
  });

  it('that is killed in the phase "auto" continues the match after a restart, and its match record lacks only the log of a lost robot', async () => {
    await until(({ robots }) => robots.every(({ heard }) => heard));
    // A lock is never too late, and each button has press ids of its own.
    await press('/api/lock', { press: 'same', notAfterT: 0 });
    await until(({ lock }) => lock?.confirmed === 3);
    await press('/api/unlock', { press: 'same' });
    await until(({ robots }) => robots.every(({ lock }) => lock === null));
    await press('/api/match/load', { match: 'final' });
    await until(({ match }) => match?.lacks.length === 0);
    await press('/api/match/start');
    await until(one => phases(one).every(phase => phase === 'auto'));
    const { t: killedT } = await view();
    desk.process.kill('SIGKILL');
    await desk.exited;
    const records = join(temporary(), 'desk', 'records');
    // A run that was killed just after Load has left this one.
    mkdirSync(join(records, 'older-20260101T000000000Z', 'robots'), { recursive: true });
    await startDesk();
    // A press that a page dated for the killed run is not dated into the future of this one.
    expect((await view()).t).to.be.above(killedT);
    await until(one => one.match?.phase === 'teleop' && phases(one).every(phase => phase === 'teleop'));
    expect((await view()).robots.map(({ missed }) => missed)).to.deep.equal([null, null, null]);
    // The last robot is lost before the end.
    robots[2]?.process.kill('SIGKILL');
    await until(({ robots }) => robots[2]?.heard === false);
    const remaining = (view: DeskView) => phases(view).slice(0, 2);
    await press('/api/match/end');
    await until(one => remaining(one).every(phase => phase === 'ended'));
    await press('/api/match/release');
    await until(one => remaining(one).every(phase => phase === 'none'));
    const sealed = (id: string) =>
      readdirSync(records).find(name => name.startsWith(id) && /-[0-9a-f]{16}$/.test(name));
    expect(sealed('older')).to.not.equal(undefined);
    while (sealed('final') === undefined) await wait(200);
    const verdicts = await verifyRecord(realDisk, join(records, sealed('final') ?? ''));
    expect(verdicts.map(({ of, is }) => `${of} ${is}`)).to.deep.equal([
      'desk whole',
      'Blue 1 missing',
      'Red 1 whole',
      'Red 2 whole',
    ]);
  });

  it('locks all three while an added fourth robot is unplugged, and locks the fourth when its cable is plugged in again', async function () {
    requirePrograms(this, 'ip');
    const ip = (words: string) => spawnSync('ip', words.split(' ')).status === 0;
    const isMade =
      ip(`netns add ${FAR}`) &&
      ip(`link add ${FAR} type veth peer name eth0 netns ${FAR}`) &&
      ip(`address add 198.51.100.1/30 dev ${FAR}`) &&
      ip(`-n ${FAR} address add 198.51.100.2/30 dev eth0`) &&
      ip(`-n ${FAR} link set eth0 up`) &&
      ip(`link set ${FAR} up`);
    const serve = [process.execPath, 'dist/sim/main.js', '--host', '0.0.0.0', '--state', newState('far')];
    const robot = isMade ? spawn('ip', ['netns', 'exec', FAR, ...serve], { stdio: 'ignore' }) : undefined;
    try {
      if (!isMade) skip(this, 'no network namespace with a cable can be made here');
      await press('/api/robots/add', { name: 'Far', link: `http://198.51.100.2:8080/#token=${TOKEN}` });
      await until(({ robots }) => robots.length === 4 && robots.every(({ heard }) => heard));
      ip(`link set ${FAR} down`);
      await until(({ robots }) => robots.some(({ heard }) => !heard));
      await press('/api/lock');
      await until(({ lock }) => lock?.confirmed === 3);
      expect((await view()).robots.map(({ heard }) => heard)).to.deep.equal([true, true, true, false]);
      ip(`link set ${FAR} up`);
      await until(({ lock }) => lock?.confirmed === 4);
    } finally {
      robot?.kill('SIGKILL');
      ip(`link delete ${FAR}`);
      ip(`netns delete ${FAR}`);
    }
  });
});
