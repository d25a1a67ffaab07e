import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { historyText } from '../../src/http/history-text.js';
import type { HistoryLine } from '../../src/schemas/history.js';
import { stepFigures } from '../../src/tuning/step-figures.js';

function historyUpTo(newest: number, length: number): HistoryLine[] {
  const gains = defaultGains(unitNamed('gimbal'));
  return Array.from({ length }, (_, index) => ({
    revision: newest - index,
    savedAt: new Date(1e12 + newest - index).toISOString(),
    gains,
  }));
}

const NO_STEPS = { measuredOn: () => ({}) };

describe('the text of a history', () => {
  it('is that of JSON.stringify, however long it is', async () => {
    for (const length of [0, 1, 49, 50, 51, 1000]) {
      const history = historyUpTo(2000, length);
      const text = await historyText('gimbal', history, NO_STEPS);
      expect(text.toString()).to.equal(JSON.stringify(history));
    }
  });

  it('has the figures that were measured on a revision', async () => {
    const [newest, older] = historyUpTo(2, 2);
    const measured = {
      angle_yaw: {
        number: 3,
        at: '2030-01-01T00:00:00Z',
        figures: stepFigures({ measured: [0, 1, 1], periodS: 0.002, oldSetpoint: 0, setpoint: 1 }),
      },
    };
    const text = await historyText('gimbal', [newest!, older!], {
      measuredOn: (_, { revision }) => (revision === 2 ? measured : {}),
    });
    expect(JSON.parse(text.toString())).to.deep.equal([{ ...newest, measured }, older]);
  });

  it('lets others get their turn while it is made', async () => {
    let turns = 0;
    let done = false;
    const turn = () => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    await historyText('gimbal', historyUpTo(2000, 1000), NO_STEPS);
    done = true;
    expect(turns).to.be.at.least(19);
  });
});
