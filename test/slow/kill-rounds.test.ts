import { expect } from 'chai';
import { Child } from '../support/child.js';
import { call, inTemporaryFolder } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';

/** KILL_ROUNDS sets another count. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4);
const CLIENTS = 4;

/** All that a test started, whatever becomes of it. */
const started: Child[] = [];

/** A robot in a process of its own. */
class Killable {
  readonly #child: Child;
  readonly #url: string;
  #answers = 0;

  private constructor(child: Child, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start(folder: string): Promise<Killable> {
    const child = new Child('sim/main.js', ['--port', '0', '--state', folder]);
    started.push(child);
    return new Killable(child, await child.url());
  }

  async get(path: string) {
    return (await call(this.#url, 'GET', path)).body;
  }

  async post(path: string, body?: unknown) {
    const answer = await call(this.#url, 'POST', path, body);
    this.#answers += 1;
    return answer;
  }

  /** Calls again and again until the robot is gone. It is killed after so many answers. */
  async load(clients: readonly (() => Promise<void>)[], answers: number): Promise<void> {
    this.#answers = 0;
    const client = async (act: () => Promise<void>) => {
      for (;;) {
        await act();
        if (this.#answers === answers) this.#child.process.kill('SIGKILL');
      }
    };
    await Promise.allSettled(clients.map(client));
    await this.#child.exited;
  }

  async kill(): Promise<void> {
    await this.#child.kill('SIGKILL');
  }
}

describe(`SIGKILL, ${ROUNDS} rounds under load`, function () {
  this.timeout(60_000 + ROUNDS * 20_000);

  afterEach(async () => {
    for (const child of started.splice(0)) await child.kill('SIGKILL');
  });

  it('loses no save that was answered 200', () =>
    inTemporaryFolder(async folder => {
      const acknowledged: { readonly unit: string; readonly kp: number }[] = [];
      let sent = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const robot = await Killable.start(folder);
        const clients = Array.from({ length: CLIENTS }, (_, index) => {
          const unit = index % 2 ? 'gimbal' : 'chassis';
          return async () => {
            const gains = await robot.get(`/api/${unit}/pidconfig`);
            sent += 1;
            const kp = sent / 8;
            Object.values<{ kp: number }>(gains)[0]!.kp = kp;
            const { status } = await robot.post(`/api/${unit}/pidconfig`, gains);
            if (status === 200) acknowledged.push({ unit, kp });
          };
        });
        await robot.load(clients, 3 + (round % 11));
        const next = await Killable.start(folder);
        await eventually(async () => {
          const { gimbal, chassis } = await next.get('/sim/state');
          return Boolean(gimbal.gains && chassis.gains);
        });
        const truth = await next.get('/sim/state');
        for (const unit of ['gimbal', 'chassis']) {
          const firstKp = (gains: object): number => Object.values<{ kp: number }>({ ...gains })[0]!.kp;
          const history = await next.get(`/api/${unit}/pidconfig/history?limit=1000`);
          const kps = history.map(({ gains }: { gains: object }) => firstKp(gains));
          const expected = acknowledged.filter(save => save.unit === unit).map(({ kp }) => kp);
          expect(kps).to.include.members(expected.slice(-900));
          const current = firstKp(await next.get(`/api/${unit}/pidconfig`));
          if (kps.length > 0) expect(current).to.equal(kps[0]);
          expect(firstKp(truth[unit].gains)).to.equal(Math.fround(current));
        }
        await next.kill();
      }
      expect(acknowledged.length).to.be.greaterThan(ROUNDS);
    }));

  it('loses no lock and no phase that was answered 200', () =>
    inTemporaryFolder(async folder => {
      let revision = 0;
      let sent = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const robot = await Killable.start(folder);
        let kept = await robot.get('/api/match');
        const client = async () => {
          sent += 1;
          revision += 1;
          const phase = { id: 'M1', revision, phase: sent % 2 === 0 ? 'pre' : 'pause' };
          const lock = sent % 3 === 0;
          const answer = await robot.post(
            `/api/match${lock ? '/lock' : ''}`,
            lock ? { reason: String(sent) } : phase,
          );
          if (answer.status === 200) kept = answer.body;
        };
        await robot.load([client], 3 + round);
        const next = await Killable.start(folder);
        const found = await next.get('/api/match');
        // The call that the kill cut off may be in force as well.
        expect(found.revision).to.be.within(kept.revision, revision);
        expect(Number(found.lock?.reason ?? 0)).to.be.at.least(Number(kept.lock?.reason ?? 0));
        revision = Math.max(revision, found.revision);
        await next.kill();
      }
      expect(revision).to.be.greaterThan(ROUNDS);
    }));

  it('leaves lock, phase and end of a match, and a robot that stands until the desk is heard', () =>
    inTemporaryFolder(async folder => {
      let robot = await Killable.start(folder);
      await robot.post('/api/match/lease', { holder: 'desk', ttlMs: 1000 });
      const set = await robot.post('/api/match', { id: 'M1', revision: 1, phase: 'auto', remainingS: 600 });
      await robot.post('/api/match/lock', { reason: 'inspection' });
      for (let kills = 0; kills < 2; kills += 1) {
        await robot.kill();
        robot = await Killable.start(folder);
        const match = await robot.get('/api/match');
        expect(match).to.deep.include({ id: 'M1', revision: 1, phase: 'auto', refereeSilent: true });
        expect([match.lock.reason, (await robot.get('/api/status')).stopped]).to.deep.equal([
          'inspection',
          true,
        ]);
        expect(match.endsAtT - match.t).to.be.within(0, set.body.endsAtT - set.body.t);
      }
      expect((await robot.post('/api/resume')).body.code).to.equal('locked');
      expect((await robot.post('/api/match/unlock')).status).to.equal(200);
      await robot.kill();
      robot = await Killable.start(folder);
      expect((await robot.get('/api/match')).lock).to.equal(null);
      expect((await robot.post('/api/resume')).body.code).to.equal('referee-silent');
    }));
});
