import { expect } from 'chai';
import { STARTS, tuningTrial } from '../../sim/trials/tuning-trial.js';
import { UNIT_LIST } from '../../src/core/units.js';

const LOOPS = UNIT_LIST.flatMap(unit => unit.loops.map(loop => ({ unit, loop })));

/** Every loop from one bad start, and every bad start once; all of them are in `npm run tune -- --matrix`. */
const TRIALS = LOOPS.map((one, index) => {
  const starts = Object.keys(STARTS);
  return { ...one, start: starts[index % starts.length] ?? 'x0.3' };
});

describe('the tuner', function () {
  this.timeout(60_000);

  for (const { unit, loop, start } of TRIALS) {
    it(`brings ${loop.name} from ${start} to good gains`, async () => {
      const { isGood, after, defaults, seconds, result } = await tuningTrial({ seed: 3 }, unit, loop, start);
      expect(isGood, JSON.stringify({ after, defaults, result }, undefined, 1)).equal(true);
      expect(seconds).below(45);
      expect(result.before.gains).deep.equal(STARTS[start]!(loop.defaults));
    });
  }

  it('designs anew for a loop that had to be calmed first, instead of calming it on', async () => {
    const [first] = LOOPS.filter(({ loop }) => loop.name === 'angle_yaw');
    const { isGood } = await tuningTrial({ seed: 1 }, first!.unit, first!.loop, 'kd 0, ki x5');
    expect(isGood).equal(true);
  });

  it('leaves gains alone that are as good already', async () => {
    const [first] = LOOPS.filter(({ loop }) => loop.name === 'angle_yaw');
    const good = await tuningTrial({ seed: 3 }, first!.unit, first!.loop, 'x0.3');
    const again = await tuningTrial(
      { seed: 3 },
      first!.unit,
      { ...first!.loop, defaults: good.after.gains },
      'as they are',
    );
    expect(again.result.end).equal('good');
    expect(again.after.gains).deep.equal(good.after.gains);
  });

  it('gives up on a loop that pushes the wrong way, and says so', async () => {
    const [first] = LOOPS.filter(({ loop }) => loop.name === 'angle_yaw');
    const { result } = await tuningTrial({ seed: 3 }, first!.unit, first!.loop, 'wrong way');
    expect(result.end).equal('failed');
    expect(result).include({ proposed: null, why: 'the loop hardly moves, whatever its gains' });
  });
});
