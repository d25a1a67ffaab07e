import { expect } from 'chai';
import { EventLog } from '../../src/events/event-log.js';
import type { LogEvent } from '../../src/schemas/log.js';
import { ManualClock } from '../support/manual-clock.js';

describe('event log', () => {
  let clock: ManualClock;
  let log: EventLog;
  beforeEach(() => {
    clock = new ManualClock();
    log = new EventLog(clock);
  });
  afterEach(() => log.close());

  const events = (after = 0) => log.after(after).events;
  const refused = (who: string, what = 'laser') => log.record({ what, who, outcome: 'stopped' });
  const switched = (action: string) =>
    log.record({ what: 'laser', who: '10.0.0.7', outcome: 'done', detail: { action } });
  const seqs = (of: readonly LogEvent[]) => of.map(({ seq }) => seq);

  it('numbers what is recorded and says when it was', async () => {
    await clock.advance(1500);
    log.record({ what: 'reset', unit: 'gimbal' });
    expect(JSON.parse(JSON.stringify(events()))).to.deep.equal([
      { seq: 1, t: 1.5, at: '2030-01-01T00:00:01.500Z', what: 'reset', unit: 'gimbal' },
    ]);
  });

  it('returns the events after a given one, and reports each new event', () => {
    const heard: number[] = [];
    log.recorded.add(({ event }) => heard.push(event.seq));
    for (let count = 0; count < 3; count += 1) log.record({ what: 'reset' });
    expect(seqs(events(1))).to.deep.equal([2, 3]);
    expect(events(3)).to.deep.equal([]);
    expect(events(99)).to.deep.equal([]);
    expect(log.after(99).dropped).to.equal(0);
    expect(heard).to.deep.equal([1, 2, 3]);
  });

  it('keeps the newest and says how many it dropped', () => {
    for (let count = 0; count < 1000; count += 1) log.record({ what: 'reset' });
    const page = log.after(100);
    expect(page.events.length).to.equal(400);
    expect(page.events.at(-1)?.seq).to.equal(1000);
    expect(page.dropped).to.equal(900 - page.events.length);
    expect(log.after(990).dropped).to.equal(0);
  });

  it('makes one line a minute of equal refusals, with their count', async () => {
    for (let count = 0; count < 50; count += 1) refused('10.0.0.7');
    refused('10.0.0.8');
    refused('10.0.0.7', 'mode');
    expect(events().map(({ who, what }) => [who, what])).to.deep.equal([
      ['10.0.0.7', 'laser'],
      ['10.0.0.8', 'laser'],
      ['10.0.0.7', 'mode'],
    ]);
    await clock.advance(60_000);
    expect(events(3).map(({ who, outcome, detail }) => ({ who, outcome, detail }))).to.deep.equal([
      { who: '10.0.0.7', outcome: 'stopped', detail: { repeats: 49 } },
    ]);
    refused('10.0.0.7');
    expect(events(4).length).to.equal(1);
  });

  it('never drops an act to make room for refusals', () => {
    switched('on');
    for (let host = 0; host < 10_000; host += 1) refused(`10.0.${host >> 8}.${host & 255}`);
    log.close();
    expect(events()[0]).to.include({ what: 'laser', outcome: 'done' });
    expect(events().at(-1)).to.deep.include({ what: 'unlisted', detail: { requests: 10_000 - 200 } });
  });

  it('makes one line of an act that is done again and again, and keeps the order of different ones', () => {
    for (const action of ['on', 'on', 'on', 'off', 'on', 'off']) switched(action);
    expect(events().map(({ detail }) => Object.values(detail ?? {}).join(' '))).to.deep.equal([
      'on',
      'off',
      'on 2',
      'on',
      'off',
    ]);
  });

  it('counts an act after a change that the robot made itself as a new act', () => {
    switched('on');
    log.record({ what: 'laser', detail: { reason: 'time limit' } });
    switched('on');
    expect(events().map(({ who }) => who)).to.deep.equal(['10.0.0.7', undefined, '10.0.0.7']);
  });

  describe('for callers without rights', () => {
    const asks = (what: string, index = 0, changed = false) =>
      log.recordOf('stranger', { what, who: `10.9.${index >> 8}.${index & 255}`, outcome: 'done' }, changed);
    let heard: LogEvent[];
    beforeEach(() => {
      heard = [];
      log.recorded.add(({ event, hasRights }) => {
        if (!hasRights) heard.push(event);
      });
    });
    const ofStrangers = () => heard.map(({ what, detail }) => ({ what, ...detail }));

    it('merges what changed nothing, whatever the order', async () => {
      for (let count = 0; count < 20_000; count += 1) asks(count % 2 === 0 ? 'logout' : 'laser');
      expect(ofStrangers()).to.deep.equal([{ what: 'logout' }, { what: 'laser' }]);
      await clock.advance(60_000);
      expect(ofStrangers().slice(2)).to.deep.equal([
        { what: 'logout', repeats: 9999 },
        { what: 'laser', repeats: 9999 },
      ]);
    });

    it('makes a line of what changed something', () => {
      for (const changed of [false, true, true, false, true]) asks('stop', 0, changed);
      expect(ofStrangers()).to.deep.equal([
        { what: 'stop' },
        { what: 'stop' },
        { what: 'stop' },
        { what: 'stop', repeats: 1 },
        { what: 'stop' },
      ]);
    });

    it('has few lines, then a count, which names what changed something', async () => {
      for (let index = 0; index < 1000; index += 1) asks('logout', index);
      asks('stop', 0, true);
      asks('laser', 1, true);
      asks('laser', 2, true);
      expect(ofStrangers().length).to.equal(32);
      await clock.advance(60_000);
      expect(ofStrangers().slice(32)).to.deep.equal([
        { what: 'unlisted', requests: 1003 - 32, stop: 1, laser: 2 },
      ]);
      await clock.advance(24 * 3_600_000);
      for (let index = 0; index < 1000; index += 1) asks('logout', index);
      await clock.advance(24 * 3_600_000);
      expect(ofStrangers()).to.have.length(33);
    });

    it('has a line more for every four lines of the others, and tells the last count at the end', () => {
      for (let index = 0; index < 32; index += 1) asks('logout', index);
      for (let count = 0; count < 8; count += 1) log.record({ what: 'reset' });
      for (let index = 100; index < 110; index += 1) asks('logout', index);
      log.close();
      expect(ofStrangers().slice(32)).to.deep.equal([
        { what: 'logout' },
        { what: 'logout' },
        { what: 'unlisted', requests: 8 },
      ]);
    });

    it('never takes a place in memory from the others, nor the merging of their refusals', async () => {
      refused('desk');
      switched('on');
      for (let index = 0; index < 10_000; index += 1) asks('stop', index, true);
      for (let count = 0; count < 10; count += 1) refused('desk');
      expect(events().filter(({ who }) => who === 'desk')).to.have.length(1);
      expect(events().filter(({ who }) => who === '10.0.0.7')).to.have.length(1);
      await clock.advance(60_000);
      expect(events().at(-1)?.detail).to.deep.include({ requests: 10_000 - 32 });
      expect(
        events()
          .filter(({ who }) => who === 'desk')
          .at(-1)?.detail,
      ).to.deep.equal({ repeats: 10 });
    });
  });
});
