import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { historyTexts } from '../../src/http/routes/gains-routes.js';

describe('the JSON text of the gains history', () => {
  it('is complete for 10 callers at once, and no iteration of the event loop encodes more than 50 revisions', async () => {
    const gains = defaultGains(unitNamed('gimbal'));
    const history = Array.from({ length: 200 }, (_, index) => ({
      revision: 200 - index,
      savedAt: '',
      gains,
    }));
    let most = 0;
    let lines = 0;
    const measured = () => {
      lines += 1;
      most = Math.max(most, lines);
      return {};
    };
    let isDone = false;
    const turn = () => {
      lines = 0;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const textOf = historyTexts('gimbal', { measured });
    const texts = await Promise.all(Array.from({ length: 10 }, () => textOf(() => history)));
    isDone = true;
    expect(new Set(texts.map(String))).to.deep.equal(new Set([JSON.stringify(history)]));
    expect(most).to.equal(50);
  });
});
