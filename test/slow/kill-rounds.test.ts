import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../support/child.js';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';

/** `npm run kill-rounds` takes the full count. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4);
const CLIENTS = 4;

interface Saved {
  readonly unit: string;
  readonly kp: number;
}

describe(`${ROUNDS} rounds of SIGKILL under concurrent saves`, function () {
  this.timeout(60_000 + ROUNDS * 5000);
  let folder = '';
  const started: Child[] = [];
  const start = () => {
    const child = new Child('sim/main.js', ['--port', '0', '--state', folder]);
    started.push(child);
    return child;
  };
  after(async () => {
    await Promise.all(started.map(child => child.kill()));
    await rm(folder, { recursive: true, force: true });
  });

  it('lose no acknowledged save', async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
    const acknowledged: Saved[] = [];
    let sent = 0;

    /** Saves distinct gains until the daemon is gone; kills it after a different number of answers each round. */
    const round = async (number: number) => {
      const child = start();
      const url = await child.url();
      let answers = 0;
      const client = async (unit: string) => {
        const gains = (await call(url, 'GET', `/api/${unit}/pidconfig`)).body;
        const [loop] = Object.keys(gains);
        for (;;) {
          sent += 1;
          const kp = sent / 8;
          gains[loop!].kp = kp;
          const answer = await call(url, 'POST', `/api/${unit}/pidconfig`, gains);
          if (answer.status === 200) acknowledged.push({ unit, kp });
          answers += 1;
          if (answers === 3 + (number % 11)) child.process.kill('SIGKILL');
        }
      };
      const clients = Array.from({ length: CLIENTS }, (_, index) => client(index % 2 ? 'gimbal' : 'chassis'));
      await Promise.allSettled(clients);
      await child.exited;
    };

    for (let number = 0; number < ROUNDS; number += 1) {
      await round(number);
      const child = start();
      const url = await child.url();
      const truthOf = async () => (await call(url, 'GET', '/sim/state')).body;
      await eventually(async () => {
        const { gimbal, chassis } = await truthOf();
        return Boolean(gimbal.gains && chassis.gains);
      });
      const truth = await truthOf();
      for (const unit of ['gimbal', 'chassis']) {
        const history = (await call(url, 'GET', `/api/${unit}/pidconfig/history?limit=1000`)).body;
        const kps: number[] = history.map(
          (entry: { gains: Record<string, { kp: number }> }) => Object.values(entry.gains)[0]?.kp,
        );
        const expected = acknowledged.filter(save => save.unit === unit).map(({ kp }) => kp);
        expect(kps).to.include.members(expected.slice(-900));
        const current = Object.values((await call(url, 'GET', `/api/${unit}/pidconfig`)).body)[0] as {
          kp: number;
        };
        if (kps.length > 0) expect(current.kp).to.equal(kps[0]);
        const active = Object.values(truth[unit].gains)[0] as { kp: number };
        expect(active.kp).to.equal(Math.fround(current.kp));
      }
      await child.kill();
    }
    expect(acknowledged.length).to.be.greaterThan(ROUNDS);
  });
});
