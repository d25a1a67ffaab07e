import { expect } from 'chai';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const chassis = (kp: number) => ({
  speed: { kp, ki: 2, kd: 3 },
  angle: { kp: 4, ki: 5, kd: 6 },
  position: { kp: 7, ki: 8, kd: 9 },
});

describe('gains made from a revision', () => {
  const daemon = simulatedDaemon();
  const save = (kp: number, query = '') => daemon.post(`/api/chassis/pidconfig${query}`, chassis(kp));
  const restore = (revision: number, query: string) =>
    daemon.post(`/api/chassis/pidconfig/restore${query}`, { revision });
  const revision = async () => (await daemon.get('/api/status')).body.chassis.gains.revision;

  it('are saved while that revision is in force, from before the first save on', async () => {
    expect((await save(1, '?baseRevision=0')).status).to.equal(200);
    expect((await save(2, '?baseRevision=1')).status).to.equal(200);
    expect((await restore(1, '?baseRevision=2')).body).to.deep.equal(chassis(1));
    expect(await revision()).to.equal(3);
  });

  it('are refused with the difference when another one is', async () => {
    for (const answer of [await save(5, '?baseRevision=2'), await restore(2, '?baseRevision=1')]) {
      expect(answer.status).to.equal(409);
      expect(answer.body).to.include({ code: 'changed-meanwhile', unit: 'chassis', revision: 3 });
    }
    const { difference } = (await save(5, '?baseRevision=0')).body;
    expect(difference).to.deep.equal({ speed: { sent: chassis(5).speed, inForce: chassis(1).speed } });
    expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(chassis(1));
  });

  it('are saved once by two who ask at the same time', async () => {
    const before = await revision();
    const answers = await Promise.all([6, 7, 8].map(kp => save(kp, `?baseRevision=${before}`)));
    expect(answers.map(answer => answer.status).sort()).to.deep.equal([200, 409, 409]);
    expect(await revision()).to.equal(before + 1);
  });

  it('name it in the query, as a whole number', async () => {
    for (const wrong of ['-1', '1.5', 'one', '', '1&baseRevision=1', '99999999999999999']) {
      const answer = await save(9, `?baseRevision=${wrong}`);
      expect([answer.status, answer.body.errors[0].pointer]).to.deep.equal([400, '/baseRevision']);
    }
    const inBody = await daemon.post('/api/chassis/pidconfig', { ...chassis(9), baseRevision: 1 });
    expect([inBody.status, inBody.body.errors[0].pointer]).to.deep.equal([400, '/baseRevision']);
  });
});
