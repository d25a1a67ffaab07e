import { expect } from 'chai';
import { isSafe, statusText, wrongIn } from '../../src/command/status-command.js';
import type { Status } from '../../src/schemas/status.js';
import { NO_MATCH_STATUS, statusWith, UNIT_STATUS } from '../support/status.js';

const resting = { ...UNIT_STATUS, torque: 'off' } as const;
const AT_REST = { gimbal: resting, chassis: resting };

const rows: readonly (readonly [string, Partial<Status>, boolean, RegExp | undefined])[] = [
  ['is at rest', {}, true, undefined],
  ['is stopped', { stopped: true }, true, undefined],
  ['has torque on a unit', { gimbal: UNIT_STATUS }, false, undefined],
  ['has its laser on', { laser: { state: 'on', light: 'on' } }, false, undefined],
  [
    'has a laser pin that does not obey',
    { laser: { state: null, light: 'fault' } },
    false,
    /LASER MAY BE ON/,
  ],
  [
    'has no laser pin',
    { laser: { state: null, light: 'unknown', problem: { code: 'x', detail: 'No pin.' } } },
    false,
    /No pin/,
  ],
  [
    'has an offline unit that has cut its torque',
    { gimbal: { ...resting, torque: 'silent', online: false } },
    true,
    /Gimbal is offline/,
  ],
  [
    'has an offline unit whose torque is unknown',
    { gimbal: { ...resting, torque: 'unknown', online: false } },
    false,
    /offline/,
  ],
  ['has a low supply voltage', { chassis: { ...resting, faults: ['supply_low'] } }, true, /supply low/],
  ['has a full disk', { storage: { ok: false, setAside: [], detail: 'No room.' } }, true, /No room/],
  ['cannot store its event log', { log: { ok: false } }, true, /Storage .*: events\./],
  [
    'hears nothing from its referee desk',
    { match: { ...NO_MATCH_STATUS, refereeSilent: true } },
    true,
    /desk is silent/,
  ],
  [
    'is locked',
    { match: { ...NO_MATCH_STATUS, lock: { id: 'L1', by: 'desk', reason: 'x' } } },
    true,
    undefined,
  ],
];

describe('“trunnion status”', () => {
  for (const [what, changes, safe, wrong] of rows) {
    it(`gives the verdict “${safe ? 'safe' : 'not safe'}” and lists ${wrong === undefined ? 'no fault' : 'the fault'} if the robot ${what}`, () => {
      const status = statusWith({ ...AT_REST, ...changes });
      expect(isSafe(status)).to.equal(safe);
      if (wrong === undefined) expect(wrongIn(status)).to.deep.equal([]);
      else expect(wrongIn(status).join('\n')).to.match(wrong);
    });
  }

  it('names the caller who stopped the robot, not another caller whose lock was refused', () => {
    const common = { t: 1, at: 'AT' };
    const stop = { ...common, seq: 1, what: 'stop', detail: { why: 'asked' } };
    const refused = { ...common, seq: 2, what: 'lock', who: 'rival', outcome: 'not-allowed' };
    const done = { ...common, seq: 3, what: 'stop', who: 'operator', outcome: 'not-confirmed' };
    const text = statusText(statusWith({ stopped: true }), undefined, [stop, refused, done]);
    expect(text).to.contain('stopped  yes since AT by operator\n');
  });

  it('shows a lock on one line, and escapes control characters in the reason of the lock', () => {
    const reason = 'x\r\n\u009b2J  safe   yes\u202e';
    const text = statusText(
      statusWith({ match: { ...NO_MATCH_STATUS, lock: { id: 'L1', by: 'desk', reason } } }),
      undefined,
    );
    expect(text).to.contain('LOCKED by desk: x\\u000d\\u000a\\u009b2J  safe   yes\\u202e, no lease\n');
  });
});
