import { expect } from 'chai';
import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { loadConfig } from '../../src/config/config.js';
import { systemClock } from '../../src/core/clock.js';
import { start } from '../../src/daemon/start.js';
import { isMissing } from '../../src/hardware/ports.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';

describe('start', () => {
  it('darkens a lit laser before anything else, and its end does so first of all', () =>
    inTemporaryFolder(async folder => {
      const { hardware, ...robot } = litRobot();
      const levels: unknown[] = [];
      const daemon = await start({
        config: loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state: folder }),
        hardware,
        log: pino({ level: 'silent' }),
        clock: systemClock,
        disk: {
          ...realDisk,
          makeFolder: path => {
            levels.push(robot.level());
            return realDisk.makeFolder(path);
          },
        },
      });
      expect(levels[0]).to.deep.equal({ level: 0 });
      robot.light();
      const closing = daemon.close();
      expect(robot.level()).to.deep.equal({ level: 0 });
      await closing;
    }));
});

function litRobot() {
  const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
  const { hardware } = robot;
  const { laser } = hardware;
  if (isMissing(laser)) throw new Error('the simulated robot has a laser');
  laser.write(true);
  const level = () => robot.truth().laser;
  return { hardware, level, light: () => laser.write(true) };
}
