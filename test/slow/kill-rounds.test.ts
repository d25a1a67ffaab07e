import { expect } from 'chai';
import { Child } from '../support/child.js';
import { call, eventually, inTemporaryFolder } from '../support/daemon.js';

/** KILL_ROUNDS sets another count. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4);
const CLIENTS = 4;

const firstKp = (gains: object): number => Object.values<{ kp: number }>({ ...gains })[0]!.kp;

describe(`a daemon that gets SIGKILL ${ROUNDS} times under load`, function () {
  this.timeout(60_000 + ROUNDS * 20_000);
  let running: Child | undefined;
  let url = '';
  const start = async (folder: string) => {
    running = new Child('sim/main.js', ['--port', '0', '--state', folder]);
    url = await running.url();
  };
  const get = async (path: string) => (await call(url, 'GET', path)).body;

  afterEach(() => running?.kill());

  it('keeps every save that it answered with 200, and gives the controllers the latest saved gains after each restart', () =>
    inTemporaryFolder(async folder => {
      const acknowledged: { readonly unit: string; readonly kp: number }[] = [];
      let sent = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        await start(folder);
        let answersLeft = 3 + (round % 11);
        const client = async (_: unknown, index: number) => {
          const unit = index % 2 ? 'gimbal' : 'chassis';
          for (;;) {
            const gains = await get(`/api/${unit}/pidconfig`);
            sent += 1;
            const kp = sent / 8;
            Object.values<{ kp: number }>(gains)[0]!.kp = kp;
            const { status } = await call(url, 'POST', `/api/${unit}/pidconfig`, gains);
            if (status === 200) acknowledged.push({ unit, kp });
            answersLeft -= 1;
            if (answersLeft === 0) running?.process.kill('SIGKILL');
          }
        };
        // Each client ends when the daemon is gone.
        await Promise.allSettled(Array.from({ length: CLIENTS }, client));
        await running?.exited;
        await start(folder);
        await eventually(async () => {
          const { gimbal, chassis } = await get('/sim/state');
          return Boolean(gimbal.gains && chassis.gains);
        });
        const truth = await get('/sim/state');
        for (const unit of ['gimbal', 'chassis']) {
          const history = await get(`/api/${unit}/pidconfig/history?limit=1000`);
          const kps = history.map(({ gains }: { gains: object }) => firstKp(gains));
          const expected = acknowledged.filter(save => save.unit === unit).map(({ kp }) => kp);
          expect(kps).to.include.members(expected.slice(-900));
          const current = firstKp(await get(`/api/${unit}/pidconfig`));
          if (kps.length > 0) expect(current).to.equal(kps[0]);
          expect(firstKp(truth[unit].gains)).to.equal(Math.fround(current));
        }
        await running?.kill();
      }
      expect(acknowledged.length).to.be.greaterThan(ROUNDS);
    }));
});
