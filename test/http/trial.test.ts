import { expect } from 'chai';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const SAVED = {
  speed: { kp: 40, ki: 320, kd: 0 },
  angle: { kp: 100, ki: 50, kd: 6 },
  position: { kp: 5, ki: 0, kd: 0 },
};
const TRIED = { ...SAVED, speed: { kp: 30, ki: 300, kd: 0 } };
const PATH = '/api/chassis/pidconfig/trial';

describe('a trial of gains', () => {
  const daemon = simulatedDaemon();
  const end = () => call(daemon.url, 'DELETE', PATH);
  const status = async () => (await daemon.get('/api/status')).body.chassis.gains;
  const running = async () => (await daemon.get('/sim/state')).body.chassis.gains?.speed.kp;
  const tried = (more: object = {}) => daemon.post(PATH, { gains: TRIED, leaseS: 5, ...more });

  afterEach(async () => {
    await daemon.post('/api/resume');
    await end();
  });

  it('runs in the controller and nowhere else, and is over when its owner ends it', async () => {
    const answer = await tried();
    expect([answer.status, answer.body.gains]).deep.equal([200, TRIED]);
    expect(await running()).equal(30);
    expect((await daemon.get('/api/chassis/pidconfig')).body).deep.equal(SAVED);
    expect((await daemon.get('/api/chassis/pidconfig/history')).body).deep.equal([]);
    const shown = await status();
    expect(shown).include({ applied: false, revision: 0 });
    expect(shown.trial).deep.equal(answer.body);
    expect((await end()).body).deep.equal({ ended: true });
    expect(await running()).equal(40);
    expect(await status()).deep.equal({ revision: 0, savedAt: null, applied: true });
    expect((await end()).body).deep.equal({ ended: false });
  });

  it('ends with its lease, unless it is renewed', async () => {
    const { id } = (await tried({ leaseS: 0.4 })).body;
    const renewed = await tried({ id, leaseS: 0.4, gains: { ...TRIED, position: { kp: 6, ki: 0, kd: 0 } } });
    expect([renewed.status, renewed.body.id]).deep.equal([200, id]);
    await eventually(async () => (await running()) === 40);
    const late = await tried({ id });
    expect([late.status, late.body.code]).deep.equal([409, 'trial-ended']);
    expect(await running()).equal(40);
  });

  it('is one to a unit', async () => {
    const { id } = (await tried()).body;
    const other = await tried();
    expect([other.status, other.body.code]).deep.equal([409, 'trial-running']);
    expect((await status()).trial.id).equal(id);
  });

  for (const [why, act] of [
    ['a stop', () => daemon.post('/api/stop')],
    ['a change of mode', () => daemon.post('/api/chassis/mode/switch', { mode: 'debug' })],
    ['a save', () => daemon.post('/api/chassis/pidconfig', SAVED)],
    ['a restore', () => daemon.post('/api/chassis/pidconfig/restore', { revision: 1 })],
    ['a reset of the controller', () => daemon.post('/sim/faults', { target: 'chassis', fault: 'brownout' })],
  ] as const) {
    it(`ends with ${why}`, async () => {
      await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
      expect((await tried()).status).equal(200);
      await act();
      await eventually(async () => (await status()).trial === undefined && (await running()) === 40);
    });
  }

  it('is refused while stopped', async () => {
    await daemon.post('/api/stop');
    const answer = await tried();
    expect([answer.status, answer.body.code]).deep.equal([409, 'stopped']);
  });

  for (const [what, body, pointer] of [
    ['a lease of more than 5 s', { leaseS: 6 }, '/leaseS'],
    ['gains of some loops only', { gains: { speed: TRIED.speed } }, '/gains/angle'],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const answer = await tried(body);
      expect([answer.status, answer.body.errors[0].pointer]).deep.equal([400, pointer]);
    });
  }

  it('is over when the daemon is back after its end', async () => {
    await tried();
    await daemon.restart();
    await eventually(async () => (await running()) === 40);
    expect((await status()).trial).equal(undefined);
  });
});

describe('a trial of gains where the host may be silent for long', () => {
  const daemon = simulatedDaemon({ supervision: { hostSilenceMs: 0 } });

  it('is refused', async () => {
    const answer = await daemon.post(PATH, { gains: TRIED, leaseS: 1 });
    expect([answer.status, answer.body.code]).deep.equal([409, 'silence-too-long']);
  });
});
