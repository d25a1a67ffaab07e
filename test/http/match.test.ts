import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PHASES, type Phase } from '../../src/core/phases.js';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('a match over HTTP', () => {
  const daemon = simulatedDaemon({ match: { refereeSilenceMs: 60_000 } });
  let revision = 0;

  const set = (phase: Phase, remainingS: number | null = null, id = 'M1') => {
    revision += 1;
    return daemon.post('/api/match', { id, revision, phase, remainingS });
  };
  const beat = (more = {}) => daemon.post('/api/match/lease', { holder: 'desk', ttlMs: 1000, ...more });
  const mode = (unit: string, to: string) => daemon.post(`/api/${unit}/mode/switch`, { mode: to });
  const light = (action: string) => daemon.post('/api/laser', { action });
  const truth = async () => (await daemon.get('/sim/state')).body;
  const stopped = async () => (await daemon.get('/api/status')).body.stopped;

  beforeEach(async () => {
    await beat();
    await daemon.post('/api/match/unlock');
    await set('none');
    await daemon.post('/api/resume');
    await mode('gimbal', 'manual');
  });

  it('is none at first, and shows in status as it does by itself', async () => {
    await set('none');
    const { t, ...match } = (await daemon.get('/api/match')).body;
    expect(match).to.include({
      phase: 'none',
      lock: null,
      endsAtT: null,
      refereeSilent: false,
      recorded: true,
    });
    expect(t).to.be.a('number');
    expect((await daemon.get('/api/status')).body.match).to.deep.equal(match);
  });

  const RUNNING: Readonly<Record<string, () => Promise<unknown>>> = {
    'a controller in manual': () => mode('gimbal', 'manual'),
    'a controller in auto': () => mode('gimbal', 'auto'),
    'a controller in debug': () => mode('gimbal', 'debug'),
    'an excitation': async () => {
      await mode('gimbal', 'debug');
      await daemon.post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 });
    },
    'the laser': () => light('on'),
    'a trial of gains': async () => {
      const { body: gains } = await daemon.get('/api/gimbal/pidconfig');
      gains.angle_yaw.kp += 1;
      const trial = await daemon.post('/api/gimbal/pidconfig/trial', { gains, leaseS: 5 });
      expect(trial.status).to.equal(200);
    },
    'a tuning': async () => {
      await mode('gimbal', 'debug');
      expect((await daemon.post('/api/gimbal/autotune', { loop: 'angle_yaw' })).status).to.equal(202);
    },
  };
  const IN_PLAY = ['a controller in manual', 'a controller in auto', 'the laser'];
  // The other phases have the permissions of one of these.
  for (const [phase, allowed] of [
    ['none', Object.keys(RUNNING)],
    ['pre', []],
    ['teleop', IN_PLAY],
  ] as const) {
    for (const [running, run] of Object.entries(RUNNING)) {
      const stops = !allowed.some(one => one === running);
      it(`${stops ? 'stops' : 'lets'} ${running} when ${phase} is set`, async () => {
        await run();
        const answer = await set(phase);
        expect(answer.status).to.equal(200);
        expect(answer.body.phase).to.equal(phase);
        expect(await stopped()).to.equal(stops);
        const { gimbal, laser } = await truth();
        expect(gimbal.stopped).to.equal(stops);
        const isLit = running === 'the laser' && !stops;
        expect(laser.level).to.equal(isLit ? 1 : 0);
        const { trial } = (await daemon.get('/api/status')).body.gimbal.gains;
        if (stops) expect(trial).to.equal(undefined);
        else if (running === 'a trial of gains') expect(trial).to.not.equal(undefined);
        const tuning = async () => (await daemon.get('/api/gimbal/autotune')).body.tune?.state;
        if (running === 'a tuning' && stops) await eventually(async () => (await tuning()) === 'aborted');
        await light('off');
        await call(daemon.url, 'DELETE', '/api/gimbal/pidconfig/trial');
        await call(daemon.url, 'DELETE', '/api/gimbal/autotune');
      });
    }
  }

  it('refuses in the order locked, referee-silent, wrong-phase, stopped', async () => {
    const code = async () => (await light('on')).body.code;
    await set('pre');
    expect(await code()).to.equal('wrong-phase');
    await daemon.post('/api/match/lock', { reason: 'broken cable' });
    expect((await daemon.post('/api/gimbal/autotune', { loop: 'angle_yaw' })).body.code).to.equal('locked');
    expect(await code()).to.equal('locked');
    const { detail } = (await mode('gimbal', 'auto')).body;
    expect(detail).to.include('broken cable').and.include('127.0.0.1');
    const tune = async () => (await daemon.post('/api/gimbal/autotune', { loop: 'angle_yaw' })).body.code;
    expect(await tune()).to.equal('locked');
    await daemon.post('/api/match/unlock');
    expect(await tune()).to.equal('wrong-phase');
    await set('auto');
    expect(await code()).to.equal('stopped');
    await daemon.post('/api/resume');
    expect(await code()).to.equal(undefined);
  });

  it('is locked with a stop, twice if need be, and stays stopped when the lock is gone', async () => {
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await daemon.post('/api/match/lock', { reason: 'inspection' });
      expect(status).to.equal(200);
      expect(body.lock).to.deep.equal({ by: '127.0.0.1', reason: 'inspection' });
      expect(await stopped()).to.equal(true);
      expect((await daemon.post('/api/resume')).body.code).to.equal('locked');
      const { body: gains } = await daemon.get('/api/chassis/pidconfig');
      expect((await daemon.post('/api/chassis/pidconfig', gains)).body.code).to.equal('locked');
    }
    for (let times = 0; times < 2; times += 1) {
      expect((await daemon.post('/api/match/unlock')).body.lock).to.equal(null);
      expect(await stopped()).to.equal(true);
    }
    expect((await daemon.post('/api/resume')).status).to.equal(200);
  });

  it('may be stopped and darkened in every phase, locked or not', async () => {
    for (const phase of PHASES) {
      await set(phase);
      for (const path of ['/api/match/unlock', '/api/match/lock']) {
        await daemon.post(path, { reason: 'x' });
        expect((await daemon.post('/api/stop')).status).to.equal(200);
        expect((await light('off')).status).to.equal(200);
      }
    }
  });

  it('comes with what its phase allows, and moves nothing by itself when a play begins', async () => {
    await set('pre');
    const { body } = await set('auto', 90);
    expect(body.endsAtT - body.t).to.be.within(89, 90);
    expect(body.allows).to.deep.equal({ drive: false, laser: false, tune: false, resume: true, modes: [] });
    expect(await stopped()).to.equal(true);
    expect((await daemon.post('/api/resume')).status).to.equal(200);
    const { allows } = (await daemon.get('/api/match')).body;
    expect(allows).to.deep.equal({
      drive: true,
      laser: true,
      tune: false,
      resume: true,
      modes: ['auto', 'manual'],
    });
  });

  it('sets a phase without light, and does not say that it is dark, while the laser pin does not obey', async () => {
    await light('on');
    await daemon.post('/sim/faults', { target: 'pin', fault: 'nack' });
    expect((await set('pre')).body.code).to.equal('pin-failed');
    expect((await daemon.get('/api/match')).body.phase).to.equal('pre');
    await daemon.post('/sim/faults', { target: 'pin', fault: 'clear' });
    expect((await set('pre')).status).to.equal(200);
    expect((await truth()).laser.level).to.equal(0);
  });

  it('gives the desk the newest hash of the log with each beat', async () => {
    await eventually(async () => (await beat()).body.head !== undefined);
    const { head } = (await beat()).body;
    expect(head.hash).to.match(/^[0-9a-f]{64}$/);
    expect((await daemon.get('/api/log/head')).body.seq).to.be.at.least(head.seq);
    expect((await daemon.get('/api/status')).body.log).to.deep.equal({ ok: true });
  });

  it('has one desk, and says whose', async () => {
    expect((await beat()).body.lease).to.deep.equal({ holder: 'desk', by: '127.0.0.1' });
    const { code, detail } = (await beat({ holder: 'other' })).body;
    expect(code).to.equal('lease-held');
    expect(detail).to.include('desk').and.include('"takeover": true');
    expect((await beat({ holder: 'other', takeover: true })).body.lease.holder).to.equal('other');
    await beat({ takeover: true });
  });

  it('is in the log with who did what, and renewals are not', async () => {
    const { events: before } = (await daemon.get('/api/log')).body;
    const { seq } = before.at(-1);
    await daemon.post('/api/match/lock', { reason: 'inspection' });
    await daemon.post('/api/match/unlock');
    await set('pre');
    for (let times = 0; times < 5; times += 1) await beat();
    const { events } = (await daemon.get(`/api/log?after=${seq}`)).body;
    const lines = events.map(({ what, who, outcome }: Record<string, string>) =>
      [what, who, outcome].filter(Boolean).join(' '),
    );
    expect(lines).to.include.members([
      'lock 127.0.0.1 done',
      'unlock 127.0.0.1 done',
      'phase 127.0.0.1 done',
      'phase',
    ]);
    expect(lines.filter((line: string) => line.startsWith('lease'))).to.deep.equal([]);
  });

  it('is in the log with every lock that holds, whatever it was answered', async () => {
    await daemon.post('/sim/faults', { target: 'pin', fault: 'nack' });
    for (const reason of ['inspection', 'inspection', 'illegal laser']) {
      expect((await daemon.post('/api/match/lock', { reason })).status).to.equal(503);
      await daemon.post('/api/match/unlock');
    }
    await daemon.post('/sim/faults', { target: 'pin', fault: 'clear' });
    const { events } = (await daemon.get('/api/log')).body;
    const locks = events.filter(
      ({ what, outcome }: Record<string, string>) => what === 'lock' && outcome !== 'done',
    );
    expect(locks.map(({ detail }: { detail: object }) => detail)).to.deep.equal([
      { reason: 'inspection' },
      { reason: 'inspection' },
      { reason: 'illegal laser' },
    ]);
  });

  for (const body of [
    {},
    { id: 'M1', revision: -1, phase: 'none' },
    { id: '', revision: 1, phase: 'none' },
    { id: 'M1', revision: 4_102_444_800_001, phase: 'none' },
    { id: 'M1', revision: 1, phase: 'halftime' },
    { id: 'M1', revision: 1, phase: 'auto', remainingS: -1 },
    { id: 'M1', revision: 1, phase: 'auto', until: 5 },
  ]) {
    it(`does not understand ${JSON.stringify(body)}`, async () => {
      expect((await daemon.post('/api/match', body)).status).to.equal(400);
    });
  }

  it('takes milliseconds since 1970 as a revision, and another match after the highest one', async () => {
    const highest = { id: 'highest', revision: 4_102_444_800_000, phase: 'pre' };
    expect((await daemon.post('/api/match', highest)).status).to.equal(200);
    expect((await set('pre', null, 'next')).status).to.equal(200);
    await set('ended');
  });

  describe('after a restart of the daemon', () => {
    it('is still locked', async () => {
      await daemon.post('/api/match/lock', { reason: 'inspection' });
      await daemon.restart();
      expect((await daemon.post('/api/resume')).body.code).to.equal('locked');
      expect(await stopped()).to.equal(true);
      expect((await daemon.get('/api/match')).body.lock.reason).to.equal('inspection');
    });

    it('has the time left, and stands stopped until the desk speaks and someone resumes', async () => {
      await set('auto', 60);
      await daemon.post('/api/resume');
      await mode('gimbal', 'auto');
      const before = (await daemon.get('/api/match')).body;
      await daemon.restart();
      const after = (await daemon.get('/api/match')).body;
      expect(after).to.include({ phase: 'auto', id: 'M1', revision, refereeSilent: true });
      expect(after.endsAtT - before.endsAtT).to.be.within(-1, 1);
      expect(await stopped()).to.equal(true);
      await eventually(async () => (await truth()).gimbal.stopped === true);
      const { code, detail } = (await daemon.post('/api/resume')).body;
      expect([code, detail.includes('POST /api/match/lease')]).to.deep.equal(['referee-silent', true]);
      await beat();
      expect(await stopped()).to.equal(true);
      await eventually(async () => (await daemon.post('/api/resume')).status === 200);
    });

    it('lets a robot that plays no match go on', async () => {
      await mode('gimbal', 'auto');
      await daemon.restart();
      expect(await stopped()).to.equal(false);
      expect((await daemon.get('/api/status')).body.gimbal.mode).to.equal('auto');
    });

    it('is locked when its record is damaged, until someone who may unlocks it', async () => {
      await writeFile(join(daemon.folder, 'match.json'), '{"recorded":{"lock":null');
      await daemon.restart();
      expect((await daemon.post('/api/resume')).body.code).to.equal('locked');
      expect((await daemon.get('/api/match')).body.lock.reason).to.include('damaged');
      await daemon.post('/api/match/unlock');
      // The stop at the start may still be under way, and of a stop and a resume the stop wins.
      await eventually(async () => (await daemon.post('/api/resume')).status === 200);
    });
  });
});

describe('a match of a robot without a laser pin', () => {
  const daemon = simulatedDaemon({}, { laser: () => ({ missing: 'no GPIO chip', cure: 'Run on a Pi.' }) });

  it('has its phases, since nobody can have lit what is not there', async () => {
    await daemon.post('/api/match/lease', { holder: 'desk', ttlMs: 1000 });
    for (const [index, phase] of PHASES.entries()) {
      const answer = await daemon.post('/api/match', { id: 'M1', revision: index + 1, phase });
      expect([answer.status, answer.body.phase]).to.deep.equal([200, phase]);
    }
  });
});
