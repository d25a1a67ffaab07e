import { expect } from 'chai';
import { BareRobotPort } from '../../scripts/tune/bare-robot-port.js';
import { STARTS, tuneLoop } from '../../scripts/tune/tune-loop.js';
import { BareRobot } from '../../sim/bare-robot.js';
import { UNIT_LIST } from '../../src/core/units.js';
import { shapeOf } from '../../src/tuning/plant.js';
import { measure } from '../../src/tuning/tuner.js';

const LOOPS = UNIT_LIST.flatMap(unit => unit.loops.map(loop => ({ unit, loop })));
const YAW = LOOPS.find(({ loop }) => loop.name === 'angle_yaw')!;

/** Tunes each loop once. Each loop starts from another set of bad gains in STARTS. `npm run tune -- --matrix` runs all combinations. */
const TUNINGS = LOOPS.map((one, index) => {
  const starts = Object.keys(STARTS);
  return { ...one, start: starts[index % starts.length] ?? 'x0.3' };
});

describe('the tuner', function () {
  this.timeout(60_000);

  for (const { unit, loop, start } of TUNINGS) {
    it(`finds good gains for the loop ${loop.name} within 45 s of simulated time, from bad start gains (defaults with “${start}”)`, async () => {
      const { isGood, after, defaults, seconds, longestRingingS, result } = await tuneLoop(
        { seed: 3 },
        unit,
        loop,
        start,
      );
      expect(isGood, JSON.stringify({ after, defaults, result }, undefined, 1)).equal(true);
      expect(seconds).below(45);
      expect(longestRingingS).below(1);
      expect(result.before.gains).deep.equal(STARTS[start]!(loop.defaults));
    });
  }

  it('finds good gains for the loop angle_yaw even if the start gains have kd 0 and five times the default ki', async () => {
    const { unit, loop } = YAW;
    const { isGood } = await tuneLoop({ seed: 1 }, unit, loop, 'kd 0, ki x5');
    expect(isGood).equal(true);
  });

  it('ends the excitation of a ringing loop before the ringing has lasted 1 s', async () => {
    const { unit, loop } = YAW;
    const robot = new BareRobot({ seed: 1 });
    robot.run(1);
    const port = new BareRobotPort(robot, unit.name, loop);
    const shape = shapeOf(loop, robot.physics.loopRateHz);
    const gains = { kp: 300, ki: 30_000, kd: 0 };
    await port.tryGains(gains);
    const began = port.seconds;
    const task = { shape, gains, amplitude: 0.15, periodS: 2, style: 'normal' } as const;
    const { figures } = await measure(task, port);
    expect(figures.end).equal('rings');
    expect(port.seconds - began).below(2);
    expect(port.longestRingingS).within(0.5, 1);
  });

  it('rates the gains of an earlier tuning as good, and does not change them', async () => {
    const { unit, loop } = YAW;
    const good = await tuneLoop({ seed: 3 }, unit, loop, 'x0.3');
    const again = await tuneLoop({ seed: 3 }, unit, { ...loop, defaults: good.after.gains }, 'as they are');
    expect(again.result.state).equal('good');
    expect(again.after.gains).deep.equal(good.after.gains);
  });

  it('proposes no gains, and says that the loop hardly moves, if the first gains push the loop the wrong way', async () => {
    const { unit, loop } = YAW;
    const { result } = await tuneLoop({ seed: 3 }, unit, loop, 'wrong way');
    expect(result.state).equal('failed');
    expect(result).include({ proposed: null, why: 'the loop hardly moves, whatever its gains' });
  });
});
