import { expect } from 'chai';
import { isSafe, statusText, wrongIn } from '../../src/command/status-command.js';
import type { Status } from '../../src/schemas/status.js';
import { NO_MATCH_STATUS, statusWith, UNIT_STATUS } from '../support/status.js';

const resting = { ...UNIT_STATUS, torque: 'off' } as const;
const AT_REST = { gimbal: resting, chassis: resting };

const rows: readonly (readonly [string, Partial<Status>, boolean, RegExp | undefined])[] = [
  ['a robot at rest', {}, true, undefined],
  ['a stopped robot', { stopped: true }, true, undefined],
  ['a unit with torque', { gimbal: UNIT_STATUS }, false, undefined],
  ['a laser that is on', { laser: { state: 'on', light: 'on' } }, false, undefined],
  ['a pin that does not obey', { laser: { state: null, light: 'fault' } }, false, /LASER MAY BE ON/],
  [
    'no pin',
    { laser: { state: null, light: 'unknown', problem: { code: 'x', detail: 'No pin.' } } },
    false,
    /No pin/,
  ],
  ['a silent unit', { gimbal: { ...resting, torque: 'silent', online: false } }, true, /Gimbal is offline/],
  ['an unknown torque', { gimbal: { ...resting, torque: 'unknown', online: false } }, false, /offline/],
  ['a fault', { chassis: { ...resting, faults: ['supply_low'] } }, true, /supply low/],
  ['a full disk', { storage: { ok: false, setAside: [], detail: 'No room.' } }, true, /No room/],
  ['a log that is not kept', { log: { ok: false } }, true, /Storage .*: events\./],
  ['a silent desk', { match: { ...NO_MATCH_STATUS, refereeSilent: true } }, true, /desk is silent/],
  ['a lock', { match: { ...NO_MATCH_STATUS, lock: { id: 'L1', by: 'desk', reason: 'x' } } }, true, undefined],
];

describe('trunnion status', () => {
  for (const [what, changes, safe, wrong] of rows) {
    it(`reports ${what} as ${safe ? 'safe' : 'not safe'}, ${wrong === undefined ? 'without a fault' : 'with its fault'}`, () => {
      const status = statusWith({ ...AT_REST, ...changes });
      expect(isSafe(status)).to.equal(safe);
      if (wrong === undefined) expect(wrongIn(status)).to.deep.equal([]);
      else expect(wrongIn(status).join('\n')).to.match(wrong);
    });
  }

  it('names the caller who stopped the robot, and nobody who was refused meanwhile', () => {
    const common = { t: 1, at: 'AT' };
    const stop = { ...common, seq: 1, what: 'stop', detail: { why: 'asked' } };
    const refused = { ...common, seq: 2, what: 'lock', who: 'rival', outcome: 'not-allowed' };
    const done = { ...common, seq: 3, what: 'stop', who: 'operator', outcome: 'not-confirmed' };
    const text = statusText(statusWith({ stopped: true }), undefined, [stop, refused, done]);
    expect(text).to.contain('stopped  yes since AT by operator\n');
  });

  it('shows a lock whose reason has control characters on one line, without these characters', () => {
    const reason = 'x\r\n\u009b2J  safe   yes\u202e';
    const text = statusText(
      statusWith({ match: { ...NO_MATCH_STATUS, lock: { id: 'L1', by: 'desk', reason } } }),
      undefined,
    );
    expect(text).to.contain('LOCKED by desk: x\\u000d\\u000a\\u009b2J  safe   yes\\u202e, no lease\n');
  });
});
