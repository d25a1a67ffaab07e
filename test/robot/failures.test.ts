import { expect } from 'chai';
import { type ErrorCode, RobotError } from '../../src/core/errors.js';
import { UNITS } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import type { DiskFile } from '../../src/storage/disk.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/** The codes that errno becomes, with one errno of each. */
const BUS_FAILURES: readonly [ErrorCode, number][] = [
  ['nack', 121],
  ['nack', 6],
  ['bus-io', 5],
  ['bus-timeout', 110],
  ['arbitration-lost', 11],
  ['bus-unavailable', 19],
  ['bus-failed', 95],
];

describe('a bus that fails for the gimbal', () => {
  let failure: RobotError | undefined;
  const daemon = simulatedDaemon(
    {},
    {
      bus: (simulated): I2cBus => ({
        readBlock: async (address, register, length) => {
          if (failure !== undefined && address === UNITS.gimbal.address) throw failure;
          return simulated.readBlock(address, register, length);
        },
        writeBlock: async (address, register, data) => {
          if (failure !== undefined && address === UNITS.gimbal.address) throw failure;
          return simulated.writeBlock(address, register, data);
        },
      }),
    },
  );

  for (const [code, errno] of BUS_FAILURES) {
    it(`with errno ${errno} is answered as ${code}; the chassis and the laser are untouched`, async () => {
      failure = new RobotError(code, { errno, cure: 'Do this.' });
      const first = await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
      expect(first.status).to.equal(503);
      expect(first.body.code).to.be.oneOf([code, 'unit-offline']);
      expect(first.body.unit).to.equal('gimbal');
      expect((await daemon.post('/api/chassis/mode/switch', { mode: 'auto' })).status).to.equal(200);
      expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(200);
      await eventually(async () => !(await daemon.get('/api/status')).body.gimbal.online);
      const { gimbal, chassis } = (await daemon.get('/api/status')).body;
      expect(gimbal.problem.code).to.equal(code);
      expect(gimbal.problem.detail).not.to.match(/errno|stack|\bat /);
      expect(chassis.online).to.equal(true);
      failure = undefined;
      await eventually(async () => (await daemon.get('/api/status')).body.gimbal.online);
    });
  }
});

describe('a resume while a controller is being stopped', () => {
  let resume: (() => Promise<unknown>) | undefined;
  const daemon = simulatedDaemon(
    {},
    {
      bus: (simulated): I2cBus => ({
        readBlock: (address, register, length) => simulated.readBlock(address, register, length),
        writeBlock: async (address, register, data) => {
          const latches = address === UNITS.gimbal.address && register === REGISTERS.stop.address;
          const now = latches ? resume : undefined;
          if (now !== undefined) {
            resume = undefined;
            await now();
          }
          return simulated.writeBlock(address, register, data);
        },
      }),
    },
  );

  it('holds, although the controller was latched after it', async () => {
    const status = async () => (await daemon.get('/api/status')).body;
    const fault = (target: string, name: string) => daemon.post('/sim/faults', { target, fault: name });
    for (const unit of ['gimbal', 'chassis']) await fault(unit, 'unplug');
    await eventually(async () => !(await status()).gimbal.online && !(await status()).chassis.online);
    await daemon.post('/api/stop');
    let answer: unknown;
    resume = async () => {
      answer = (await daemon.post('/api/resume')).body;
    };
    await fault('gimbal', 'plug');
    const truth = async () => (await daemon.get('/sim/state')).body;
    await eventually(async () => (await status()).gimbal.online && !(await truth()).gimbal.stopped);
    expect(answer).to.deep.equal({ stopped: false });
    expect((await status()).stopped).to.equal(false);
  });
});

describe('a disk that fails', () => {
  let errno: string | undefined;
  const check = () => {
    if (errno !== undefined) throw new RobotError('storage-failed', { operation: 'write', path: 'x', errno });
  };
  const failing = (file: DiskFile): DiskFile => ({
    append: async data => {
      if (errno === 'EIO') await file.append(data.subarray(0, 10));
      check();
      return file.append(data);
    },
    sync: () => file.sync(),
    isInPlace: () => file.isInPlace(),
    close: () => file.close(),
  });
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        openToAppend: async path => failing(await real.openToAppend(path)),
        create: async path => {
          check();
          return failing(await real.create(path));
        },
      }),
    },
  );

  for (const name of ['ENOSPC', 'EROFS', 'EIO']) {
    it(`with ${name} answers 503, and the controller is back on the journal's gains`, async () => {
      const before = (await daemon.get('/api/chassis/pidconfig')).body;
      const wanted = { ...before, speed: { kp: Math.random(), ki: 1, kd: 1 } };
      errno = name;
      const answer = await daemon.post('/api/chassis/pidconfig', wanted);
      expect([answer.status, answer.body.code]).to.deep.equal([503, 'storage-failed']);
      expect(answer.headers.get('retry-after')).to.equal('5');
      expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(before);
      const { gains } = daemon.sim.truth().chassis as { gains: typeof before };
      expect(gains.speed.kp).to.equal(Math.fround(before.speed.kp));
      const { storage } = (await daemon.get('/api/status')).body;
      expect([storage.ok, storage.detail]).to.deep.equal([false, `cannot write x: ${name}`]);
      errno = undefined;
      expect((await daemon.post('/api/chassis/pidconfig', wanted)).body).to.deep.equal(wanted);
      await daemon.restart();
      expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(wanted);
    });
  }
});
