import { expect } from 'chai';
import { UNIT_LIST } from '../../src/core/units.js';
import type { Status } from '../../src/schemas/status.js';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { ACTS } from '../support/every-call.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/**
 * The calls that are refused the second time because somebody has begun the same already. All others answer as the
 * first time.
 */
const BEGUN = /\/(trial|autotune)$/;

describe('every call that acts, twice', () => {
  const daemon = simulatedDaemon();
  const paths = (end: string) => UNIT_LIST.map(({ name }) => `/api/${name}/${end}`);

  /** What somebody set. A save makes a revision each time that it is asked for. */
  const set = async () => {
    const { stopped, laser, match, ...status }: Status = (await daemon.get('/api/status')).body;
    const units = UNIT_LIST.map(({ name }) => {
      const { mode, excitation, gains } = status[name];
      return { mode, excitation, trial: gains.trial?.id };
    });
    return { stopped, laser: laser.state, match, units };
  };

  it('are all the calls that the document names', async () => {
    const { paths } = (await daemon.get('/api/openapi.json')).body;
    const documented = Object.entries<object>(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(method => `${method.toUpperCase()} ${path}`),
    );
    const acts = documented.filter(name => !name.startsWith('GET ') && name !== 'POST /api/session');
    expect([...new Set(ACTS.map(([method, path]) => `${method} ${path}`))]).to.have.members(acts);
  });

  for (const [method, path, body] of ACTS) {
    it(`${method} ${path} ${JSON.stringify(body ?? '').slice(0, 50)}`, async () => {
      await daemon.post('/api/match/unlock');
      for (const tuning of paths('autotune')) await call(daemon.url, 'DELETE', tuning);
      for (const trial of paths('pidconfig/trial')) await call(daemon.url, 'DELETE', trial);
      await eventually(async () => (await daemon.post('/api/resume')).status === 200);
      for (const mode of paths('mode/switch')) await daemon.post(mode, { mode: 'debug' });

      const first = await call(daemon.url, method, path, body);
      const once = await set();
      const second = await call(daemon.url, method, path, body);
      const begins = method === 'POST' && BEGUN.test(path);
      expect(first.status).to.be.lessThan(500);
      expect(second.status).to.equal(begins ? 409 : first.status);
      expect(await set()).to.deep.equal(once);
    });
  }
});
