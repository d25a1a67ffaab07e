import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { Autotune } from '../../src/autotune/autotune.js';
import { isRobotError } from '../../src/core/errors.js';
import type { Tune } from '../../src/core/tune.js';
import { perUnit } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { darkWhileTuning, everythingAllowed } from '../../src/robot/permission.js';
import { Robot } from '../../src/robot/robot.js';
import { propose } from '../../src/tuning/propose.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** The robot's code on the simulated robot with its physics, in time that passes when a test says so. */
class TuningBench {
  readonly clock = new ManualClock();
  readonly sim = new SimulatedRobot({ clock: this.clock, physics: createPhysics({ seed: 1, substeps: 1 }) });
  readonly told: Tune[] = [];
  robot!: Robot;
  autotune!: Autotune;
  #store!: GainsStore;
  #folder = '';

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
    const { clock } = this;
    this.#store = await GainsStore.open({ folder: this.#folder, clock, disk: new RecordingDisk() });
    this.robot = new Robot({
      hardware: this.sim.hardware,
      store: this.#store,
      clock,
      permission: darkWhileTuning(() => this.autotune.isRunning, everythingAllowed),
      settings: {
        pollHz: 50,
        laserMaxOnS: 0,
        onControllerReset: 'manual',
        silence: perUnit(() => ({ beforeMs: 500, givenMs: 500 })),
      },
    });
    this.autotune = new Autotune({ robot: this.robot, clock, propose: async task => propose(task) });
    this.autotune.changed.add(tune => this.told.push(tune));
    await this.during(this.robot.start());
    await this.during(this.robot.units.gimbal.setMode('debug'));
  }

  async close(): Promise<void> {
    await this.during(this.robot.close());
    await this.#store.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async wait(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 2) await this.clock.advance(2);
  }

  async during<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const end = promise.finally(() => {
      settled = true;
    });
    end.catch(() => undefined);
    while (!settled) await this.clock.advance(1);
    return end;
  }

  start(leaseMs = 5000): Tune {
    return this.autotune.start({ unit: 'gimbal', loop: 'angle_yaw', style: 'normal', by: 'lab', leaseMs });
  }

  get now(): Tune {
    return this.autotune.of('gimbal')!;
  }

  get running(): Record<string, { kp: number }> {
    return (this.sim.truth().gimbal as { gains: Record<string, { kp: number }> }).gains;
  }

  get saved() {
    return this.#store.current('gimbal');
  }
}

describe('autotune', function () {
  this.timeout(120_000);
  let bench: TuningBench;

  beforeEach(async () => {
    bench = new TuningBench();
    await bench.open();
  });
  afterEach(() => bench.close());

  const isBack = async () => {
    await bench.wait(200);
    const { state } = bench.robot.units.gimbal;
    expect(state.trial).equal(undefined);
    expect(state.excitation?.amplitude ?? 0).equal(0);
    expect(state.applied).equal(true);
    expect(bench.running.angle_yaw?.kp).equal(bench.saved.gains.angle_yaw?.kp);
    expect(bench.autotune.isRunning).equal(false);
  };

  it('proposes measured gains for bad ones, in words on the way, and saves nothing', async () => {
    const bad = { ...bench.saved.gains, angle_yaw: { kp: 90, ki: 90, kd: 2.25 } };
    await bench.during(bench.robot.units.gimbal.gains.save(bad));
    await bench.during(bench.robot.units.gimbal.setMode('debug'));
    const { id } = bench.start();
    while (bench.now.state === 'running') {
      await bench.wait(1000);
      const renewed = bench.autotune.renew(id, 5000).catch(() => undefined);
      await bench.during(renewed);
    }
    const { state, before, proposed, predicted, words, why } = bench.now;
    expect([state, why], words.join('; ')).deep.equal(['better', 'measured in a trial of its own']);
    expect(before?.gains).deep.equal(bad.angle_yaw);
    expect(proposed?.figures.settlingS).below(0.12);
    expect(proposed?.figures.overshootPercent).below(5);
    expect(predicted?.settlingS).closeTo(proposed!.figures.settlingS!, 0.05);
    expect(words[0]).equal('exciting with the gains in force');
    expect(words.some(word => /^fit \d/.test(word))).equal(true);
    expect(bench.told.at(-1)?.state).equal('better');
    expect(bench.saved.revision).equal(1);
    await isBack();
  });

  const ends: [why: RegExp, act: () => Promise<unknown>][] = [
    [/nobody renewed it|trial ended: lease/, () => bench.wait(1500)],
    [/robot was stopped|trial ended: stop/, () => bench.robot.stop()],
    [/trial ended: mode change|mode was changed/, () => bench.robot.units.gimbal.setMode('manual')],
    [/trial ended: saved/, () => bench.robot.units.gimbal.gains.save(bench.saved.gains)],
    [/trial ended: ended/, () => bench.robot.units.gimbal.gains.endTrial('ended')],
    [/trial ended: offline|is offline/, async () => bench.sim.inject({ target: 'gimbal', fault: 'unplug' })],
    [/trial ended: reset/, async () => bench.sim.inject({ target: 'gimbal', fault: 'brownout' })],
    [/somebody/, () => bench.autotune.end('somebody ended it')],
  ];
  for (const [why, act] of ends) {
    it(`is aborted because ${why.source}, and leaves everything as it was`, async () => {
      bench.start(1500);
      await bench.wait(1000);
      expect(bench.robot.units.gimbal.state.excitation?.amplitude).above(0);
      await bench.during(act());
      await bench.wait(600);
      expect(bench.now.state).equal('aborted');
      expect(bench.now.why).match(why);
      bench.sim.inject({ target: 'gimbal', fault: 'plug' });
      await bench.wait(600);
      if (bench.robot.stopped) await bench.during(bench.robot.resume());
      await isBack();
    });
  }

  it('keeps the laser dark', async () => {
    bench.robot.laserOn();
    bench.start();
    expect(bench.robot.laser.report().state).equal('off');
    expect(codeOf(() => bench.robot.laserOn())).equal('tune-running');
    await bench.during(bench.autotune.end('enough'));
    expect(bench.robot.laserOn()).equal('on');
  });

  it('is one at a time, in debug mode, with a target for the loops that need one', async () => {
    bench.start();
    expect(codeOf(() => bench.start())).equal('tune-running');
    await bench.during(bench.autotune.end('enough'));
    await bench.during(bench.robot.units.gimbal.setMode('manual'));
    expect(codeOf(() => bench.start())).equal('wrong-mode');
    await bench.during(bench.robot.stop());
    expect(codeOf(() => bench.start())).equal('stopped');
  });
});

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (isRobotError(error)) return error.code;
    throw error;
  }
  return undefined;
}
