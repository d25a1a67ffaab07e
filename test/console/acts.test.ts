import { expect } from 'chai';
import { actsOf, actText } from '../../src/console/model/log-view.js';
import type { LogEvent } from '../../src/schemas/log.js';

let seq = 0;
const event = (fields: Partial<LogEvent>): LogEvent => {
  seq += 1;
  return { seq, t: seq / 10, at: '2030-01-01T00:00:00.000Z', what: 'mode', ...fields };
};
const texts = (...events: LogEvent[]) => actsOf(events).map(actText);

describe('the log of the page', () => {
  it("joins a caller's request and the change that the request caused into one sentence", () => {
    expect(
      texts(
        event({ what: 'mode', unit: 'gimbal', detail: { before: 'manual', after: 'auto' } }),
        event({ what: 'mode', unit: 'gimbal', who: 'Bob', outcome: 'done', detail: { mode: 'auto' } }),
        event({ what: 'save', unit: 'chassis', detail: { before: 1, after: 2 } }),
        event({
          what: 'load-profile',
          unit: 'chassis',
          who: 'Bob',
          outcome: 'done',
          detail: { name: 'carpet' },
        }),
        event({ what: 'stop', detail: { why: 'asked' } }),
        event({ what: 'stop', who: 'Ann', outcome: 'done' }),
      ),
    ).to.deep.equal([
      'Gimbal mode: manual → auto, by Bob.',
      'Chassis load profile: 1 → 2, name carpet, by Bob.',
      'Stop, by Ann.',
    ]);
  });

  it('has one sentence each for a change by a controller, a refused request and an accepted request', () => {
    const acts = actsOf([
      event({ what: 'mode', unit: 'gimbal', detail: { before: 'auto', after: 'manual', why: 'reset' } }),
      event({ what: 'mode', unit: 'gimbal', who: 'Bob', outcome: 'wrong-phase', detail: { mode: 'auto' } }),
      event({ what: 'mode', unit: 'chassis', who: 'Bob', outcome: 'done', detail: { mode: 'auto' } }),
    ]);
    expect(acts.map(({ who }) => who)).to.deep.equal([undefined, 'Bob', 'Bob']);
    expect(acts.map(actText)).to.deep.equal([
      'Gimbal mode: auto → manual, reset.',
      'Gimbal mode: mode auto, by Bob: refused (wrong phase).',
      'Chassis mode: mode auto, by Bob.',
    ]);
  });

  it(`says "restart" and "test steps" instead of the API's words "reset" and "excite"`, () => {
    const act = { what: 'excite', unit: 'gimbal', who: 'Bob', outcome: 'nack' } as const;
    expect(texts(event({ what: 'reset', unit: 'gimbal' }), event(act))).to.deep.equal([
      'Gimbal restart.',
      'Gimbal test steps, by Bob: refused (no answer).',
    ]);
  });

  it('shows a change and a request for the same act as two entries if the request comes 60 s after the change', () => {
    const older = event({ what: 'laser', detail: { before: 'on', after: 'off' } });
    const later = event({ what: 'laser', who: 'Bob', outcome: 'done', detail: { action: 'off' } });
    expect(texts(older, { ...later, t: older.t + 60 })).to.have.lengthOf(2);
  });
});
