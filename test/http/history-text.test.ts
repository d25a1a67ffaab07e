import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { historyText } from '../../src/http/routes/gains-routes.js';

describe('the text of a history', () => {
  it('equals that of JSON.stringify, and is computed without blocking the event loop', async () => {
    const gains = defaultGains(unitNamed('gimbal'));
    const history = Array.from({ length: 1000 }, (_, index) => ({
      revision: 1000 - index,
      savedAt: '',
      gains,
    }));
    let turns = 0;
    let done = false;
    const turn = () => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const text = await historyText('gimbal', history, { measured: () => ({}) });
    done = true;
    expect(text.toString()).to.equal(JSON.stringify(history));
    expect(turns).to.be.at.least(19);
  });
});
