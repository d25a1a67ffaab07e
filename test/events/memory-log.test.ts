import { expect } from 'chai';
import { MemoryLog } from '../../src/events/memory-log.js';
import type { LogEvent } from '../../src/schemas/log.js';
import { ManualClock } from '../support/manual-clock.js';

describe('the event log in memory', () => {
  let clock: ManualClock;
  let log: MemoryLog;
  beforeEach(() => {
    clock = new ManualClock();
    log = new MemoryLog(clock);
  });

  const events = (after = 0) => log.after(after).events;
  const refused = (who: string, what = 'laser') =>
    log.recordRequest({ what, who, outcome: 'stopped' }, { mayAct: true, changed: false });
  const switched = (action: string, changed = true) =>
    log.recordRequest(
      { what: 'laser', who: 'operator', outcome: 'done', detail: { action } },
      { mayAct: true, changed },
    );
  const seqs = (of: readonly LogEvent[]) => of.map(({ seq }) => seq);

  it('gives each event a number and a time', async () => {
    await clock.advance(1500);
    log.record({ what: 'reset', unit: 'gimbal' });
    expect(JSON.parse(JSON.stringify(events()))).to.deep.equal([
      { seq: 1, t: 1.5, at: '2030-01-01T00:00:01.500Z', what: 'reset', unit: 'gimbal' },
    ]);
  });

  it('returns the events after a given number, and reports each new event to its listeners', () => {
    const heard: number[] = [];
    log.recorded.add(({ event }) => heard.push(event.seq));
    for (let count = 0; count < 3; count += 1) log.record({ what: 'reset' });
    expect(seqs(events(1))).to.deep.equal([2, 3]);
    expect(events(3)).to.deep.equal([]);
    expect(events(99)).to.deep.equal([]);
    expect(log.after(99).dropped).to.equal(0);
    expect(heard).to.deep.equal([1, 2, 3]);
  });

  it('keeps the newest 400 events, and counts the events that it dropped', () => {
    for (let count = 0; count < 1000; count += 1) log.record({ what: 'reset' });
    const page = log.after(100);
    expect(page.events.length).to.equal(400);
    expect(page.events.at(-1)?.seq).to.equal(1000);
    expect(page.dropped).to.equal(900 - page.events.length);
    expect(log.after(990).dropped).to.equal(0);
  });

  it('immediately records the first of several equal refusals, and a minute later one line with the count of the others', async () => {
    for (let count = 0; count < 50; count += 1) refused('10.0.0.7');
    refused('10.0.0.8');
    refused('10.0.0.7', 'mode');
    const shown = events().map(({ who, what }) => `${who} ${what}`);
    expect(shown).to.deep.equal(['10.0.0.7 laser', '10.0.0.8 laser', '10.0.0.7 mode']);
    await clock.advance(60_000);
    expect(events(3).map(({ who, outcome, detail }) => ({ who, outcome, detail }))).to.deep.equal([
      { who: '10.0.0.7', outcome: 'stopped', detail: { repeats: 49 } },
    ]);
    refused('10.0.0.7');
    expect(events(4).length).to.equal(1);
  });

  it('keeps the line of an act that was carried out, even if 10,000 refusals follow', () => {
    switched('on');
    for (let host = 0; host < 10_000; host += 1) refused(`10.0.${host >> 8}.${host & 255}`);
    expect(events()[0]).to.include({ what: 'laser', outcome: 'done' });
    expect(events().length).to.equal(101);
  });

  it('keeps a refused request of the referee, even if 200 different refused requests of an operator follow', () => {
    refused('referee', 'phase');
    for (let act = 0; act < 200; act += 1) refused('operator', `act ${act}`);
    expect(events().filter(({ who }) => who === 'referee')).to.have.length(1);
    expect(events().at(-1)).to.include({ who: 'operator', what: 'act 199' });
  });

  it('records each act that changes something, and a minute later one line with the count of the acts that changed nothing', async () => {
    for (const action of ['on', 'off', 'on']) switched(action);
    for (let count = 0; count < 5; count += 1) switched('on', false);
    switched('off');
    await clock.advance(60_000);
    const details = events().map(({ detail }) => Object.values(detail ?? {}).join(' '));
    expect(details).to.deep.equal(['on', 'off', 'on', 'off', 'on 5']);
  });

  describe('during a flood of requests from callers without rights', () => {
    const asks = (what: string, index: number, outcome = 'token-required', changed = false) =>
      log.recordRequest(
        { what, who: `10.9.${index >> 8}.${index & 255}`, outcome },
        { mayAct: false, changed },
      );
    const flood = () => {
      for (let index = 0; index < 10_000; index += 1) asks(index % 2 === 0 ? 'mode' : 'laser', index);
    };
    const shown = (after = 0) => events(after).map(({ what, detail }) => ({ what, ...detail }));

    it('records the first refusal, and a minute later one line with the count of the others', async () => {
      flood();
      expect(shown()).to.deep.equal([{ what: 'mode' }]);
      log.record({ what: 'reset' });
      await clock.advance(60_000);
      expect(shown(2)).to.deep.equal([{ what: 'unlisted', repeats: 9999 }]);
    });

    it('records the first stop that changes something and the first that changes nothing, and counts further stops', async () => {
      flood();
      for (const changed of [true, false, true, false]) asks('stop', 1, 'done', changed);
      log.record({ what: 'reset' });
      await clock.advance(60_000);
      const stop = { what: 'stop' };
      expect(shown(1)).to.deep.equal([stop, stop, { what: 'reset' }, { what: 'unlisted', repeats: 9999 }]);
      log.close();
      expect(shown(5)).to.deep.equal([
        { what: 'unlisted', act: 'stop', changed: true, repeats: 1 },
        { what: 'unlisted', act: 'stop', repeats: 1 },
      ]);
    });

    it('has only two lines after 24 hours: the first refusal, and the count of the other refusals', async () => {
      const heard: LogEvent[] = [];
      log.recorded.add(({ event }) => heard.push(event));
      for (let hour = 0; hour < 24; hour += 1) {
        flood();
        await clock.advance(3_600_000);
      }
      log.close();
      expect(heard.map(({ what }) => what)).to.deep.equal(['mode', 'unlisted']);
    });

    it('keeps the refused requests of callers with rights', async () => {
      for (const who of ['desk', 'operator']) refused(who);
      for (let act = 0; act < 300; act += 1) {
        flood();
        log.record({ what: 'reset' });
        await clock.advance(60_000);
      }
      const callers = events().flatMap(({ outcome, who }) => (outcome === 'stopped' ? [who] : []));
      expect(callers).to.deep.equal(['desk', 'operator']);
    });
  });
});
