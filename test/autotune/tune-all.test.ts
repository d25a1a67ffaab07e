import { expect } from 'chai';
import type { Gains } from '../../src/core/units.js';
import type { Proposal, ProposalTask } from '../../src/tuning/propose.js';
import { codeOf } from '../support/code-of.js';
import { TuningBench } from '../support/tuning-bench.js';

const BAD = { kp: 90, ki: 90, kd: 2.25 };
const BETTER = { kp: 300, ki: 300, kd: 7.5 };

/** Proposes better gains for the bad ones, and the same gains for all others. */
async function compute({ runs }: ProposalTask): Promise<Proposal> {
  const latest = runs.at(-1)?.gains ?? BETTER;
  const gains: Gains = latest.kp === BAD.kp ? BETTER : latest;
  const curve = { periodS: 0.01, setpoint: 1, measured: [0, 1] };
  const predicted = { settlingS: 0.1, overshootPercent: 0, fitPercent: 0.5, curve };
  return { gains, predicted, cost: gains === latest ? 1 : 0.1, costNow: 1 };
}

describe('a tuning of several loops', function () {
  this.timeout(180_000);
  let bench: TuningBench;
  let isVisible = true;

  const open = async (propose = compute) => {
    bench = new TuningBench(propose);
    isVisible = true;
    Object.defineProperty(bench.physics.loops.gimbal, 'targetVisible', { get: () => isVisible });
    await bench.open();
    await bench.during(bench.gimbal.gains.save({ ...bench.saved.gains, angle_yaw: BAD }));
  };
  beforeEach(() => open());
  afterEach(() => bench.close());

  const start = (...loops: string[]) => bench.start(5000, loops);
  const until = (isReached?: () => boolean) => bench.renewed(isReached, undefined, 50);
  const moves = (loop: string) => () =>
    bench.now.loop === loop && (bench.gimbal.report().excitation?.amplitude ?? 0) > 0;
  const states = () => bench.now.results.map(({ loop, state }) => `${loop} ${state}`);
  const proposal = () => ({ revision: 1, gains: { ...bench.saved.gains, angle_yaw: BETTER } });

  it('tunes the inner loop first, then the outer loop with the better inner gains, and ends with one proposal for both', async () => {
    expect(start('visual_yaw', 'angle_yaw')).deep.include({
      loop: 'angle_yaw',
      loops: ['angle_yaw', 'visual_yaw'],
      results: [],
      proposal: null,
    });
    await until(moves('visual_yaw'));
    expect(bench.now).deep.include({ state: 'running', proposal: proposal() });
    await bench.wait(1000);
    expect(bench.running.angle_yaw?.kp).equal(BETTER.kp);
    await until();
    expect(states()).deep.equal(['angle_yaw better', 'visual_yaw good']);
    expect(bench.now).deep.include({ state: 'better', why: '1 of 2 loops are better', proposal: proposal() });
    expect(bench.now.results[0]?.proposed?.gains).deep.equal(BETTER);
    await bench.wait(200);
    expect([bench.saved.revision, bench.running.angle_yaw?.kp, bench.gimbal.trial]).deep.equal([
      1,
      BAD.kp,
      undefined,
    ]);
  });

  it('skips visual loops while the camera sees no target, and is refused if all its loops are visual', async () => {
    isVisible = false;
    await bench.wait(100);
    start('visual_yaw', 'angle_pitch');
    await until();
    expect(states()).deep.equal(['angle_pitch good', 'visual_yaw skipped']);
    expect(bench.now).include({
      state: 'good',
      why: '0 of 2 loops are better; visual_yaw: there is no target in view',
    });
    expect(codeOf(() => start('visual_yaw', 'visual_pitch'))).equal('loop-unfit');
  });

  it('reports a visual loop as failed if the camera loses the target during that loop, but still proposes better gains for another loop', async () => {
    start('angle_yaw', 'visual_yaw', 'visual_pitch');
    await until(moves('angle_yaw'));
    isVisible = false;
    await bench.wait(100);
    isVisible = true;
    await until(moves('visual_yaw'));
    isVisible = false;
    await bench.wait(100);
    isVisible = true;
    await until();
    expect(states()).deep.equal(['angle_yaw better', 'visual_yaw failed', 'visual_pitch skipped']);
    expect(bench.now.results[1]?.why).equal('the target was lost');
    expect(bench.now).deep.include({ state: 'better', proposal: proposal() });
  });

  it('keeps the proposal for the finished loops if the robot is stopped during a later loop', async () => {
    start('angle_yaw', 'angle_pitch');
    await until(moves('angle_pitch'));
    await bench.during(bench.robot.stop());
    await bench.wait(200);
    expect(bench.now).deep.include({ state: 'aborted', proposal: proposal() });
    expect(states()).deep.equal(['angle_yaw better']);
    expect(bench.running.angle_yaw?.kp).equal(BAD.kp);
  });

  it('restores the better gains of the inner loop after the guard of the controller has ended the excitation of the outer loop', async () => {
    start('angle_yaw', 'visual_yaw', 'angle_pitch');
    await until(moves('visual_yaw'));
    await bench.tripGuard('visual_yaw');
    while (bench.running.angle_yaw?.kp !== BAD.kp) await bench.wait(1);
    const { words } = bench.now;
    await until(() => bench.now.loop !== 'visual_yaw' || bench.now.words.length > words.length);
    await bench.wait(200);
    expect(bench.running.angle_yaw?.kp).equal(BETTER.kp);
    await until();
    expect(bench.now).deep.include({ state: 'better', proposal: proposal() });
  });

  it('reports each loop as failed after about 45 s if the computation of gains hangs', async () => {
    await bench.close();
    await open(() => new Promise(() => undefined));
    const beganMs = bench.clock.nowMs();
    start('angle_yaw', 'angle_pitch');
    await until();
    expect(states()).deep.equal(['angle_yaw failed', 'angle_pitch failed']);
    expect(bench.now.results[0]?.why).equal('it took too long');
    expect(bench.now).include({ state: 'failed', proposal: null });
    expect(bench.clock.nowMs() - beganMs).within(89_000, 93_000);
  });
});
