import { expect } from 'chai';
import { createPico, type PicoController } from '../../sim/pico/pico-robot.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { loadConfig } from '../../src/config/config.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import type { Tune } from '../../src/schemas/tune.js';
import { propose } from '../../src/tuning/propose.js';
import { DaemonProcess } from '../support/daemon-process.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { core } from './core.js';

const gains = defaultGains(unitNamed('gimbal'));
const weak = { ...gains, angle_yaw: { kp: 90, ki: 90, kd: 2.25 } };
const POLLS_MS = 100;
const LEASE_S = 5;

const runsIn = (mode: string) => ({ 'gimbal.online': true, 'gimbal.torque': 'on', 'gimbal.mode': mode });

/** A daemon whose gimbal is the image in an emulated Pico. Its chassis runs the core. All of it lives in virtual time. */
class ImageRobot {
  readonly clock = new ManualClock();
  readonly pico: PicoController;
  readonly sim: SimulatedRobot;
  readonly #disk = new RecordingDisk();
  #life: DaemonProcess | undefined;

  constructor() {
    const { pico, robot } = createPico(unitNamed('gimbal'), core, { seed: 1 });
    this.pico = pico;
    this.sim = new SimulatedRobot({
      clock: this.clock,
      // The loop periods of the image move the mechanics.
      physics: { ...robot.physics, step: () => undefined },
      controller: unit => (unit.hasCamera ? pico : robot.controller(unit)),
    });
  }

  /** A new daemon on the same controllers and disk. One that runs is killed. */
  async start(): Promise<void> {
    this.#life?.kill();
    this.#life = new DaemonProcess({
      config: loadConfig(undefined, {}, { host: 'localhost', state: '/state' }),
      hardware: this.sim.hardware,
      clock: this.clock,
      disk: this.#disk,
      boot: { id: 'boot', nowMs: () => this.clock.nowMs() },
      propose: async task => propose(task),
    });
    await this.clock.during(this.#life.start());
  }

  kill(): void {
    this.#life?.kill();
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
    // Reading the truth advances the simulation. Without a daemon nothing else does.
    this.sim.truth();
  }

  /** The body of a 200 or 202. Any other answer throws. */
  async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<Readonly<Record<string, unknown>>> {
    const call = this.#life?.send<Readonly<Record<string, unknown>>>({ ask: `${method} ${path}`, body });
    if (call === undefined) throw new Error('no daemon listens');
    const answer = await this.clock.during(call.answer);
    if (answer.status > 202) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body ?? {};
  }
}

describe('a daemon whose gimbal runs the Pico image', function () {
  this.timeout(300_000);
  let robot: ImageRobot;

  beforeEach(async () => {
    robot = new ImageRobot();
    await robot.start();
  });
  afterEach(() => robot.kill());

  const truth = () => robot.pico.truth();
  const running = () => truth().gains as typeof gains;

  it('saves gains, which the gimbal then runs', async () => {
    await robot.ask('POST', '/api/gimbal/pidconfig', weak);
    expect(running().angle_yaw).to.deep.equal(weak.angle_yaw);
    expect(await robot.ask('GET', '/api/status')).to.nested.include(runsIn('manual'));
  });

  it('runs the gains of a trial, and restores the saved gains if nobody renews the trial', async () => {
    await robot.ask('POST', '/api/gimbal/pidconfig/trial', { gains: weak, leaseS: 1 });
    expect(running().angle_yaw?.kp).to.equal(90);
    await robot.wait(1000 + POLLS_MS);
    expect(running().angle_yaw?.kp).to.equal(300);
  });

  it('disables the motors at a stop, and enables them again at a resume', async () => {
    expect(robot.pico.board.isEnabled).to.equal(true);
    expect(await robot.ask('POST', '/api/stop')).to.deep.include({ stopped: true });
    expect(robot.pico.board.isEnabled).to.equal(false);
    await robot.ask('POST', '/api/resume');
    await robot.wait(POLLS_MS);
    expect(robot.pico.board.isEnabled).to.equal(true);
  });

  it('gives the gimbal its saved gains again after a brown-out', async () => {
    await robot.ask('POST', '/api/gimbal/pidconfig', weak);
    await robot.ask('POST', '/api/gimbal/mode/switch', { mode: 'auto' });
    robot.sim.inject({ target: 'gimbal', fault: 'brownout' });
    expect(truth()).to.include({ mode: 'manual', torque: false, gains: null });
    await robot.wait(2 * POLLS_MS);
    expect(truth()).to.include({ mode: 'manual', torque: true });
    expect(running().angle_yaw).to.deep.equal(weak.angle_yaw);
  });

  it('that is killed and restarted has the gimbal online within 100 ms, in the same mode and with the same gains as before the kill', async () => {
    await robot.ask('POST', '/api/gimbal/pidconfig', weak);
    await robot.ask('POST', '/api/gimbal/mode/switch', { mode: 'debug' });
    robot.kill();
    await robot.wait(600);
    expect(robot.pico.board.isEnabled).to.equal(false);
    await robot.start();
    await robot.wait(POLLS_MS);
    expect(await robot.ask('GET', '/api/status')).to.nested.include(runsIn('debug'));
    expect(running().angle_yaw).to.deep.equal(weak.angle_yaw);
  });

  it('tunes the loop `angle_yaw` from weak gains to an overshoot below 5 % in less than 30 s', async () => {
    await robot.ask('POST', '/api/gimbal/pidconfig', weak);
    await robot.ask('POST', '/api/gimbal/mode/switch', { mode: 'debug' });
    const beganMs = robot.clock.nowMs();
    const path = '/api/gimbal/autotune';
    const asked = { loop: 'angle_yaw', leaseS: LEASE_S };
    const { id } = await robot.ask('POST', path, asked);
    let tune: Tune;
    do {
      await robot.wait(500);
      ({ tune } = (await robot.ask('GET', path)) as unknown as { tune: Tune });
      if (tune.state === 'running') await robot.ask('POST', path, { ...asked, id });
    } while (tune.state === 'running');
    const { state, why, words, before, proposed } = tune;
    expect([state, why], words.join('; ')).to.deep.equal(['better', 'measured in a trial of its own']);
    expect(robot.clock.nowMs() - beganMs).to.be.below(30_000);
    expect(before?.figures.overshootPercent).to.be.above(10);
    expect(proposed?.figures.overshootPercent).to.be.below(5);
  });
});
