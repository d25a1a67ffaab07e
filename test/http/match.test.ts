import { expect } from 'chai';
import { statusText } from '../../src/command/status-command.js';
import { PHASES } from '../../src/core/phases.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const DEBUG = ['POST /api/gimbal/mode/switch', { mode: 'debug' }] as const;
const GAINS = {
  speed: { kp: 1, ki: 0, kd: 0 },
  angle: { kp: 1, ki: 0, kd: 0 },
  position: { kp: 1, ki: 0, kd: 0 },
};
/** Each activity that a match may forbid, with the calls that begin it. */
const RUNNING: Readonly<Record<string, readonly (readonly [ask: string, body: object])[]>> = {
  'a controller in manual mode': [],
  'a controller in auto mode': [['POST /api/gimbal/mode/switch', { mode: 'auto' }]],
  'a controller in debug mode': [DEBUG],
  'an excitation': [
    DEBUG,
    ['POST /api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 }],
  ],
  'the laser': [['POST /api/laser', { action: 'on' }]],
  'a trial of gains': [['POST /api/chassis/pidconfig/trial', { gains: GAINS, leaseS: 5 }]],
  'a tuning': [DEBUG, ['POST /api/gimbal/autotune', { loop: 'angle_yaw' }]],
};
const IN_PLAY = ['a controller in manual mode', 'a controller in auto mode', 'the laser'];

describe('the daemon in a match', () => {
  let daemon: ClockedDaemon;
  const ask = (path: string, body?: object) => daemon.bodyOf(path, body);
  const set = (phase: string) => ask('POST /api/match', { id: 'M1', revision: 1, phase, remainingS: null });
  beforeEach(async () => {
    daemon = await ClockedDaemon.start({ config: { match: { refereeSilenceMs: 60_000 } } });
    await ask('POST /api/match/lease', { holder: 'desk', ttlMs: 1000 });
  });
  afterEach(() => daemon.close());

  it('refuses a phase with a negative time, and names only one fault: the lower limit', async () => {
    const body = { id: 'M1', revision: 1, phase: 'pre', remainingS: -1 };
    const { errors } = await ask('POST /api/match', body);
    expect(errors).to.deep.equal([{ pointer: '/remainingS', detail: 'must be >= 0' }]);
  });

  it("reports a desk's lease of 1 s as expired if the desk sends no beat for 1.5 s", async () => {
    expect((await ask('GET /api/status')).match.lease).to.not.have.property('expired');
    await daemon.wait(1500);
    const { beatAgeS, lease } = await ask('GET /api/match');
    expect(beatAgeS).to.be.within(1.5, 1.6);
    expect(lease).to.include({ holder: 'desk', expired: true });
    expect(statusText(await ask('GET /api/status'), undefined)).to.match(/not locked, no lease$/m);
  });

  // The other phases have the same permissions as one of these.
  for (const [phase, allowed] of [
    ['none', Object.keys(RUNNING)],
    ['pre', []],
    ['teleop', IN_PLAY],
  ] as const)
    for (const [running, calls] of Object.entries(RUNNING)) {
      const stops = !allowed.some(one => one === running);
      it(`${stops ? 'stops the robot' : 'does not stop the robot'} if the phase is set to "${phase}" while ${running} is active`, async () => {
        for (const [act, body] of calls)
          expect((await daemon.ask({ ask: act, body })).status).to.be.below(300);
        expect((await set(phase)).phase).to.equal(phase);
        const { stopped, laser, chassis } = await ask('GET /api/status');
        expect(stopped).to.equal(stops);
        const { tune } = await ask('GET /api/gimbal/autotune');
        expect({
          lit: laser.state === 'on',
          tried: 'trial' in chassis.gains,
          tuned: tune?.state,
        }).to.deep.equal({
          lit: running === 'the laser' && !stops,
          tried: running === 'a trial of gains' && !stops,
          tuned: running !== 'a tuning' ? undefined : stops ? 'aborted' : 'running',
        });
        expect((await ask('GET /sim/state')).gimbal.stopped).to.equal(stops);
      });
    }

  it('names only one reason when it refuses to switch the laser on: the lock if there is one, else the phase, else the stop', async () => {
    const codes: unknown[] = [];
    const look = async () => codes.push((await ask('POST /api/laser', { action: 'on' })).code);
    await set('pre');
    await look();
    await ask('POST /api/match/lock', { reason: 'broken cable' });
    await look();
    expect((await ask(...DEBUG)).detail)
      .to.include('broken cable')
      .and.include('192.0.2.1');
    await ask('POST /api/match/unlock');
    await ask('POST /api/match', { id: 'M1', revision: 2, phase: 'auto', remainingS: null });
    await look();
    expect(codes).to.deep.equal(['wrong-phase', 'locked', 'stopped']);
  });

  it('refuses a new phase or an unlock if its deadline `notAfterT` has passed or is 6 s ahead', async () => {
    await ask('POST /api/match/lock', { reason: 'inspection' });
    const { t } = await ask('GET /api/match');
    const call = { id: 'M1', revision: 1, phase: 'pre' };
    for (const notAfterT of [t, t + 6]) {
      expect((await ask('POST /api/match', { ...call, notAfterT })).code).to.equal('too-late');
      expect((await ask('POST /api/match/unlock', { notAfterT })).code).to.equal('too-late');
    }
    expect(await ask('GET /api/match')).to.deep.include({ phase: 'none', revision: 0 });
    expect((await ask('GET /api/match')).lock.reason).to.equal('inspection');
    expect((await ask('POST /api/match', { ...call, notAfterT: t + 1 })).phase).to.equal('pre');
    expect((await ask('POST /api/match/unlock', { notAfterT: t + 1 })).lock).to.equal(null);
  });

  it('refuses the phase "ended" from a desk if another desk had the lease last, even if that lease has expired', async () => {
    await ask('POST /api/match/lease', { holder: 'older', ttlMs: 100, takeover: true });
    await ask('POST /api/match', { id: 'M1', revision: 1, phase: 'pre', holder: 'older' });
    await ask('POST /api/match/lease', { holder: 'newer', ttlMs: 100, takeover: true });
    await daemon.clock.advance(200);
    const end = { id: 'M1', revision: 2, phase: 'ended' };
    expect((await ask('POST /api/match', { ...end, holder: 'older' })).code).to.equal('lease-held');
    expect((await ask('GET /api/match')).phase).to.equal('pre');
    expect((await ask('POST /api/match', { ...end, holder: 'newer' })).phase).to.equal('ended');
  });

  it('refuses a beat of a desk if the beat arrives after its deadline `notAfterT`', async () => {
    const { t } = await ask('GET /api/match');
    const beat = { holder: 'late', ttlMs: 1000, takeover: true };
    expect((await ask('POST /api/match/lease', { ...beat, notAfterT: t })).code).to.equal('too-late');
    expect((await ask('GET /api/match')).lease?.holder).not.to.equal('late');
    expect((await ask('POST /api/match/lease', { ...beat, notAfterT: t + 1 })).lease.holder).to.equal('late');
  });

  it('refuses an unlock that names an older lock, and accepts an unlock that names the present lock', async () => {
    expect((await ask('POST /api/match/lock', { reason: 'x', id: 'L1' })).lock.id).to.equal('L1');
    const { lock } = await ask('POST /api/match/lock', { reason: 'y' });
    expect(lock.id).to.match(/^[0-9a-f]{16}$/);
    expect((await ask('POST /api/match/unlock', { lock: 'L1' })).code).to.equal('lock-changed');
    for (const type of [
      'Application/JSON',
      'application/json ;charset=utf-8',
      'application/json; charset=latin1',
    ]) {
      const sent = { body: { lock: 'L1' }, headers: { 'Content-Type': type } };
      expect((await daemon.ask({ ask: 'POST /api/match/unlock', ...sent })).status, type).to.be.within(
        409,
        415,
      );
    }
    expect((await ask('GET /api/match')).lock).to.deep.equal(lock);
    expect((await ask('POST /api/match/unlock', { lock: lock.id })).lock).to.equal(null);
  });

  it('obeys the lock that an unlock names, even if the media type of the body is not that of JSON', async () => {
    await ask('POST /api/match/lock', { reason: 'x', id: 'L1' });
    for (const type of ['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded']) {
      const sent = { text: '{"lock":"L0"}', headers: { 'Content-Type': type } };
      expect((await daemon.ask({ ask: 'POST /api/match/unlock', ...sent })).status, type).to.equal(409);
    }
    expect((await ask('GET /api/match')).lock).to.include({ id: 'L1' });
    expect((await ask('POST /api/match/unlock')).lock).to.equal(null);
  });

  it('lets a lock with `replaces: ["desk:"]` replace only a lock whose id begins with "desk:"', async () => {
    const lockAfter = async (more: object) =>
      (await ask('POST /api/match/lock', { reason: 'all', ...more })).lock.id;
    const replaces = ['desk:'];
    await lockAfter({ id: 'other' });
    expect(await lockAfter({ id: 'desk:1', replaces })).to.equal('other');
    await ask('POST /api/match/unlock');
    for (const id of ['desk:2', 'desk:3']) expect(await lockAfter({ id, replaces })).to.equal(id);
    expect(await lockAfter({ id: 'inspection' })).to.equal('inspection');
  });

  it('accepts an unlock that names no lock, even if the body of the unlock is empty or is not JSON', async () => {
    const JSON_TYPE = { 'Content-Type': 'application/json' };
    for (const sent of [{}, { text: 'please' }, { headers: JSON_TYPE }, { body: { reason: 'done' } }]) {
      await ask('POST /api/match/lock', { reason: 'inspection' });
      expect((await daemon.ask({ ask: 'POST /api/match/unlock', ...sent })).status).to.equal(200);
      expect((await ask('GET /api/match')).lock).to.equal(null);
    }
  });

  it('logs every lock, even if the laser pin fails and the lock is answered with 503', async () => {
    await ask('POST /sim/faults', { target: 'pin', fault: 'nack' });
    for (const reason of ['inspection', 'inspection', 'illegal laser']) {
      expect((await ask('POST /api/match/lock', { reason })).status).to.equal(503);
      await ask('POST /api/match/unlock');
    }
    const { events } = await ask('GET /api/log');
    const reasons = events
      .filter(({ what, outcome }: Record<string, string>) => what === 'lock' && outcome !== 'done')
      .map(({ detail }: { detail: { reason: string } }) => detail.reason);
    expect(reasons).to.deep.equal(['inspection', 'inspection', 'illegal laser']);
  });
});

describe('GET /api/log/lines', () => {
  it('sends the log lines after the line with the given hash, and refuses a hash that no line has', async () => {
    const daemon = await ClockedDaemon.start();
    const beat = async () =>
      (await daemon.bodyOf('POST /api/match/lease', { holder: 'desk', ttlMs: 1000 })).head;
    const linesAfter = (hash: string) => daemon.bodyOf(`GET /api/log/lines?after=${hash}`);
    await beat();
    await daemon.wait(1000);
    const { hash } = await beat();
    expect(await linesAfter(hash)).to.equal('');
    await daemon.bodyOf('POST /api/match/lock', { reason: 'inspection' });
    await daemon.wait(1000);
    const lines: string[] = (await linesAfter(hash)).trim().split('\n');
    expect(lines.some(line => JSON.parse(line).what === 'lock')).to.equal(true);
    expect(JSON.parse(lines[0] ?? '').prev).to.equal(hash);
    expect((await linesAfter('f'.repeat(64))).code).to.equal('unknown-head');
    await daemon.close();
  });
});

describe('a robot without a laser pin', () => {
  const daemon = simulatedDaemon(
    {},
    {
      laser: () => ({ missing: 'no GPIO chip', cure: 'Run on a Pi.' }),
      // The disk of a busy machine may take too long to store a phase.
      disk: () => new RecordingDisk(),
    },
  );

  it('accepts every phase of a match', async () => {
    await daemon.post('/api/match/lease', { holder: 'desk', ttlMs: 1000 });
    for (const [index, phase] of PHASES.entries()) {
      const answer = await daemon.post('/api/match', { id: 'M1', revision: index + 1, phase });
      expect([answer.status, answer.body.phase]).to.deep.equal([200, phase]);
    }
  });
});
