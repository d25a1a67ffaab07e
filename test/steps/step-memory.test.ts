import { expect } from 'chai';
import { StepMemory } from '../../src/steps/step-memory.js';
import { ClockedRobot } from '../support/clocked-robot.js';
import { RecordingDisk } from '../support/recording-disk.js';

const CAPTURE = {
  unit: 'chassis',
  loop: 'speed',
  number: 1,
  rateHz: 1000,
  decimation: 4,
  setpoint: [-0.3, ...Array<number>(249).fill(0.3)],
  measured: Array.from({ length: 250 }, (_, index) => 0.3 - 0.6 * Math.exp(-index / 10)),
} as const;

describe('remembered step responses', () => {
  let clocked: ClockedRobot;
  let disk: RecordingDisk;
  let memory: StepMemory;
  let copies: string[];
  const setAside = (copy: string) => copies.push(copy);
  const open = async () => {
    const { robot, clock } = clocked;
    memory = await StepMemory.open(robot, { clock, disk, folder: '/state', setAside });
  };
  const capture = () => clocked.robot.stepped.emit(CAPTURE);
  const FILE = '/state/steps/chassis-speed.jsonl';
  const file = () => disk.files()[FILE]?.toString();

  beforeEach(async () => {
    copies = [];
    clocked = await ClockedRobot.start();
    disk = new RecordingDisk();
    await open();
    await clocked.wait(3000);
  });
  afterEach(async () => {
    await memory.close();
    await clocked.end();
  });

  it('are still there after a restart of the daemon, with their gains, revision, setpoints and figures', async () => {
    capture();
    const [summary] = memory.list('chassis', 'speed');
    expect(summary).deep.include({
      number: 1,
      loop: 'speed',
      gains: { kp: 40, ki: 320, kd: 0 },
      trial: false,
      revision: 0,
      oldSetpoint: -0.3,
      setpoint: 0.3,
      periodS: 0.004,
    });
    expect(summary?.figures.end).equal('settled');
    expect(memory.list('chassis', 'angle')).deep.equal([]);
    await memory.close();
    await open();
    expect(memory.list('chassis')).deep.equal([summary]);
    expect(memory.step('chassis', 'speed', 1)?.samples.measured).deep.equal(CAPTURE.measured);
    expect(memory.step('chassis', 'speed', 2)).equal(undefined);
  });

  it('are the last 50 responses of each loop', () => {
    for (let count = 0; count < 60; count += 1) capture();
    const numbers = memory.list('chassis', 'speed').map(step => step.number);
    expect(numbers).length(50);
    expect([Math.min(...numbers), Math.max(...numbers)]).deep.equal([11, 60]);
  });

  it('do not include a response during which the gains changed, so that each belongs to one trial or one revision', async () => {
    const gains = clocked.gainsWith(1);
    await clocked.during(clocked.tryGains(1));
    capture();
    expect(memory.list('chassis')).deep.equal([]);
    await clocked.wait(2500);
    capture();
    const [tried] = memory.list('chassis');
    expect(tried).deep.include({ gains: gains.speed, trial: true, revision: null });
    await clocked.during(clocked.chassis.gains.save(gains));
    await clocked.wait(2500);
    capture();
    const [saved, kept] = memory.list('chassis');
    expect(kept).deep.equal({ ...tried, revision: 1 });
    expect(saved).deep.include({ number: 2, gains: gains.speed, trial: false, revision: 1 });
  });

  it('do not include a response that the new gains made before the disk had confirmed their save', async () => {
    const { robot } = clocked;
    clocked.disk.interfere = async operation => {
      if (operation === 'sync') await clocked.pause(420);
    };
    const saved = clocked.chassis.gains.save(clocked.gainsWith(7));
    await clocked.wait(200);
    expect([clocked.runningKp, robot.store.current('chassis').revision]).deep.equal([7, 0]);
    capture();
    await clocked.during(saved);
    capture();
    expect(memory.list('chassis')).deep.equal([]);
    await clocked.wait(2500);
    capture();
    expect(memory.list('chassis')[0]).deep.include({ revision: 1, gains: clocked.gainsWith(7).speed });
  });

  it('of a trial also belong to the revision that later saves the same gains, even after a restart of the daemon', async () => {
    const { robot } = clocked;
    await clocked.during(clocked.tryGains(1));
    await clocked.wait(2500);
    capture();
    await clocked.during(clocked.chassis.gains.save(clocked.gainsWith(1)));
    await memory.close();
    await open();
    const measured = () => memory.measured('chassis', robot.store.current('chassis'));
    expect(Object.keys(measured())).deep.equal(['speed']);
    await clocked.during(clocked.chassis.gains.save(clocked.gainsWith(2)));
    expect(measured()).deep.equal({});
  });

  it('keep the last response of an older revision, even after 60 responses of a newer revision and a restart of the daemon', async () => {
    const { robot } = clocked;
    const before = robot.store.current('chassis');
    capture();
    capture();
    const gains = clocked.gainsWith(1);
    await clocked.during(clocked.chassis.gains.save(gains));
    await clocked.wait(2500);
    expect(memory.measured('chassis', robot.store.current('chassis'))).deep.equal({});
    for (let count = 0; count < 60; count += 1) capture();
    expect(memory.measured('chassis', before).speed?.number).equal(2);
    expect(memory.measured('chassis', robot.store.current('chassis')).speed?.number).equal(62);
    await memory.close();
    await open();
    expect(memory.measured('chassis', before).speed?.number).equal(2);
    expect(memory.measured('chassis', before).speed?.figures.end).equal('settled');
    expect(memory.measured('chassis', { ...before, gains })).deep.equal({});
    expect(memory.measured('chassis', { gains }).speed?.number).equal(62);
  });

  it('are ranked by speed: the best response of a loop is the fastest one to a step as large as the newest step', () => {
    const { stepped } = clocked.robot;
    const settle = (samples: number, height = 0.6) => {
      const measured = Array.from({ length: 250 }, (_, at) => height * (1 - Math.exp(-at / samples)));
      stepped.emit({ ...CAPTURE, setpoint: [0, ...Array(249).fill(height)], measured });
    };
    settle(4, 0.1);
    for (const samples of [20, 10, 15]) settle(samples);
    expect(memory.best('chassis').map(step => [step.loop, step.number])).deep.equal([['speed', 3]]);
    expect(memory.best('chassis', 'angle')).deep.equal([]);
    settle(1000);
    expect(memory.best('chassis', 'speed')[0]?.number).equal(3);
  });

  it('are written to the disk late: none within 1 s after the first response, but all within 4.5 s after the last response', async () => {
    capture();
    await clocked.wait(1000);
    expect(file()).equal(undefined);
    capture();
    await clocked.wait(4500);
    expect(file()?.split('\n')).length(3);
  });

  it('are loaded even if the file of another loop cannot be read', async () => {
    capture();
    await memory.close();
    const read = disk.read.bind(disk);
    disk.read = path => (path === FILE ? read(path) : Promise.reject(new Error('EIO')));
    await open();
    expect(memory.list('chassis', 'speed')).length(1);
  });

  it('are loaded later if the disk hangs when the daemon starts, and responses recorded meanwhile get higher numbers', async () => {
    capture();
    await memory.close();
    const answerAgain = disk.hang();
    await clocked.during(open(), 2100);
    await clocked.wait(1000);
    capture();
    expect(memory.list('chassis').map(({ number }) => number)).deep.equal([1]);
    answerAgain();
    await clocked.wait(1);
    expect(memory.list('chassis').map(({ number }) => number)).deep.equal([2, 1]);
    await memory.close();
    await open();
    expect(memory.list('chassis')).length(2);
  });

  it('are not loaded if their file is damaged, and a copy of each damaged file is kept on the disk', async () => {
    capture();
    await memory.close();
    const damaged = [`${file()}{"loop":"speed","number":`, '{'];
    for (const content of damaged) {
      disk.put(FILE, Buffer.from(content));
      await open();
      expect(memory.list('chassis')).deep.equal([]);
      await memory.close();
    }
    expect(copies.map(copy => String(disk.files()[copy]))).deep.equal(damaged);
  });

  it('are not overwritten by new responses if their file could not be read when the daemon started', async () => {
    await memory.close();
    disk.put(FILE, Buffer.from('{}'));
    disk.fail('read');
    await open();
    capture();
    await memory.close();
    expect(file()).equal('{}');
  });
});
