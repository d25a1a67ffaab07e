import { expect } from 'chai';
import { Child } from '../support/child.js';
import { type Answer, call, inTemporaryFolder } from '../support/daemon.js';

/** `npm run kill-rounds` takes the full count. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4);

/** All that a test started, whatever becomes of it. */
const started: Child[] = [];

/** A robot in a process of its own. */
class Killable {
  readonly child: Child;
  readonly #url: string;

  private constructor(child: Child, url: string) {
    this.child = child;
    this.#url = url;
  }

  static async start(folder: string): Promise<Killable> {
    const child = new Child('sim/main.js', ['--port', '0', '--state', folder]);
    started.push(child);
    return new Killable(child, await child.url());
  }

  get(path: string): Promise<Answer> {
    return call(this.#url, 'GET', path);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return call(this.#url, 'POST', path, body);
  }

  beat(): Promise<Answer> {
    return this.post('/api/match/lease', { holder: 'desk', ttlMs: 1000 });
  }

  async kill(): Promise<void> {
    await this.child.kill('SIGKILL');
  }
}

describe('SIGKILL within a match', function () {
  this.timeout(60_000 + ROUNDS * 20_000);

  afterEach(async () => {
    for (const child of started.splice(0)) await child.kill('SIGKILL');
  });

  it('leaves the lock, however often, until someone takes it away', () =>
    inTemporaryFolder(async folder => {
      let robot = await Killable.start(folder);
      expect((await robot.post('/api/match/lock', { reason: 'inspection' })).status).to.equal(200);
      for (let kills = 0; kills < 2; kills += 1) {
        await robot.kill();
        robot = await Killable.start(folder);
        expect((await robot.get('/api/match')).body.lock.reason).to.equal('inspection');
        expect((await robot.post('/api/resume')).body.code).to.equal('locked');
      }
      expect((await robot.post('/api/match/unlock')).status).to.equal(200);
      await robot.kill();
      robot = await Killable.start(folder);
      expect((await robot.get('/api/match')).body.lock).to.equal(null);
    }));

  it('leaves phase and end, and a robot that stands until the desk is heard and someone resumes', () =>
    inTemporaryFolder(async folder => {
      const before = await Killable.start(folder);
      await before.beat();
      const set = await before.post('/api/match', { id: 'M1', revision: 1, phase: 'auto', remainingS: 600 });
      await before.kill();
      const after = await Killable.start(folder);
      const { body } = await after.get('/api/match');
      expect(body).to.include({ id: 'M1', revision: 1, phase: 'auto', refereeSilent: true });
      expect(body.endsAtT - body.t)
        .to.be.greaterThan(0)
        .and.lessThan(set.body.endsAtT - set.body.t);
      expect((await after.get('/api/status')).body.stopped).to.equal(true);
      expect((await after.post('/api/resume')).body.code).to.equal('referee-silent');
    }));

  it(`loses no lock and no phase that was answered 200, in ${ROUNDS} rounds under load`, () =>
    inTemporaryFolder(async folder => {
      let revision = 0;
      let sent = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const robot = await Killable.start(folder);
        let kept = (await robot.get('/api/match')).body;
        let answers = 0;
        const client = async () => {
          for (;;) {
            sent += 1;
            revision += 1;
            const body = { id: 'M1', revision, phase: sent % 2 === 0 ? 'pre' : 'pause' };
            const answer =
              sent % 3 === 0
                ? await robot.post('/api/match/lock', { reason: String(sent) })
                : await robot.post('/api/match', body);
            if (answer.status === 200) kept = answer.body;
            answers += 1;
            if (answers === 3 + round) robot.child.process.kill('SIGKILL');
          }
        };
        await client().catch(() => undefined);
        await robot.child.exited;
        const next = await Killable.start(folder);
        const found = (await next.get('/api/match')).body;
        // The call that the kill cut off may be in force as well.
        expect(found.revision).to.be.within(kept.revision, revision);
        expect(Number(found.lock?.reason ?? 0)).to.be.at.least(Number(kept.lock?.reason ?? 0));
        revision = Math.max(revision, found.revision);
        await next.kill();
      }
      expect(revision).to.be.greaterThan(ROUNDS);
    }));
});
