import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/core/clock.js';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, type GainSet, unitNamed } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { realDisk } from '../../src/storage/disk.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { encodeEntry } from '../support/journal-lines.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

const FILE = 'gains.jsonl';
const chassis = (kp: number): GainSet => ({
  speed: { kp, ki: 0.1, kd: 0 },
  angle: { kp, ki: 0.1, kd: 0 },
  position: { kp, ki: 0.1, kd: 0 },
});

async function withStore<T>(folder: string, act: (store: GainsStore) => Promise<T>): Promise<T> {
  const store = await GainsStore.open({ folder, clock: systemClock, disk: realDisk });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

describe('GainsStore', () => {
  it('has the defaults before the first save', () =>
    inTemporaryFolder(folder =>
      withStore(folder, async store => {
        const gains = defaultGains(unitNamed('gimbal'));
        expect(store.current('gimbal')).to.deep.equal({ revision: 0, savedAt: null, gains });
        expect(store.history('gimbal', 10)).to.deep.equal([]);
      }),
    ));

  it('has what was saved, in this run and the next, with decimals as sent', () =>
    inTemporaryFolder(async folder => {
      await withStore(folder, async store => {
        await store.save('chassis', chassis(1));
        const saved = await store.save('chassis', chassis(0.1));
        expect(saved).to.deep.equal(store.current('chassis'));
        expect(saved.revision).to.equal(2);
      });
      await withStore(folder, async store => {
        expect(store.current('chassis').gains).to.deep.equal(chassis(0.1));
        expect(store.history('chassis', 1).map(({ revision }) => revision)).to.deep.equal([2]);
        expect(store.revision('chassis', 1).gains).to.deep.equal(chassis(1));
        expect(() => store.revision('chassis', 3))
          .to.throw(RobotError)
          .with.property('code', 'unknown-revision');
        expect(store.current('gimbal').revision).to.equal(0);
      });
    }));

  it('fills loops that a line does not have with defaults, and keeps loops that it does not know', () =>
    inTemporaryFolder(async folder => {
      const triple = { kp: 9, ki: 9, kd: 9 };
      const line = encodeEntry({
        revision: 4,
        time: 't',
        unit: 'chassis',
        gains: { speed: triple, flaps: triple },
      });
      await withStore(folder, async () => undefined);
      await appendFile(join(folder, FILE), line);
      await withStore(folder, async store => {
        const { angle, position } = defaultGains(unitNamed('chassis'));
        expect(store.current('chassis').gains).to.deep.equal({ speed: triple, angle, position });
        await store.save('chassis', chassis(1));
      });
      expect(await readFile(join(folder, FILE), 'utf8')).to.contain(line);
    }));

  it('sets a damaged file aside and says so', () =>
    inTemporaryFolder(async folder => {
      await withStore(folder, store => store.save('chassis', chassis(1)));
      await appendFile(join(folder, FILE), 'torn');
      await withStore(folder, async store => {
        const { ok, setAside } = store.report();
        expect([ok, setAside.length]).to.deep.equal([true, 1]);
        expect(store.current('chassis').revision).to.equal(1);
        expect(await readdir(folder)).to.include.members([FILE, ...setAside]);
      });
    }));

  it('says what is wrong with a folder that cannot be, and how to cure it', () =>
    inTemporaryFolder(async folder => {
      await appendFile(join(folder, 'file'), '');
      await withStore(join(folder, 'file', 'state'), async store => {
        expect(store.report()).to.include({ ok: false });
        expect(store.report().detail).to.contain('ENOTDIR');
        const failure = await store.save('chassis', chassis(1)).catch(error => error.code);
        expect(failure).to.equal('storage-failed');
      });
    }));

  it('saves into no file that somebody deleted', () =>
    inTemporaryFolder(async folder => {
      const state = join(folder, 'state');
      await withStore(state, async store => {
        await store.save('chassis', chassis(1));
        await rm(state, { recursive: true });
        await store.save('chassis', chassis(2));
      });
      await withStore(state, async store => {
        expect(store.history('chassis', 9).map(({ revision }) => revision)).to.deep.equal([2, 1]);
      });
    }));

  it('does not make a start wait for a disk that hangs, and has the gains when it is done', () =>
    inTemporaryFolder(async folder => {
      await withStore(folder, store => store.save('chassis', chassis(7)));
      let done = () => {};
      const hanging = new Promise<void>(resolve => {
        done = resolve;
      });
      const clock = new ManualClock();
      const disk = { ...realDisk, makeFolder: () => hanging };
      const opening = GainsStore.open({ folder, clock, disk });
      await clock.advance(2000);
      const store = await opening;
      expect(store.report().ok).to.equal(false);
      expect(() => store.current('chassis'))
        .to.throw(RobotError)
        .with.property('code', 'storage-failed');
      done();
      await eventually(async () => store.report().ok);
      expect(store.current('chassis').gains).to.deep.equal(chassis(7));
      await store.close();
    }));

  it('shares its folder with no other process, and a killed one is no obstacle', () =>
    inTemporaryFolder(async folder => {
      const module = JSON.stringify(new URL('../../src/gains/gains-store.js', import.meta.url).href);
      const disk = JSON.stringify(new URL('../../src/storage/disk.js', import.meta.url).href);
      const clock = '{ nowMs: () => 0, after: () => ({ cancel() {} }), wallTime: () => new Date() }';
      const script =
        `const { GainsStore } = await import(${module});` +
        `const { realDisk: disk } = await import(${disk});` +
        `await GainsStore.open({ folder: ${JSON.stringify(folder)}, clock: ${clock}, disk });` +
        "process.stdout.write('open'); process.stdin.resume();";
      const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await once(other.stdout, 'data');
      const refused = await GainsStore.open({ folder, clock: systemClock, disk: realDisk }).catch(
        error => error.code,
      );
      expect(refused).to.equal('state-in-use');
      other.kill('SIGKILL');
      await once(other, 'exit');
      await withStore(folder, store => store.save('chassis', chassis(1)));
    }));

  it('touches no journal while it has no lock', () =>
    inTemporaryFolder(async folder => {
      const disk = new RecordingDisk({ [join(folder, FILE)]: Buffer.from('torn') });
      disk.interfere = async operation => {
        if (operation === 'makeFolder')
          throw new RobotError('storage-failed', { operation, path: '/state', errno: 'EIO' });
      };
      const late = await GainsStore.open({ folder, clock: systemClock, disk });
      expect(late.report().ok).to.equal(false);
      disk.interfere = async () => undefined;
      await withStore(folder, async () => {
        expect(await late.save('chassis', chassis(1)).catch(error => error.code)).to.equal('storage-failed');
        expect(() => late.current('chassis'))
          .to.throw(RobotError)
          .with.property('code', 'storage-failed');
        expect(disk.operations).to.deep.equal([]);
      });
      await late.save('chassis', chassis(1));
      expect(late.report().ok).to.equal(true);
      await late.close();
    }));

  it('makes its folder with the ones above it', () =>
    inTemporaryFolder(folder =>
      withStore(join(folder, 'a', 'b', 'c'), async store => {
        await store.save('chassis', chassis(1));
        expect(await readdir(join(folder, 'a', 'b', 'c'))).to.deep.equal([FILE]);
        expect(store.report()).to.deep.equal({ ok: true, setAside: [] });
      }),
    ));
});
