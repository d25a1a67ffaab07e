import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { JOURNAL_FILE } from '../../src/gains/journal-file.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const SAVED = {
  speed: { kp: 40, ki: 320, kd: 0 },
  angle: { kp: 100, ki: 50, kd: 6 },
  position: { kp: 5, ki: 0, kd: 0 },
};
const CARPET = { ...SAVED, speed: { kp: 30, ki: 300, kd: 0 } };
const PATH = '/api/chassis/profiles';

describe('profiles over HTTP', () => {
  const daemon = simulatedDaemon({ gains: { bounds: { kp: { max: 1000 } } } });
  const keep = (body: object) => daemon.post(PATH, body);
  const codeOf = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };

  it('are kept from what is sent, from a revision or from what is in force, and change none of it', async () => {
    const sent = await keep({ name: 'carpet', note: 'hall 3', gains: CARPET });
    expect(sent.status).equal(200);
    expect(sent.body).deep.include({ replaced: null, kept: true });
    expect(sent.body.difference).deep.equal({ speed: { before: SAVED.speed, after: CARPET.speed } });
    expect((await keep({ name: 'match' })).body.profile).deep.include({
      gains: SAVED,
      note: '',
      starred: false,
    });
    await eventually(async () => (await daemon.post('/api/chassis/pidconfig', SAVED)).status === 200);
    expect((await keep({ name: 'first', revision: 1 })).body.profile.gains).deep.equal(SAVED);
    const list = (await daemon.get(PATH)).body;
    expect(list.map((one: { profile: { name: string } }) => one.profile.name)).deep.equal([
      'carpet',
      'match',
      'first',
    ]);
    expect(list[0]).deep.include({ measured: {} });
    expect((await daemon.get('/api/status')).body.chassis.gains.revision).least(1);
  });

  it('are checked as a save is', async () => {
    const tooMuch = await keep({ name: 'x', gains: { ...CARPET, speed: { kp: 1001, ki: 0, kd: 0 } } });
    expect([tooMuch.status, tooMuch.body.errors[0].pointer]).deep.equal([400, '/gains/speed/kp']);
    const { angle, ...without } = CARPET;
    expect((await keep({ name: 'x', gains: without })).body.errors[0].pointer).equal('/gains/angle');
    for (const name of ['', '12', ' x', 'x ', 'a\nb', 'x'.repeat(41)]) {
      expect((await keep({ name })).status, JSON.stringify(name)).equal(400);
    }
  });

  it('say what would change before they change it, and replace only where that is asked for', async () => {
    const other = { ...CARPET, angle: { kp: 90, ki: 50, kd: 6 } };
    const dry = await keep({ name: 'carpet', gains: other, dryRun: true });
    expect(dry.body).deep.include({ kept: false });
    expect(dry.body.replaced).include({ name: 'carpet', note: 'hall 3' });
    expect(dry.body.difference).deep.equal({ angle: { before: CARPET.angle, after: other.angle } });
    expect(await codeOf(keep({ name: 'carpet', gains: other }))).deep.equal([409, 'profile-exists']);
    expect((await daemon.get(PATH)).body[0].profile.gains).deep.equal(CARPET);
    const replaced = await keep({ name: 'carpet', gains: other, replace: true });
    expect(replaced.body.profile).deep.include({ note: 'hall 3', gains: other });
    await keep({ name: 'carpet', gains: CARPET, replace: true });
  });

  it('are loaded by an ordinary save', async () => {
    const before = (await daemon.get('/api/status')).body.chassis.gains.revision;
    const old = await daemon.post(`${PATH}/load?baseRevision=${before - 1}`, { name: 'carpet' });
    expect([old.status, old.body.code]).deep.equal([409, 'changed-meanwhile']);
    // A controller or a disk that is too slow on a busy machine is asked again.
    await eventually(async () => (await daemon.post(`${PATH}/load`, { name: 'carpet' })).status === 200);
    expect((await daemon.get('/api/chassis/pidconfig')).body).deep.equal(CARPET);
    expect((await daemon.get('/sim/state')).body.chassis.gains.speed.kp).equal(30);
    expect((await daemon.get('/api/status')).body.chassis.gains.revision).least(before + 1);
    expect(await codeOf(daemon.post(`${PATH}/load`, { name: 'none' }))).deep.equal([404, 'unknown-profile']);
  });

  it('are compared with each other and with revisions, by loop', async () => {
    const { body } = await daemon.get('/api/chassis/compare?a=1&b=carpet');
    expect([body.a, body.b]).deep.equal([
      { revision: 1, profile: null },
      { revision: null, profile: 'carpet' },
    ]);
    expect(body.loops.speed).deep.equal({
      differs: true,
      a: { gains: SAVED.speed, measured: null },
      b: { gains: CARPET.speed, measured: null },
    });
    expect(body.loops.angle.differs).equal(false);
    expect((await daemon.get('/api/chassis/compare?a=0&b=match')).body.loops.speed.differs).equal(false);
    for (const [query, code] of [
      ['a=1', 'invalid-request'],
      ['a=1&b=999', 'unknown-revision'],
      ['a=none&b=1', 'unknown-profile'],
    ]) {
      expect((await daemon.get(`/api/chassis/compare?${query}`)).body.code, query).equal(code);
    }
  });

  it('have stars, and are in one text that the next robot takes set by set', async () => {
    expect((await daemon.post(`${PATH}/star`, { name: 'match', starred: true })).body.starred).equal(true);
    const { text, body } = await daemon.get('/api/profiles');
    expect(text.split('\n').length).above(20);
    expect(body.format).equal('trunnion profiles 1');
    expect(body.chassis.map((one: { starred: boolean }) => one.starred)).deep.equal([false, true, false]);
    for (const { name } of body.chassis) {
      expect((await daemon.post(`${PATH}/remove`, { name })).body).deep.equal({ removed: true });
    }
    expect((await daemon.get(PATH)).body).deep.equal([]);
    for (const { savedAt, ...set } of body.chassis) expect((await keep(set)).status).equal(200);
    const again = (await daemon.get('/api/profiles')).body.chassis;
    expect(again.map(({ savedAt, ...set }: { savedAt: string }) => set)).deep.equal(
      body.chassis.map(({ savedAt, ...set }: { savedAt: string }) => set),
    );
  });

  it('have their acts in the log, and are there after a restart', async () => {
    const { events } = (await daemon.get('/api/log')).body;
    const acts = events
      .filter(({ what }: { what: string }) => what.endsWith('-profile'))
      .map((event: { what: string; outcome: string; detail: { name: string } }) =>
        [event.what, event.detail?.name, event.outcome].join(' '),
      );
    for (const act of [
      'keep-profile carpet done',
      'keep-profile carpet profile-exists',
      'load-profile carpet changed-meanwhile',
      'load-profile carpet done',
      'star-profile match done',
      'remove-profile first done',
    ]) {
      expect(acts).include(act);
    }
    const before = (await daemon.get(PATH)).body;
    await daemon.restart();
    expect((await daemon.get(PATH)).body).deep.equal(before);
  });
});

describe('a profile that several people change at once', () => {
  const daemon = simulatedDaemon();

  it('has its star, whoever keeps it anew meanwhile', async () => {
    const keep = (name: string) => daemon.post(PATH, { name, note: 'again', gains: CARPET, replace: true });
    for (let round = 0; round < 30; round += 1) {
      await keep('carpet');
      await daemon.post(`${PATH}/star`, { name: 'carpet', starred: false });
      const [star] = await Promise.all([
        daemon.post(`${PATH}/star`, { name: 'carpet', starred: true }),
        keep('other'),
        keep('carpet'),
      ]);
      // A disk that is too slow for three at once refuses the last.
      if (star.status !== 200) continue;
      const list: { profile: { name: string; starred: boolean } }[] = (await daemon.get(PATH)).body;
      expect(list.find(({ profile }) => profile.name === 'carpet')?.profile.starred).equal(true);
    }
  });
});

describe('a profile that is refused because the saved gains cannot be read', () => {
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        read: async path => {
          if (!path.endsWith(JOURNAL_FILE)) return real.read(path);
          throw new RobotError('storage-failed', { operation: 'read', path, errno: 'EIO' });
        },
      }),
    },
  );

  it('is not kept', async () => {
    const { status } = await daemon.post(PATH, { name: 'carpet', gains: CARPET });
    expect(status).to.equal(503);
    expect((await daemon.get(PATH)).body).to.deep.equal([]);
  });
});
