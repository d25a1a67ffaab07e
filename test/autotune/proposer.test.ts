import { expect } from 'chai';
import { BareRobotPort } from '../../scripts/tune/bare-robot-port.js';
import { BareRobot } from '../../sim/bare-robot.js';
import { proposeInWorker } from '../../src/autotune/proposer.js';
import { unitNamed } from '../../src/core/units.js';
import { shapeOf } from '../../src/tuning/plant.js';
import { propose } from '../../src/tuning/propose.js';

describe('the computation of gains in a worker thread', () => {
  const someTask = async () => {
    const loop = unitNamed('gimbal').loops.find(one => one.name === 'angle_yaw')!;
    const robot = new BareRobot({ seed: 1 });
    robot.run(0.5);
    const port = new BareRobotPort(robot, 'gimbal', loop);
    const never = () => false;
    const asked = { amplitude: 0.15, periodS: 2, halves: 2, runaway: 1, swingsOn: never, rings: never };
    const { end, ...run } = await port.excite(asked);
    expect(end).equal('whole');
    const runs = [{ ...run, gains: loop.defaults }];
    return { shape: shapeOf(loop, 1000), runs, style: 'normal' } as const;
  };

  it('gives the same proposal as in the main thread, and does not block the main thread', async () => {
    const task = await someTask();
    let turns = 0;
    const turn = setInterval(() => {
      turns += 1;
    }, 1);
    const fromThread = await proposeInWorker(task, new AbortController().signal);
    clearInterval(turn);
    expect(fromThread).deep.equal(propose(task));
    expect(turns).above(10);
  });

  it('fails if the caller aborts it, and the error says that the thread ended', async () => {
    const needed = new AbortController();
    const proposal = proposeInWorker(await someTask(), needed.signal).catch(error => error.message);
    needed.abort();
    expect(await proposal).match(/thread that computes gains ended/);
  });
});
