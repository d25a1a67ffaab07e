import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const GAINS = {
  speed: { kp: 0.1, ki: 0.2, kd: 0.3 },
  angle: { kp: 4, ki: 5, kd: 6 },
  position: { kp: -7, ki: 8, kd: 9 },
};

describe('the robot', () => {
  const daemon = simulatedDaemon();
  const truth = async () => (await daemon.get('/sim/state')).body;
  const status = async () => (await daemon.get('/api/status')).body;
  const fault = (target: string, name: string, count?: number) =>
    daemon.post('/sim/faults', { target, fault: name, ...(count !== undefined && { count }) });

  afterEach(async () => {
    await fault('bus', 'clear');
    await eventually(async () => {
      const { gimbal, chassis } = await status();
      return gimbal.online && chassis.online && gimbal.gains.applied && chassis.gains.applied;
    });
    await daemon.post('/api/resume');
    await daemon.post('/api/laser', { action: 'off' });
  });

  it('starts dark, in manual, with the default gains in the controllers', async () => {
    const [{ laser, gimbal, chassis }, about] = [await truth(), await status()];
    expect(laser).to.deep.equal({ level: 0 });
    expect([gimbal.mode, gimbal.stopped, chassis.mode]).to.deep.equal(['manual', false, 'manual']);
    expect(gimbal.gains).not.to.equal(null);
    expect(about).to.include({ simulated: true, stopped: false });
    expect(about.gimbal.gains).to.deep.equal({ revision: 0, savedAt: null, applied: true });
  });

  it('switches each mode where the controller runs it', async () => {
    for (const mode of ['auto', 'debug', 'manual']) {
      for (const unit of ['gimbal', 'chassis']) {
        const answer = await daemon.post(`/api/${unit}/mode/switch`, { mode });
        expect([answer.status, answer.text]).to.deep.equal([200, JSON.stringify({ mode })]);
        expect((await truth())[unit].mode).to.equal(mode);
        expect((await status())[unit].mode).to.equal(mode);
      }
    }
  });

  it('switches the laser and answers what the pin says', async () => {
    expect((await daemon.post('/api/laser', { action: 'on' })).text).to.equal('{"state":"on"}');
    expect((await truth()).laser.level).to.equal(1);
    expect((await status()).laser).to.deep.equal({ state: 'on', light: 'on' });
    expect((await daemon.post('/api/laser', { action: 'off' })).text).to.equal('{"state":"off"}');
    expect((await truth()).laser.level).to.equal(0);
  });

  it('keeps decimals as sent and runs the nearest float32', async () => {
    const answer = await daemon.post('/api/chassis/pidconfig', GAINS);
    expect([answer.status, answer.body]).to.deep.equal([200, GAINS]);
    expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(GAINS);
    expect((await truth()).chassis.gains.speed.kp).to.equal(Math.fround(0.1));
    const { gains } = (await status()).chassis;
    expect(gains.applied).to.equal(true);
    expect(gains.revision).to.be.greaterThan(0);
  });

  it('lists saved gains newest first and restores one under a new revision', async () => {
    const first = (await daemon.post('/api/chassis/pidconfig', GAINS)).body;
    await daemon.post('/api/chassis/pidconfig', { ...GAINS, angle: { kp: 1, ki: 1, kd: 1 } });
    const [newest, older] = (await daemon.get('/api/chassis/pidconfig/history?limit=2')).body;
    expect(older.gains).to.deep.equal(first);
    const restored = await daemon.post('/api/chassis/pidconfig/restore', { revision: older.revision });
    expect(restored.body).to.deep.equal(first);
    expect((await status()).chassis.gains.revision).to.equal(newest.revision + 1);
    const unknown = await daemon.post('/api/chassis/pidconfig/restore', { revision: 99999 });
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'unknown-revision']);
    for (const limit of ['0', '1001', 'x', '1.5']) {
      const refused = await daemon.get(`/api/chassis/pidconfig/history?limit=${limit}`);
      expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([400, '/limit']);
    }
  });

  it('stops everything, refuses motion and light, and comes back in manual', async () => {
    await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
    await daemon.post('/api/laser', { action: 'on' });
    const stop = await daemon.post('/api/stop', 'any body at all');
    expect([stop.status, stop.text]).to.deep.equal([200, '{"stopped":true}']);
    const { laser, gimbal, chassis } = await truth();
    expect([laser.level, gimbal.stopped, chassis.stopped]).to.deep.equal([0, true, true]);
    expect((await status()).laser.reason).to.equal('stop');

    const refused: [string, unknown][] = [
      ['/api/gimbal/mode/switch', { mode: 'auto' }],
      ['/api/laser', { action: 'on' }],
      ['/api/chassis/excitation', { loop: 'speed', amplitude: 0, periodS: 1 }],
    ];
    for (const [path, body] of refused) {
      const answer = await daemon.post(path, body);
      expect([path, answer.status, answer.body.code]).to.deep.equal([path, 409, 'stopped']);
    }
    expect((await daemon.post('/api/laser', { action: 'off' })).status).to.equal(200);
    expect((await daemon.post('/api/chassis/pidconfig', GAINS)).status).to.equal(200);

    const resume = await daemon.post('/api/resume');
    expect([resume.status, resume.text]).to.deep.equal([200, '{"stopped":false}']);
    const after = await truth();
    expect([after.gimbal.mode, after.gimbal.stopped, after.chassis.stopped]).to.deep.equal([
      'manual',
      false,
      false,
    ]);
  });

  it('latches a controller that was away when it was stopped', async () => {
    await fault('gimbal', 'unplug');
    await eventually(async () => !(await status()).gimbal.online);
    expect((await daemon.post('/api/stop')).status).to.equal(200);
    expect((await truth()).gimbal.stopped).to.equal(false);
    await fault('gimbal', 'plug');
    await eventually(async () => (await truth()).gimbal.stopped);
    expect((await status()).stopped).to.equal(true);
  });

  it('brings a controller that was away during stop and resume back in manual', async () => {
    await daemon.post('/api/chassis/mode/switch', { mode: 'auto' });
    await fault('chassis', 'unplug');
    await eventually(async () => !(await status()).chassis.online);
    await daemon.post('/api/stop');
    expect((await daemon.post('/api/resume')).status).to.equal(200);
    await fault('chassis', 'plug');
    await eventually(async () => (await status()).chassis.online);
    expect((await truth()).chassis.mode).to.equal('manual');
    expect((await status()).stopped).to.equal(false);
  });

  it('stays stopped when a stop overtakes a resume', async () => {
    for (let round = 0; round < 40; round += 1) {
      await daemon.post('/api/stop');
      const resume = daemon.post('/api/resume');
      for (let turn = 0; turn < round; turn += 1) await new Promise(resolve => setImmediate(resolve));
      const stop = await daemon.post('/api/stop');
      const resumedFirst = (await resume).status === 200;
      expect(stop.status).to.equal(200);
      const { gimbal, chassis } = await truth();
      expect([gimbal.stopped, chassis.stopped], `round ${round}, ${resumedFirst}`).to.deep.equal([
        true,
        true,
      ]);
    }
  });

  it('confirms a stop by the silence of a controller that cannot be reached, and darkens at once', async () => {
    await daemon.post('/api/laser', { action: 'on' });
    await fault('chassis', 'nack');
    const answer = await daemon.post('/api/stop');
    expect([answer.status, answer.text]).to.deep.equal([200, '{"stopped":true}']);
    const { laser, gimbal, chassis } = await truth();
    expect([laser.level, gimbal.stopped, chassis.torque]).to.deep.equal([0, true, false]);
    expect((await status()).chassis.torque).to.equal('silent');
    await fault('chassis', 'clear');
    await eventually(async () => (await truth()).chassis.stopped);
  });

  const missing: readonly [string, string, number | undefined][] = [
    ['unplug', 'unit-offline', undefined],
    ['nack', 'unit-offline', undefined],
    ['timeout', 'unit-offline', undefined],
    ['corrupt', 'unit-offline', undefined],
  ];
  for (const [name, code] of missing) {
    it(`answers 503 within a second for a unit that fails by ${name}; the rest works`, async () => {
      await fault('gimbal', name);
      await eventually(async () => !(await status()).gimbal.online);
      const startMs = performance.now();
      const answer = await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
      expect(performance.now() - startMs).to.be.lessThan(1000);
      expect([answer.status, answer.body.code, answer.body.unit]).to.deep.equal([503, code, 'gimbal']);
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(200);
      // A call that hangs holds the bus for a while, and who waits for it may be asked to come again.
      await eventually(
        async () => (await daemon.post('/api/chassis/mode/switch', { mode: 'auto' })).status === 200,
      );
      expect((await daemon.get('/api/gimbal/pidconfig')).status).to.equal(200);
    });
  }

  it('rides out a few failures without anyone noticing', async () => {
    for (const name of ['nack', 'corrupt']) {
      await fault('chassis', name, 2);
      expect((await daemon.post('/api/chassis/mode/switch', { mode: 'auto' })).status).to.equal(200);
      await fault('chassis', 'clear');
    }
    expect((await status()).bus.retries).to.be.greaterThan(0);
  });

  it('switches the laser while the bus hangs, and goes on when it is free', async () => {
    await fault('bus', 'hang');
    const mode = daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
    expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(200);
    expect((await daemon.post('/api/laser', { action: 'off' })).status).to.equal(200);
    expect((await mode).status).to.equal(503);
    await fault('bus', 'clear');
    await eventually(async () => (await status()).gimbal.online);
    expect((await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' })).status).to.equal(200);
  });

  it('gives a controller that reset itself its gains back; it stands in manual', async () => {
    await daemon.post('/api/chassis/pidconfig', GAINS);
    await daemon.post('/api/chassis/mode/switch', { mode: 'auto' });
    const { boots } = (await truth()).chassis;
    await fault('chassis', 'brownout');
    await eventually(async () => (await truth()).chassis.gains !== null);
    const { chassis } = await truth();
    expect([chassis.boots, chassis.mode]).to.deep.equal([boots + 1, 'manual']);
    expect(chassis.gains.speed.kp).to.equal(Math.fround(0.1));
    await eventually(async () => (await status()).chassis.mode === 'manual');
  });

  it('chooses an excitation in debug mode only, and entering debug moves nothing', async () => {
    const chosen = { loop: 'speed', amplitude: 0.5, periodS: 0.7 };
    const early = await daemon.post('/api/chassis/excitation', chosen);
    expect([early.status, early.body.code]).to.deep.equal([409, 'wrong-mode']);
    await daemon.post('/api/chassis/mode/switch', { mode: 'debug' });
    expect((await daemon.get('/api/chassis/excitation')).body.amplitude).to.equal(0);
    expect((await daemon.post('/api/chassis/excitation', chosen)).body).to.deep.equal(chosen);
    expect((await daemon.get('/api/chassis/excitation')).body).to.deep.equal(chosen);
    const tooMuch = await daemon.post('/api/chassis/excitation', { ...chosen, amplitude: 1000 });
    expect([tooMuch.status, tooMuch.body.errors[0].pointer]).to.deep.equal([400, '/amplitude']);
    await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
    await daemon.post('/api/chassis/mode/switch', { mode: 'debug' });
    expect((await daemon.get('/api/chassis/excitation')).body.amplitude).to.equal(0);
  });

  it('does not believe a laser pin that fails', async () => {
    await daemon.post('/api/laser', { action: 'on' });
    await fault('pin', 'nack');
    const answer = await daemon.post('/api/laser', { action: 'off' });
    expect([answer.status, answer.body.code]).to.deep.equal([503, 'pin-failed']);
    expect((await status()).laser.state).to.equal(null);
    await fault('pin', 'clear');
    await eventually(async () => (await truth()).laser.level === 0);
  });

  it('adopts modes and gains at a restart instead of resetting them', async () => {
    await daemon.post('/api/chassis/pidconfig', GAINS);
    await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
    await daemon.post('/api/laser', { action: 'on' });
    const before = await truth();
    await daemon.restart();
    const { laser, gimbal } = await truth();
    expect([laser.level, gimbal.mode, gimbal.boots]).to.deep.equal([0, 'auto', before.gimbal.boots]);
    const about = await status();
    expect([about.gimbal.mode, about.chassis.mode]).to.deep.equal(['auto', before.chassis.mode]);
  });

  it('finds a stop again at a restart', async () => {
    await daemon.post('/api/stop');
    await daemon.restart();
    expect((await status()).stopped).to.equal(true);
    expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(409);
  });

  it('refuses faults that do not go together', async () => {
    for (const [target, name] of [
      ['bus', 'unplug'],
      ['pin', 'hang'],
      ['pin', 'brownout'],
      ['rover', 'nack'],
      ['gimbal', 'explode'],
    ]) {
      expect((await daemon.post('/sim/faults', { target, fault: name })).status).to.equal(400);
    }
  });
});
