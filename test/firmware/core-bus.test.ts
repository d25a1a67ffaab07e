import { expect } from 'chai';
import { Core } from '../../sim/core/core.js';
import { unitNamed } from '../../src/core/units.js';
import { REGISTERS, telemetryRegister } from '../../src/protocol/registers.js';
import { core, shown } from './core.js';
import { frameOf, gainsFrames } from './frames.js';

const chassis = unitNamed('chassis');

describe('the C core of the firmware', () => {
  it('carries out a stop even if 39 frames came before it in the same loop period', () => {
    for (let frames = 0; frames < 40; frames += 1) {
      const controller = new Core(core, chassis, {});
      const mode = frameOf(chassis, REGISTERS.mode, { mode: 0 });
      const stop = frameOf(chassis, REGISTERS.stop, { stop: 1 });
      for (const { place, data } of gainsFrames(chassis)) controller.write(place, data);
      controller.tick();
      for (let frame = 0; frame < frames; frame += 1) controller.write(mode.place, mode.data);
      const { refused } = shown(controller, REGISTERS.status);
      for (let time = 0; time < 3; time += 1) controller.write(stop.place, stop.data);
      controller.tick();
      expect(shown(controller, REGISTERS.status).refused, `after ${frames} frames`).to.equal(refused);
      expect(shown(controller, REGISTERS.stop)).to.deep.equal({ stop: 1 });
    }
  });

  it('measures the distance of a chassis correctly while its encoder counts and its heading overflow', () => {
    let periods = 0;
    const wrapping = () => (2 ** 31 - 50 + periods) | 0;
    const controller = new Core(core, chassis, { encoder: () => 200 * wrapping(), heading: wrapping });
    for (; periods < 100; periods += 1) controller.tick();
    const pose = shown(controller, telemetryRegister(chassis));
    const wayM = ((99 * 200) / 57_344) * 2 * Math.PI * 0.05;
    expect(pose['pose.x']).to.be.closeTo(wayM, 0.002);
  });
});
