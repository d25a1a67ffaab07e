import { expect } from 'chai';
import { pino } from 'pino';
import { RobotError } from '../../src/core/errors.js';
import { Listeners } from '../../src/core/listeners.js';
import { logEvents } from '../../src/events/event-lines.js';
import { EventLog } from '../../src/events/event-log.js';
import { failure, type RobotEvent } from '../../src/robot/robot-event.js';
import { ManualClock } from '../support/manual-clock.js';

describe('the log lines of events', () => {
  let lines: Record<string, unknown>[];
  let clock: ManualClock;
  let eventLog: EventLog;
  let events: Listeners<RobotEvent>;
  let end: () => void;

  beforeEach(() => {
    lines = [];
    clock = new ManualClock();
    eventLog = new EventLog(clock);
    events = new Listeners<RobotEvent>();
    const write = (line: string) => {
      const { time, pid, hostname, ...rest } = JSON.parse(line);
      lines.push(rest);
    };
    end = logEvents({ events }, eventLog, pino({}, { write }), clock);
  });
  afterEach(() => end());

  it('have the event’s name, its detail and the reason of a failure', () => {
    events.emit({ what: 'mode', unit: 'gimbal', detail: { before: 'manual', after: 'auto' } });
    events.emit({ unit: 'chassis', ...failure('offline', new RobotError('nack', { address: 33 })) });
    eventLog.record({ what: 'phase', detail: { before: 'none', after: 'pre' } });
    expect(lines).to.deep.equal([
      { level: 30, unit: 'gimbal', before: 'manual', after: 'auto', msg: 'mode' },
      { level: 40, unit: 'chassis', code: 'nack', address: 33, msg: 'offline' },
      { level: 30, before: 'none', after: 'pre', msg: 'phase' },
    ]);
    const recorded = eventLog.after(0).events.map(({ seq, t, at, ...event }) => event);
    expect(JSON.parse(JSON.stringify(recorded))).to.deep.equal([
      { what: 'mode', unit: 'gimbal', detail: { before: 'manual', after: 'auto' } },
      { what: 'offline', unit: 'chassis', detail: { code: 'nack' } },
      { what: 'phase', detail: { before: 'none', after: 'pre' } },
    ]);
  });

  it('leave out acts, because their request has a line', () => {
    eventLog.record({ what: 'stop', who: 'desk', outcome: 'done' });
    expect(lines).to.deep.equal([]);
  });

  it('are one a minute for equal warnings, and an absent controller does not fill the event log', async () => {
    const nack = new RobotError('nack', { address: 32 });
    for (let second = 0; second < 90; second += 1) {
      for (let poll = 0; poll < 2; poll += 1)
        events.emit({ unit: 'gimbal', ...failure('poll-failed', nack) });
      await clock.advance(1000);
    }
    events.emit({ unit: 'chassis', ...failure('poll-failed', nack) });
    expect(lines.map(({ unit, msg, repeats }) => [unit, msg, repeats])).to.deep.equal([
      ['gimbal', 'poll-failed', undefined],
      ['gimbal', 'poll-failed', 119],
      ['gimbal', 'poll-failed', undefined],
      ['chassis', 'poll-failed', undefined],
    ]);
    expect(eventLog.after(0).events).to.deep.equal([]);
  });
});
