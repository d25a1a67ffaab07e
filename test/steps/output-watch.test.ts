import { expect } from 'chai';
import { StepMemory } from '../../src/steps/step-memory.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { TuningBench } from '../support/tuning-bench.js';

describe('a recorded step response', function () {
  this.timeout(60_000);
  const bench = new TuningBench();
  let memory: StepMemory;

  before(async () => {
    await bench.open();
    const { robot, clock } = bench;
    memory = await StepMemory.open(robot, { clock, disk: new RecordingDisk(), folder: '/state' });
  });
  after(async () => {
    await memory.close();
    await bench.close();
  });

  const shareOf = async (amplitude: number, periodS: number) => {
    const unit = bench.gimbal;
    await bench.during(unit.excite({ loop: 'angle_yaw', amplitude, periodS }));
    await bench.wait(3000 * periodS + 1500);
    await bench.during(unit.excite({ loop: 'angle_yaw', amplitude: 0, periodS }));
    await bench.wait(2500);
    return memory.list('gimbal', 'angle_yaw')[0]?.figures.atLimitShare;
  };

  it('says for what part of the time the output was at a limit: 0 % for a step of 0.01 rad, 4 to 60 % for a step of 0.5 rad', async () => {
    expect(await shareOf(0.01, 2)).equal(0);
    const share = await shareOf(0.5, 2);
    expect(share).above(0.04).below(0.6);
  });

  it('gives null for the part of the time at an output limit if the daemon read the loop too seldom', async () => {
    expect(await shareOf(0.1, 0.5)).equal(null);
  });
});
