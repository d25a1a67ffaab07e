import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { ClockedDaemon } from '../support/clocked-daemon.js';

const EXCITATION = { loop: 'angle_yaw', amplitude: 0.1, periodS: 2 };
const END = { ask: 'POST /api/gimbal/excitation', body: { ...EXCITATION, amplitude: 0 } };
const TRIAL = { gains: defaultGains(unitNamed('gimbal')), leaseS: 5 };

describe('if a process that was paused for 1 s reads the newer of two requests first,', () => {
  let daemon: ClockedDaemon;
  beforeEach(async () => {
    daemon = await ClockedDaemon.start();
    await daemon.bodyOf('POST /api/gimbal/mode/switch', { mode: 'debug' });
    await daemon.wait(100);
  });
  afterEach(() => daemon.close());

  for (const [end, begin] of [
    [END, { ask: 'POST /api/gimbal/excitation', body: EXCITATION }],
    [
      { ask: 'DELETE /api/gimbal/autotune' },
      { ask: 'POST /api/gimbal/autotune', body: { loop: 'angle_yaw' } },
    ],
    [
      { ask: 'POST /api/gimbal/mode/switch', body: { mode: 'debug' } },
      { ask: 'POST /api/gimbal/excitation', body: EXCITATION },
    ],
    [{ ask: 'DELETE /api/gimbal/pidconfig/trial' }, { ask: 'POST /api/gimbal/pidconfig/trial', body: TRIAL }],
  ] as const)
    it(`the older ${begin.ask} is refused, because the newer ${end.ask} ends what it begins`, async () => {
      daemon.late(1000);
      const newer = daemon.send(end);
      const older = daemon.send(begin);
      // Another end that is read later does not hide the first one.
      const last = daemon.send(END);
      await daemon.wait(600);
      const statuses = [newer, older, last].map(one => one?.received?.status);
      expect(statuses).to.deep.equal([200, 409, 200]);
      const { gimbal } = await daemon.bodyOf('GET /api/status');
      expect([gimbal.excitation?.amplitude ?? 0, gimbal.gains.trial]).to.deep.equal([0, undefined]);
      const { tune } = await daemon.bodyOf('GET /api/gimbal/autotune');
      expect(tune?.state).to.not.equal('running');
    });
});
