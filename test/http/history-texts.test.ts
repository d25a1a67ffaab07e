import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { HistoryTexts } from '../../src/http/history-texts.js';
import type { HistoryLine } from '../../src/schemas/history.js';

function historyUpTo(newest: number, length: number): HistoryLine[] {
  const gains = defaultGains(unitNamed('gimbal'));
  return Array.from({ length }, (_, index) => ({
    revision: newest - index,
    savedAt: new Date(1e12 + newest - index).toISOString(),
    gains,
  }));
}

const NO_STEPS = { changes: 0, measuredOn: () => ({}) };

describe('the text of a history', () => {
  it('is that of JSON.stringify, however long it is', async () => {
    for (const length of [0, 1, 49, 50, 51, 1000]) {
      const history = historyUpTo(2000, length);
      const text = await new HistoryTexts().of('gimbal', history, NO_STEPS);
      expect(text.toString()).to.equal(JSON.stringify(history));
    }
  });

  it('is made while others get their turn, one history after the other', async () => {
    const texts = new HistoryTexts();
    let turns = 0;
    let done = false;
    const look = () => {
      turns += 1;
      if (!done) setImmediate(look);
    };
    setImmediate(look);
    await Promise.all([
      texts.of('gimbal', historyUpTo(2000, 1000), NO_STEPS),
      texts.of('gimbal', historyUpTo(2000, 999), NO_STEPS),
      texts.of('chassis', historyUpTo(2000, 1000), NO_STEPS),
    ]);
    done = true;
    expect(turns).to.be.at.least(60);
  });

  it('is made once for all who ask, until the next save', async () => {
    const texts = new HistoryTexts();
    const [one, other] = await Promise.all([
      texts.of('gimbal', historyUpTo(5, 5), NO_STEPS),
      texts.of('gimbal', historyUpTo(5, 5), NO_STEPS),
    ]);
    expect(one).to.equal(other);
    const text = await texts.of('gimbal', historyUpTo(6, 5), NO_STEPS);
    expect(text.toString()).to.equal(JSON.stringify(historyUpTo(6, 5)));
  });
});
