import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import type { Gains } from '../../src/core/units.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { Ringing } from '../../src/tuning/ringing.js';
import { codeOf } from '../support/code-of.js';
import { TuningBench } from '../support/tuning-bench.js';

describe('an automatic tuning', function () {
  this.timeout(120_000);
  let bench: TuningBench;

  beforeEach(async () => {
    bench = new TuningBench();
    await bench.open();
  });
  afterEach(() => bench.close());

  const anew = async (...propose: ConstructorParameters<typeof TuningBench>) => {
    await bench.close();
    bench = new TuningBench(...propose);
    await bench.open();
    bench.start();
  };
  const save = (angle_yaw: Gains) =>
    bench.during(bench.gimbal.gains.save({ ...bench.saved.gains, angle_yaw }));
  const yaw = () => bench.physics.loops.gimbal.readings.angle_yaw!;
  const isBack = async () => {
    await bench.wait(200);
    const { trial, excitation, applied } = bench.gimbal.report();
    expect(trial).equal(undefined);
    expect(excitation?.amplitude ?? 0).equal(0);
    expect(applied).equal(true);
    expect(bench.running.angle_yaw?.kp).equal(bench.saved.gains.angle_yaw?.kp);
    expect(bench.autotune.isRunning).equal(false);
  };

  it('proposes gains with which a badly tuned loop settles within 0.12 s, and does not save them', async () => {
    const bad = { kp: 90, ki: 90, kd: 2.25 };
    await save(bad);
    bench.start();
    await bench.renewed();
    const { state, before, proposed, predicted, words, why } = bench.now;
    expect([state, why], words.join('; ')).deep.equal(['better', 'measured in a trial of its own']);
    expect(before?.gains).deep.equal(bad);
    expect(proposed?.figures.settlingS).below(0.12);
    expect(proposed?.figures.overshootPercent).below(5);
    expect(predicted?.settlingS).closeTo(proposed!.figures.settlingS!, 0.05);
    expect(words[0]).equal('exciting with the gains in force');
    expect(words.some(word => /^fit \d/.test(word))).equal(true);
    expect(bench.shown.at(-1)?.state).equal('better');
    expect(bench.saved.revision).equal(1);
    await isBack();
  });

  const ends: [what: string, why: RegExp, act: () => Promise<unknown>][] = [
    ['no caller renews the tuning', /nobody renewed it|trial ended: lease/, () => bench.wait(1500)],
    ['the robot is stopped', /robot was stopped|trial ended: stop/, () => bench.robot.stop()],
    [
      'a caller switches the mode',
      /trial ended: mode change|mode was changed/,
      () => bench.gimbal.setMode('manual'),
    ],
    ['a caller saves gains', /trial ended: saved/, () => bench.gimbal.gains.save(bench.saved.gains)],
    ['a caller ends the current trial', /trial ended: ended/, () => bench.gimbal.gains.endTrial()],
    [
      'the controller goes offline',
      /trial ended: offline|is offline/,
      async () => bench.fault('gimbal', 'unplug'),
    ],
    ['the controller resets itself', /trial ended: reset/, async () => bench.fault('gimbal', 'brownout')],
    ['a caller ends the tuning', /somebody/, () => bench.autotune.end('somebody ended it')],
  ];
  for (const [what, why, act] of ends) {
    it(`is aborted, switches its excitation off and returns to the saved gains if ${what}`, async () => {
      bench.start(1500);
      await bench.wait(1000);
      expect(bench.gimbal.report().excitation?.amplitude).above(0);
      await bench.during(act());
      await bench.wait(600);
      expect(bench.now.state).equal('aborted');
      expect(bench.now.why).match(why);
      bench.fault('gimbal', 'plug');
      await bench.wait(600);
      if (bench.robot.stopped) await bench.during(bench.robot.resume());
      await isBack();
    });
  }

  it('is aborted if a save that a caller requested before the start takes effect only after the start', async () => {
    const { gimbal } = bench;
    const saved = save({ kp: 250, ki: 300, kd: 7.5 });
    // This request separates the save from the first trial, so that the disk has answered before the trial begins.
    const between = gimbal.excite({ loop: 'angle_yaw', amplitude: 0, periodS: 2 });
    bench.start();
    await Promise.all([saved, bench.during(between)]);
    await bench.wait(600);
    expect(bench.now.state).equal('aborted');
    expect(bench.now.why).equal('other gains were saved');
    await isBack();
  });

  it('that a caller ends while the controller is silent reports `not-confirmed`, and restores the saved gains when the controller answers', async () => {
    bench.start();
    await bench.wait(1000);
    bench.fault('gimbal', 'nack');
    const refusal = await bench.during(bench.autotune.end('somebody ended it').catch(error => error));
    expect([refusal.code, bench.now.state, bench.autotune.isRunning]).to.deep.equal([
      'not-confirmed',
      'aborted',
      false,
    ]);
    bench.fault('gimbal', 'clear');
    await bench.wait(600);
    await isBack();
  });

  it('retries switching its excitation off while the bus fails, even after the tuning has ended', async () => {
    const { bus } = bench.sim.hardware;
    const write = bus.writeBlock.bind(bus);
    let isStillRefused = false;
    let refusals = 0;
    bus.writeBlock = async (address, register, data) => {
      const isStill = register === REGISTERS.guarded_excitation.address && data.readFloatLE(1) === 0;
      if (isStill && isStillRefused) {
        refusals += 1;
        throw new RobotError('nack', { errno: 121 });
      }
      return write(address, register, data);
    };
    bench.start();
    await bench.wait(1000);
    expect(bench.gimbal.report().excitation?.amplitude).above(0);
    isStillRefused = true;
    while (bench.now.state === 'running') await bench.wait(100);
    isStillRefused = false;
    expect(refusals).to.be.above(0);
    await isBack();
  });

  it('does not run its trial gains again if a caller renews the tuning just after the guard has ended the excitation', async () => {
    const { gimbal } = bench;
    const saved = bench.running.angle_yaw?.kp;
    bench.start();
    const isTried = () =>
      bench.running.angle_yaw?.kp !== saved && gimbal.report().excitation?.amplitude !== 0;
    while (!isTried()) await bench.wait(10);
    const tried = bench.running.angle_yaw?.kp;
    await bench.tripGuard('angle_yaw');
    expect(gimbal.trial).not.equal(undefined);
    const seesEnd = gimbal.setMode('debug');
    const renewed = bench.autotune.renew('gimbal', bench.now.id, 'lab', 5000);
    await bench.during(Promise.all([seesEnd, renewed]));
    expect(gimbal.trial).equal(undefined);
    for (let looks = 0; looks < 100; looks += 1) {
      expect(bench.running.angle_yaw?.kp).not.equal(tried);
      await bench.wait(2);
    }
  });

  it('sends no excitation after its end, even if the excitation waits behind a renewal', async () => {
    const { gimbal } = bench;
    bench.start();
    const { excite } = gimbal;
    let isOver = false;
    gimbal.excite = (excitation, options) => {
      if (excitation.amplitude > 0 && !isOver) {
        // The renewal comes first, and holds the turn of the unit.
        bench.autotune.renew('gimbal', bench.now.id, 'lab', 5000).catch(() => undefined);
        isOver = true;
        void bench.autotune.end('somebody ended it').catch(() => undefined);
      }
      return excite(excitation, options);
    };
    const amplitudes: number[] = [];
    bench.intercept = ({ unit, kind, register, data }) => {
      if (unit === 'gimbal' && kind === 'write' && register.endsWith('excitation') && isOver)
        amplitudes.push(Buffer.from(data, 'hex').readFloatLE(1));
      return undefined;
    };
    await bench.wait(2000);
    expect([isOver, amplitudes.every(amplitude => amplitude === 0)]).deep.equal([true, true]);
    await isBack();
  });

  it('answers a renewal with an error if the controller does not take the longer trial', async () => {
    bench.start(1500);
    await bench.wait(1000);
    bench.fault('gimbal', 'nack');
    const { id } = bench.now;
    const refused = bench.outcome(bench.autotune.renew('gimbal', id, 'lab', 4000));
    expect(await refused).equal('nack');
    bench.fault('gimbal', 'clear');
    await bench.wait(1500);
    expect(bench.now.why).match(/nobody renewed it|lease/);
  });

  it('starts no later trial that lasts beyond the old lease if a renewal was refused', async () => {
    const endMs = bench.clock.nowMs() + 20_000;
    bench.start(20_000);
    await bench.wait(1000);
    const { trial } = bench.gimbal;
    bench.fault('gimbal', 'nack');
    expect(await bench.outcome(bench.autotune.renew('gimbal', bench.now.id, 'lab', 60_000))).equal('nack');
    bench.fault('gimbal', 'clear');
    while ([undefined, trial].includes(bench.gimbal.trial)) await bench.wait(20);
    expect(bench.gimbal.trial?.endsAtMs).equal(endMs);
  });

  it('accepts a renewal only from the caller who began the tuning, and lets no caller try other gains while it runs', async () => {
    const { gains } = bench.gimbal;
    const { id } = bench.start();
    const isTried = () => bench.gimbal.trial !== undefined;
    while (!isTried()) await bench.wait(10);
    for (const by of ['lab', 'other']) {
      const other = { ...bench.saved.gains, angle_yaw: { kp: 1, ki: 0, kd: 0 } };
      expect(await bench.outcome(gains.tryGains({ id, by, gains: other, endsAtMs: 1e9 }))).equal(
        'trial-running',
      );
    }
    expect(await bench.outcome(bench.autotune.renew('gimbal', id, 'other', 5000))).equal('tune-running');
    expect(await bench.outcome(bench.autotune.renew('gimbal', id, 'lab', 5000))).equal(200);
    expect(bench.now.state).equal('running');
  });

  it('ends if the controller goes offline, and does not switch off an excitation that a caller begins later', async () => {
    const { gimbal } = bench;
    const theirs = { loop: 'angle_yaw', amplitude: 0.0625, periodS: 1 };
    bench.start();
    await bench.wait(1000);
    bench.fault('gimbal', 'unplug');
    await bench.wait(600);
    expect(bench.now.state).equal('aborted');
    let chosen: Promise<unknown> | undefined;
    bench.robot.events.add(event => {
      if (event.what === 'online') chosen = gimbal.excite(theirs);
    });
    bench.fault('gimbal', 'plug');
    await bench.wait(1500);
    expect(await chosen).deep.equal(theirs);
    expect(gimbal.report().excitation).deep.equal(theirs);
  });

  it('continues with lower gains after the loop strays about 0.5 rad from its setpoint and the controller ends the excitation', async () => {
    await save({ kp: 60, ki: 1500, kd: 0 });
    let trips = 0;
    bench.robot.events.add(event => {
      if (event.what === 'fault' && event.detail.fault === 'ran_away') trips += 1;
    });
    let most = 0;
    bench.start();
    await bench.renewed(
      () => bench.now.words.length >= 2,
      () => {
        const { setpoint, measured } = yaw();
        // A setpoint above 0.1 rad means that the excitation of 0.15 rad runs.
        if (Math.abs(setpoint) > 0.1) most = Math.max(most, Math.abs(setpoint - measured));
      },
    );
    expect(bench.now.words).deep.equal(['exciting with the gains in force', 'too lively: calmed once']);
    expect(trips).equal(1);
    // The guard allows 3.5 amplitudes (0.525 rad) plus the error before the excitation.
    expect(most).above(0.4).below(0.56);
  });

  it('switches the excitation off within a second after the loop begins to oscillate', async () => {
    await save({ kp: 300, ki: 1500, kd: 0 });
    const seconds: number[] = [];
    let seen = new Ringing(0.3);
    let trials = 0;
    bench.start();
    await bench.renewed(
      () => bench.now.words.length >= 4,
      () => {
        if (bench.now.words.length > trials) seen = new Ringing(0.3);
        trials = bench.now.words.length;
        seen.add(bench.clock.nowMs() / 1000, yaw().setpoint, yaw().measured);
        seconds[trials - 1] = Math.max(seconds[trials - 1] ?? 0, seen.seconds);
      },
    );
    expect(bench.now.words.slice(0, 2)).deep.equal([
      'exciting with the gains in force',
      'too lively: calmed once',
    ]);
    expect(seconds[0]).above(0.3);
    expect(Math.max(...seconds), String(seconds)).below(1);
  });

  it('fails after about 45 s if the computation of gains never ends', async () => {
    await anew(() => new Promise(() => undefined));
    const beganMs = bench.clock.nowMs();
    await bench.renewed();
    expect(bench.now).include({ state: 'failed', why: 'it took too long' });
    expect(bench.clock.nowMs() - beganMs).within(44_000, 46_500);
    await isBack();
  });

  it('cancels the computation of gains when a caller ends the tuning', async () => {
    let asked: AbortSignal | undefined;
    await anew((_, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    });
    while (asked === undefined) await bench.wait(10);
    expect(asked.aborted).equal(false);
    await bench.during(bench.autotune.end('somebody ended it'));
    expect(asked.aborted).equal(true);
  });

  it('is aborted if the computation of gains cannot start, and reports the reason', async () => {
    await anew(() => Promise.reject(new Error('no thread could be started')));
    await bench.renewed();
    expect(bench.now).include({ state: 'aborted', why: 'no thread could be started' });
    await isBack();
  });

  it('switches the laser off at its start, and refuses to switch the laser on (code `tune-running`) until the tuning ends', async () => {
    bench.robot.laser.on();
    bench.start();
    expect(bench.robot.laser.report()).include({ state: 'off', reason: 'tuning' });
    expect(codeOf(() => bench.robot.laser.on())).equal('tune-running');
    await bench.during(bench.autotune.end('enough'));
    expect(bench.robot.laser.on()).equal('on');
  });

  it('leaves the laser on if the tuning is refused because the saved gains cannot be read', () => {
    bench.robot.laser.on();
    bench.robot.store.current = () => {
      throw new RobotError('storage-failed', { operation: 'read', path: '', errno: 'EIO', cure: '' });
    };
    expect(codeOf(() => bench.start())).equal('storage-failed');
    expect(bench.robot.laser.report()).include({ state: 'on' });
  });

  it('is refused if another tuning runs, if the unit is not in debug mode, or if the robot is stopped', async () => {
    bench.start();
    expect(codeOf(() => bench.start())).equal('tune-running');
    await bench.during(bench.autotune.end('enough'));
    await bench.during(bench.gimbal.setMode('manual'));
    expect(codeOf(() => bench.start())).equal('wrong-mode');
    await bench.during(bench.robot.stop());
    expect(codeOf(() => bench.start())).equal('stopped');
  });
});
