import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('a save that the disk does not confirm', () => {
  /** How many of the journal's next syncs fail. */
  let failures = 0;
  /** What the journal's file refuses from its next sync on, which works. */
  let failingAfterSync = '';
  let refusing = '';
  const refuse = (operation: string, path: string) => {
    if (refusing === operation) throw new RobotError('storage-failed', { operation, path, errno: 'EIO' });
  };
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => {
        const failing = async (path: string, opening: typeof real.create) => {
          if (path.includes(JOURNAL_FILE)) refuse('open', path);
          const file = await opening(path);
          if (!path.includes(JOURNAL_FILE)) return file;
          const sync = async () => {
            failures -= 1;
            if (failures >= 0)
              throw new RobotError('storage-failed', { operation: 'sync', path, errno: 'EIO' });
            await file.sync();
            if (failingAfterSync !== '') refusing = failingAfterSync;
          };
          const isInPlace = async () => {
            refuse('look at', path);
            return file.isInPlace();
          };
          return { ...file, sync, isInPlace };
        };
        return {
          ...real,
          openToAppend: path => failing(path, real.openToAppend),
          create: path => failing(path, real.create),
        };
      },
    },
  );
  const save = async (kp: number) => {
    const { body: gains } = await daemon.get('/api/chassis/pidconfig');
    const wanted = { ...gains, speed: { ...gains.speed, kp } };
    return { gains, answer: await daemon.post('/api/chassis/pidconfig', wanted) };
  };

  /** Once the machine is quick enough for it. */
  const saved = (kp: number) => eventually(async () => (await save(kp)).answer.status === 200);
  const refusedByTheDisk = async (kp: number, times: number) => {
    for (;;) {
      failures = times;
      const refused = await save(kp);
      if (refused.answer.body.code === 'storage-failed') return refused;
      expect(refused.answer.status).to.equal(503);
    }
  };

  it('has changed nothing when the disk works again at once', async () => {
    await saved(11);
    const { gains, answer } = await refusedByTheDisk(12, 1);
    expect(answer.body.detail).to.contain('so nothing was changed');
    await daemon.restart();
    expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(gains);
    expect((await daemon.get('/api/status')).body.storage.ok).to.equal(true);
  });

  it('says that it may be found in force after a restart when the disk goes on failing', async () => {
    const { gains, answer } = await refusedByTheDisk(13, Number.POSITIVE_INFINITY);
    expect(answer.body.detail).to.contain('may be found in force after a restart');
    expect((await daemon.get('/api/chassis/pidconfig')).body).to.deep.equal(gains);
    const messages = () =>
      daemon.logged.map(({ msg }) => msg).filter(msg => String(msg).startsWith('storage'));
    expect(messages().at(-1)).to.equal('storage-failed');
    failures = 0;
    await eventually(async () => messages().at(-1) === 'storage-works');
    await saved(14);
    await daemon.restart();
    const { body: history } = await daemon.get('/api/chassis/pidconfig/history');
    const proportions = history.map((one: typeof history) => one.gains.speed.kp);
    expect(proportions).to.deep.equal([14, 11]);
  });

  it('says so too where the line reached the disk and only the look after it failed', async () => {
    failingAfterSync = 'look at';
    const { answer } = await refusedByTheDisk(15, 0);
    expect(answer.body.detail).to.contain('may be found in force after a restart');
  });

  it('says that nothing was changed where the file cannot even be opened', async () => {
    failingAfterSync = '';
    refusing = 'open';
    const { answer } = await refusedByTheDisk(16, 0);
    expect(answer.body.detail).to.contain('could not be kept on disk, so nothing was changed');
    refusing = '';
  });
});
