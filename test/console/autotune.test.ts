import { expect } from 'chai';
import { leftText, reasonOf, toggled, usualS } from '../../src/console/model/autotune.js';
import { insideOut } from '../../src/core/tuning-terms.js';
import { unitNamed } from '../../src/core/units.js';
import type { Tune } from '../../src/schemas/tune.js';
import { FakePage } from './fake-page.js';

/** A page whose chassis is in debug mode, with a daemon whose tunings the test controls. */
async function open() {
  const page = await FakePage.open();
  const { daemon } = page;
  daemon.shows('chassis', { mode: 'debug' });
  let tune: Tune | null = null;
  const none = { words: [], why: null, before: null, proposed: null, predicted: null, results: [] };
  page.override = (method, path, body) => {
    if (path !== '/api/chassis/autotune') return undefined;
    const { id, loops } = Object(body);
    if (method === 'GET') return { status: 200, body: { tune } };
    if (method === 'DELETE') return { status: 200, body: { ended: true } };
    if (id !== undefined && (tune?.id !== id || tune?.state !== 'running'))
      return { status: 409, body: { code: 'trial-ended' } };
    if (id === undefined)
      tune = {
        ...none,
        id: 'one',
        by: 'me',
        unit: 'chassis',
        loop: loops[0],
        loops,
        style: 'normal',
        state: 'running',
        proposal: null,
      };
    return { status: 202, body: tune };
  };
  /** Changes the tuning in the daemon, without an event to the page. */
  const becomes = (changes: Partial<Tune> | null) => {
    tune = changes === null || tune === null ? null : { ...tune, ...changes };
  };
  /** Changes the tuning in the daemon, and sends it to the page. */
  const says = (changes: Partial<Tune>) => {
    becomes(changes);
    daemon.say('tune', tune);
  };
  await page.wait(200);
  const begin = () => page.model.autotune.begin('chassis', ['speed', 'angle']);
  const state = () => page.model.autotune.tunes.chassis.value?.state;
  return { page, becomes, says, begin, state };
}

describe('the page for tuning several loops', () => {
  const chassis = unitNamed('chassis');
  const all = new Set(['speed', 'angle', 'position']);

  it('unticks an outer loop when its inner loop is unticked, and ticks an inner loop when its outer loop is ticked', () => {
    const without = toggled(chassis, all, 'speed');
    expect([...without]).to.deep.equal(['angle']);
    expect([...toggled(chassis, without, 'position')]).to.deep.equal(['angle', 'position', 'speed']);
    expect([...toggled(chassis, all, 'position')]).to.deep.equal(['speed', 'angle']);
  });

  it('lists inner loops first, and estimates 56 s for tuning all loops of the chassis', () => {
    const names = insideOut(unitNamed('gimbal')).map(({ name }) => name);
    expect(names).to.deep.equal(['angle_yaw', 'angle_pitch', 'visual_yaw', 'visual_pitch']);
    expect(usualS(chassis.loops)).to.equal(56);
  });

  it('says which figures of a loop the proposed gains improve and which they worsen', () => {
    const reason = (was: object, is: object) =>
      reasonOf({ before: { figures: was }, proposed: { figures: is } } as never);
    const was = { settlingS: 0.0648, overshootPercent: 9, iae: 0.01 };
    expect(reason(was, { settlingS: 0.0696, overshootPercent: 2, iae: 0.009 })).to.equal(
      'overshoots less, has less error over the whole step, but settles later',
    );
    expect(reason(was, { settlingS: 0.05, overshootPercent: 12, iae: 0.02 })).to.equal(
      'settles sooner, but overshoots more and has more error over the whole step',
    );
    expect(reason(was, { ...was, settlingS: 0.05 })).to.equal('settles sooner');
    expect(reason({ ...was, settlingS: null }, was)).to.equal('settles now');
  });
});

describe('a tuning on the page', () => {
  it('switches the page to the loop that is being tuned, but only if this page began the tuning', async () => {
    const { page, says, begin } = await open();
    const chosen = () => page.model.choice.value.loop;
    await begin();
    expect(chosen()).to.equal('speed');
    page.model.choose({ unit: 'chassis', loop: 'position' });
    says({ words: ['computing'] });
    expect(chosen()).to.equal('position');
    says({ loop: 'angle' });
    expect(chosen()).to.equal('angle');
    says({ state: 'good' });
    says({ id: 'another', by: 'Bob', loop: 'speed', state: 'running' });
    expect(chosen()).to.equal('angle');
  });

  it('shows the step responses that it measured, even if newer ones with the same gains exist', async () => {
    const { page, says, begin } = await open();
    const { model, override } = page;
    const [old, better] = [
      { kp: 40, ki: 320, kd: 0 },
      { kp: 50, ki: 300, kd: 0 },
    ];
    const run = (number: number, gains: object, peak: number) => ({ number, gains, figures: { peak } });
    const steps = [run(4, better, 0.4), run(3, better, 0.3), run(2, old, 0.2), run(1, old, 0.1)];
    page.override = (method, path, body) => {
      const own = override(method, path, body);
      if (own !== undefined || !/steps?$/.test(path)) return own;
      return { status: 200, body: path.endsWith('steps') ? steps : steps.at(-1) };
    };
    await begin();
    const measured = (gains: object, peak: number) => ({ gains, figures: { peak }, steps: [] });
    const result = { loop: 'speed', before: measured(old, 0.1), proposed: measured(better, 0.3) };
    says({ state: 'better', results: [result] as never });
    await page.wait(200);
    const fetched = () => page.sentTo(/step\?/, 'GET').map(one => one.path.match(/\d+$/)?.[0]);
    expect(fetched().slice(0, 2)).to.deep.equal(['3', '1']);
    model.runs.tick(2);
    model.runs.tick(4);
    await page.wait(200);
    expect(fetched().slice(2)).to.include.members(['4', '2']);
  });

  it('shows the number of loops done, the number left, and the estimated remaining seconds', async () => {
    const { page, says } = await open();
    await page.model.autotune.begin('chassis', ['speed', 'angle']);
    const text = () => leftText(page.model.autotune.running!);
    expect(text()).to.equal('0 of 2 loops done, 2 left: about 28 s.');
    const nothing = { why: '', before: null, proposed: null, predicted: null };
    says({ loop: 'angle', results: [{ ...nothing, loop: 'speed', state: 'good' }] });
    expect(text()).to.equal('1 of 2 loops done, 1 left: about 14 s.');
  });

  it('begins with one request for all its loops, and is renewed each second until it ends', async () => {
    const { page, says, begin, state } = await open();
    await begin();
    expect(page.strip).to.equal('doing: Chassis moves: this page tunes its speed loop (begins).');
    await page.wait(2500);
    const [first, ...renewals] = page.sentTo(/autotune/).map(one => one.body);
    expect(first).to.deep.equal({ loops: ['speed', 'angle'], style: 'normal', leaseS: 3 });
    expect(renewals).to.deep.equal([
      { id: 'one', leaseS: 3 },
      { id: 'one', leaseS: 3 },
    ]);
    says({ state: 'good' });
    const count = page.sentTo(/autotune/).length;
    await page.wait(3000);
    expect([state(), page.sentTo(/autotune/).length, page.strip]).to.deep.equal(['good', count, '']);
  });

  it('shows its result even if the page missed the final event, for instance because the page was hidden', async () => {
    const { page, becomes, begin, state } = await open();
    await begin();
    becomes({ state: 'better' });
    await page.wait(1500);
    expect(state()).to.equal('better');
    await begin();
    page.model.stream.setHidden(true);
    becomes({ state: 'failed' });
    await page.wait(500);
    page.model.stream.setHidden(false);
    await page.wait(500);
    expect(state()).to.equal('failed');
  });

  it('that another caller began is shown as aborted after an abort, even if an earlier request for the state of the tuning failed', async () => {
    const { page, begin, becomes, state } = await open();
    await begin();
    becomes({ id: 'another', by: 'Bob' });
    page.let(/autotune/, 'failed');
    page.model.stream.setHidden(true);
    page.model.stream.setHidden(false);
    await page.wait(500);
    expect(page.sentTo(/autotune/, 'GET')).to.not.deep.equal([]);
    becomes({ state: 'aborted' });
    page.mend();
    await page.wait(2000);
    expect([state(), page.strip]).to.deep.equal(['aborted', '']);
  });

  it('that has ended keeps its result if an older answer then arrives and says that the tuning is running', async () => {
    const { page, says, begin, state } = await open();
    await begin();
    page.let(/autotune/, 'answer held', 'GET');
    page.model.stream.setHidden(true);
    page.model.stream.setHidden(false);
    await page.wait(300);
    says({ state: 'better' });
    const late = page.sentTo(/autotune/, 'GET');
    expect(late).to.not.deep.equal([]);
    for (const asked of late) asked.deliver();
    await page.wait(100);
    expect(state()).to.equal('better');
  });

  it('is shown as aborted if the daemon no longer knows it, for instance after a restart of the daemon', async () => {
    const { page, becomes, begin, state } = await open();
    await begin();
    becomes(null);
    await page.wait(1500);
    expect(state()).to.equal('aborted');
  });

  it('is cancelled by "End" or "STOP" even before the daemon has answered the request to begin it', async () => {
    for (const press of ['end', 'stop'] as const) {
      const { page, begin } = await open();
      page.let(/autotune/, 'held', 'POST');
      void begin();
      await page.wait(10);
      if (press === 'end') void page.model.autotune.end('chassis');
      else page.model.pressStop();
      await page.wait(10);
      expect(page.sentTo(/autotune/)[0]!.isTakenBack, press).to.equal(true);
    }
  });

  it('first switches the unit to debug mode, and does not begin if that switch fails', async () => {
    const { page, begin } = await open();
    page.daemon.shows('chassis', { mode: 'manual' });
    await page.wait(200);
    await begin();
    expect(page.sentTo(/mode/)[0]!.body).to.deep.equal({ mode: 'debug' });
    expect(page.sentTo(/autotune/)).to.have.length(1);
    page.daemon.shows('chassis', { mode: 'manual' });
    await page.wait(200);
    page.let(/mode/, 'failed');
    await begin();
    expect(page.sentTo(/autotune/).filter(one => one.body.id === undefined)).to.have.length(1);
  });
});
