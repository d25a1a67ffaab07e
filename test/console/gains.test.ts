import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { refused } from './fake-daemon.js';
import { FakeBrowser, FakePage } from './fake-page.js';

const gainsOf = (page: FakePage) => page.model.gains.chassis;
const stored = ({ daemon }: FakePage) => {
  const { speed, position } = daemon.gains('chassis');
  return [speed?.kp, position?.kp];
};
const said = (page: FakePage) => {
  const { done, refusal } = gainsOf(page).saving;
  return refusal.value?.code ?? done.value;
};

describe('saves of the page', () => {
  it('are sent once, however often Save is pressed before the answer', async () => {
    const page = await FakePage.open();
    page.let(/pidconfig\?/, 'held');
    page.edit('chassis', '/speed/kp', '33');
    void gainsOf(page).save();
    void gainsOf(page).save();
    await page.wait(10);
    const [save, ...more] = page.sentTo(/pidconfig\?/);
    save!.deliver();
    await page.wait(10);
    expect([more.length, stored(page)[0]]).to.deep.equal([0, 33]);
    expect(said(page)).to.match(/^Saved: Speed loop kp/);
  });

  it('keep the edits until the answer, and Try and Undo wait for that answer', async () => {
    const page = await FakePage.open();
    page.daemon.override = (method, path) =>
      method === 'POST' && /pidconfig$/.test(path) ? refused(503, 'unit-busy', 'Busy.') : undefined;
    page.let(/pidconfig\?/, 'held');
    page.edit('chassis', '/speed/kp', '35');
    void gainsOf(page).save();
    await gainsOf(page).try();
    await gainsOf(page).undo();
    page.sentTo(/pidconfig\?/)[0]!.deliver();
    await page.wait(10);
    expect(said(page)).to.equal('unit-busy');
    expect(gainsOf(page).kept.value.texts).to.deep.equal({ '/speed/kp': '35' });
    expect(page.sentTo(/trial/)).to.deep.equal([]);
  });

  it('show the faults of each field', async () => {
    const page = await FakePage.open();
    const errors = [{ pointer: '/speed/kp', detail: 'must be <= 180' }];
    page.daemon.override = (method, path) =>
      method === 'POST' && /pidconfig$/.test(path) ? refused(422, 'invalid', '', { errors }) : undefined;
    page.edit('chassis', '/speed/kp', '190');
    await gainsOf(page).save();
    expect(gainsOf(page).refused.value).to.deep.equal({ '/speed/kp': 'must be <= 180' });
    page.edit('chassis', '/speed/kp', '180');
    expect(gainsOf(page).refused.value).to.deep.equal({});
  });

  it('use the newest stored gains if these were replaced while they were loaded', async () => {
    const page = await FakePage.open();
    page.let(/pidconfig$/, 'failed', 'GET');
    page.daemon.save('chassis', 'speed', 61);
    await page.wait(200);
    page.mend();
    page.daemon.save('chassis', 'speed', 62);
    await page.wait(3000);
    expect(gainsOf(page).stored.value?.revision).to.equal(2);
    page.edit('chassis', '/speed/kp', '63');
    await gainsOf(page).save();
    expect(stored(page)[0]).to.equal(63);
  });

  it('show the later save of another caller, even if the answer to their own save comes last', async () => {
    const page = await FakePage.open();
    page.let(/pidconfig\?/, 'answer held');
    page.edit('chassis', '/speed/kp', '34');
    void gainsOf(page).save();
    page.daemon.save('chassis', 'speed', 55);
    await page.wait(300);
    page.sentTo(/pidconfig\?/)[0]!.deliver();
    await page.wait(300);
    expect(gainsOf(page).stored.value?.gains.speed?.kp).to.equal(55);
    expect([gainsOf(page).kept.value.texts, gainsOf(page).conflict.value]).to.deep.equal([{}, []]);
  });

  it('can be undone and redone until another caller has saved', async () => {
    const page = await FakePage.open();
    page.edit('chassis', '/speed/kp', '50');
    await gainsOf(page).save();
    expect([gainsOf(page).replaced?.revision, stored(page)[0]]).to.deep.equal([0, 50]);
    await gainsOf(page).undoSave();
    expect([gainsOf(page).replaced?.revision, stored(page)[0]]).to.deep.equal([1, 40]);
    await gainsOf(page).undoSave();
    page.daemon.save('chassis', 'position', 6);
    await page.wait(200);
    expect(gainsOf(page).replaced).to.equal(undefined);
    expect([await gainsOf(page).undoSave(), stored(page)]).to.deep.equal([false, [50, 6]]);
  });

  it('leave edits that outlive a reload and are shared by all windows, also edits of 0.2.0', async () => {
    const browser = new FakeBrowser();
    browser.items.set(
      'trunnion.edits',
      '{"gimbal":{"texts":{"/angle_yaw/kp":"1"}},"chassis":{"texts":{"/speed/kp":"77"}}}',
    );
    const page = await FakePage.open({ browser });
    const { daemon, clock } = page;
    const other = await FakePage.open({ browser, daemon, clock });
    expect(gainsOf(page).edits.value.changes.map(({ to }) => to)).to.deep.equal([77]);
    page.edit('chassis', '/speed/kp', '78');
    expect(gainsOf(other).kept.value.texts).to.deep.equal({ '/speed/kp': '78' });
    expect(other.model.gains.gimbal.kept.value.texts).to.deep.equal({ '/angle_yaw/kp': '1' });
    const text = browser.items.get('trunnion.edits');
    expect(JSON.parse(text!).chassis.texts).to.deep.equal({ '/speed/kp': '78' });
  });
});

describe('saves of another caller', () => {
  it('are kept if this window has not loaded them when it saves edits that another window made after them', async () => {
    const browser = new FakeBrowser();
    const one = await FakePage.open({ browser });
    const { daemon, clock } = one;
    const other = await FakePage.open({ browser, daemon, clock });
    other.let(/pidconfig$/, 'held', 'GET');
    daemon.save('chassis', 'position', 3);
    await one.wait(200);
    one.edit('chassis', '/speed/kp', '41');
    expect(await gainsOf(other).save()).to.equal(true);
    expect(stored(one)).to.deep.equal([41, 3]);
  });

  it('of loops that are not edited here need no decision, and a second press if the page had not heard of them', async () => {
    const page = await FakePage.open();
    page.edit('chassis', '/speed/kp', '45');
    page.daemon.save('chassis', 'position', 9);
    await page.wait(200);
    expect(gainsOf(page).conflict.value).to.deep.equal([]);
    page.isDeaf = true;
    page.daemon.save('chassis', 'position', 8);
    await gainsOf(page).save();
    await page.wait(10);
    expect([said(page), ...stored(page)]).to.deep.equal(['changed-meanwhile', 40, 8]);
    expect(gainsOf(page).stored.value?.gains.position?.kp).to.equal(8);
    await gainsOf(page).save();
    expect(stored(page)).to.deep.equal([45, 8]);
  });

  for (const whose of ['theirs', 'mine'] as const) {
    it(`of loops that are edited here need one decision: ${whose}`, async () => {
      const page = await FakePage.open();
      page.edit('chassis', '/speed/kp', '41');
      page.edit('chassis', '/position/kp', '6');
      page.daemon.save('chassis', 'speed', 50);
      await page.wait(200);
      expect(gainsOf(page).conflict.value.map(({ to }) => to)).to.deep.equal([50]);
      expect(page.model.log.saverOf('chassis', 1)).to.equal('Bob');
      await gainsOf(page).save();
      expect([said(page), stored(page)[0]]).to.deep.equal(['changed-meanwhile', 50]);
      await gainsOf(page).decide(whose);
      expect(gainsOf(page).conflict.value).to.deep.equal([]);
      if (whose === 'theirs') await gainsOf(page).save();
      expect(stored(page)).to.deep.equal([whose === 'theirs' ? 50 : 41, 6]);
    });
  }

  it('are replaced by all gains that the loop had on this page, if mine are chosen', async () => {
    const page = await FakePage.open();
    const before = page.daemon.gains('chassis').speed;
    page.edit('chassis', '/speed/kp', '41');
    page.daemon.answer('POST', '/api/chassis/pidconfig', {
      ...page.daemon.gains('chassis'),
      speed: { kp: 50, ki: 1, kd: 1 },
    });
    await page.wait(200);
    await gainsOf(page).decide('mine');
    expect(page.daemon.gains('chassis').speed).to.deep.equal({ ...before, kp: 41 });
  });

  it('need no decision if the same value is typed here', async () => {
    const page = await FakePage.open();
    page.edit('chassis', '/speed/kp', '62');
    page.edit('chassis', '/position/kp', '12');
    page.daemon.save('chassis', 'speed', 63);
    await page.wait(200);
    page.edit('chassis', '/speed/kp', '63');
    expect(gainsOf(page).conflict.value).to.deep.equal([]);
    await gainsOf(page).save();
    expect(stored(page)).to.deep.equal([63, 12]);
  });

  it('still need a decision after this page has restored another revision', async () => {
    const page = await FakePage.open();
    page.edit('chassis', '/speed/kp', '44');
    page.daemon.save('chassis', 'speed', 43);
    page.daemon.save('chassis', 'position', 7);
    await page.wait(200);
    expect(gainsOf(page).conflict.value.map(({ to }) => to)).to.deep.equal([43]);
    await gainsOf(page).restore(1);
    await page.wait(200);
    expect(stored(page)).to.deep.equal([43, 5]);
    expect(gainsOf(page).conflict.value.map(({ to }) => to)).to.deep.equal([43]);
  });

  it('make a restore fail that did not know of them, and are shown then', async () => {
    const page = await FakePage.open();
    page.isDeaf = true;
    page.daemon.save('chassis', 'position', 8);
    const restore = () => gainsOf(page).restore(0);
    expect(await restore()).to.equal(false);
    await page.wait(10);
    expect(gainsOf(page).stored.value?.gains.position?.kp).to.equal(8);
    expect(await restore()).to.equal(true);
  });

  it('need a decision even if the state folder was replaced and the revision is the same', async () => {
    const page = await FakePage.open();
    page.daemon.save('chassis', 'position', 13);
    await page.wait(200);
    page.edit('chassis', '/speed/kp', '64');
    page.model.stream.setHidden(true);
    const { chassis } = page.daemon.units;
    const theirs = { ...chassis.saved[0], speed: { kp: 65, ki: 0, kd: 0 } };
    page.daemon.units.chassis = {
      ...chassis,
      saved: [chassis.saved[0]!, theirs],
      savedAt: '2031-01-01T00:00:00.000Z',
    };
    page.model.stream.setHidden(false);
    await page.wait(300);
    await gainsOf(page).save();
    expect([said(page), stored(page)[0]]).to.deep.equal(['changed-meanwhile', 65]);
  });
});

describe('gains that the page tries', () => {
  const tried = ({ daemon }: FakePage) => daemon.units.chassis.trial?.gains.speed?.kp;
  const open = async () => {
    const page = await FakePage.open();
    page.edit('chassis', '/speed/kp', '20');
    return page;
  };

  it('are renewed each second, changed under their id, and dropped when they are saved', async () => {
    const page = await open();
    await gainsOf(page).try();
    await page.wait(2500);
    expect(page.strip).to.match(/^doing: Chassis runs gains that this page tries\. Nothing is saved\./);
    const [begun, ...renewals] = page.sentTo(/trial/).map(one => one.body.id);
    expect([begun, renewals]).to.deep.equal([undefined, ['trial 1', 'trial 1']]);
    page.edit('chassis', '/speed/kp', '21');
    await gainsOf(page).try();
    expect([tried(page), page.daemon.units.chassis.trial?.id]).to.deep.equal([21, 'trial 1']);
    await gainsOf(page).save();
    const count = page.sentTo(/trial/).length;
    await page.wait(3000);
    expect([page.sentTo(/trial/).length, stored(page)[0]]).to.deep.equal([count, 21]);
  });

  it('are renewed on a network on which a renewal takes longer than a second', async () => {
    const page = await open();
    await gainsOf(page).try();
    page.let(/trial/, 'held');
    await page.wait(2500);
    expect(page.sentTo(/trial/).map(one => one.isTakenBack)).to.deep.equal([false, false, false]);
  });

  it('are ended by Undo even before their first answer', async () => {
    const page = await open();
    page.let(/trial/, 'held', 'POST');
    void gainsOf(page).try();
    await page.wait(10);
    void gainsOf(page).undo();
    page.sentTo(/trial/)[0]!.deliver();
    await page.wait(200);
    expect([page.sentTo(/trial/, 'DELETE').length, tried(page), page.strip]).to.deep.equal([
      1,
      undefined,
      '',
    ]);
  });

  it('stay in force unchanged if a change is refused', async () => {
    const page = await open();
    await gainsOf(page).try();
    page.daemon.override = (_, path, body) =>
      /trial/.test(path) && Object(body).gains?.speed.kp === 22
        ? refused(503, 'unit-busy', 'Busy.')
        : undefined;
    page.edit('chassis', '/speed/kp', '22');
    await gainsOf(page).try();
    expect(page.strip).to.match(/bad: Chassis trial Busy\./);
    const count = page.sentTo(/trial/).length;
    await page.wait(2500);
    const renewed = page.sentTo(/trial/).slice(count);
    expect(renewed.map(one => one.body.gains.speed.kp)).to.deep.equal([20, 20]);
  });

  it('are renewed until a STOP is heard, and then end without a message', async () => {
    const page = await open();
    await gainsOf(page).try();
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.wait(2500);
    page.mend();
    await page.wait(3000);
    expect(page.daemon.stopped).to.equal(true);
    expect(gainsOf(page).trial.id).to.equal(undefined);
    expect(gainsOf(page).trial.action.refusal.value).to.equal(undefined);
    expect(page.strip).to.not.match(/trial/);
  });

  it('are not tried after a STOP that came while they waited for the end of the previous trial', async () => {
    const page = await open();
    await gainsOf(page).try();
    page.let(/trial/, 'held', 'DELETE');
    void gainsOf(page).undo();
    await page.wait(10);
    page.edit('chassis', '/speed/kp', '21');
    void gainsOf(page).try();
    page.model.pressStop();
    page.sentTo(/trial/, 'DELETE')[0]!.deliver();
    await page.wait(500);
    expect([page.sentTo(/trial/).length, tried(page)]).to.deep.equal([1, undefined]);
  });

  it('show the name of another caller who tries gains', async () => {
    const page = await FakePage.open();
    page.daemon.answer('POST', '/api/chassis/pidconfig/trial', { gains: page.daemon.gains('chassis') });
    await page.wait(200);
    expect(page.strip).to.match(
      /^doing: Chassis runs gains that 127\.0\.0\.1 tries, for \d+ s unless renewed\./,
    );
    await gainsOf(page).trial.end();
    await page.wait(100);
    expect(page.strip).to.equal('');
  });
});

describe('gains that are typed far from the saved ones', () => {
  const { speed } = defaultGains(unitNamed('chassis'));
  const open = async (text: string, pointer = '/speed/kp') => {
    const page = await FakePage.open();
    page.edit('chassis', pointer, text);
    return page;
  };
  const tries = (page: FakePage) => page.sentTo(/trial/).length;

  for (const [what, pointer, text] of [
    ['more than 5 times the saved one', '/speed/kp', String(5.01 * speed!.kp)],
    ['less than a fifth of the saved one', '/speed/kp', String(0.19 * speed!.kp)],
    ['of another sign', '/speed/kp', '-40'],
    ['above a default of 0', '/speed/kd', '0.1'],
  ] as const) {
    it(`are tried and saved by a second press if one is ${what}`, async () => {
      const page = await open(text, pointer);
      await gainsOf(page).try();
      expect([tries(page), gainsOf(page).doubts.question?.act]).to.deep.equal([0, 'Try']);
      await page.wait(600);
      expect(await gainsOf(page).save()).to.equal(false);
      expect(gainsOf(page).doubts.question?.act).to.equal('Keep');
      await page.wait(600);
      expect(await gainsOf(page).save()).to.equal(true);
      expect(gainsOf(page).doubts.question).to.equal(undefined);
    });
  }

  it('are tried and saved by one press each if all are within these limits', async () => {
    const page = await open(String(5 * speed!.kp));
    page.edit('chassis', '/speed/ki', String(0.2 * speed!.ki));
    await gainsOf(page).try();
    expect([tries(page), await gainsOf(page).save()]).to.deep.equal([1, true]);
  });

  it('are not tried by a double press, and need one confirmation for Try and Keep', async () => {
    const page = await open('99999999');
    await gainsOf(page).try();
    await page.wait(200);
    await gainsOf(page).try();
    expect(tries(page)).to.equal(0);
    await page.wait(400);
    await gainsOf(page).try();
    expect([tries(page), await gainsOf(page).save()]).to.deep.equal([1, true]);
  });

  it('need another confirmation after another text was typed, or the same text again', async () => {
    const page = await open('4000');
    await gainsOf(page).try();
    await page.wait(600);
    page.edit('chassis', '/speed/kp', '5000');
    await gainsOf(page).try();
    await page.wait(600);
    await gainsOf(page).try();
    await gainsOf(page).undo();
    await page.wait(600);
    page.edit('chassis', '/speed/kp', '5000');
    await gainsOf(page).try();
    expect(tries(page)).to.equal(1);
  });

  it('need no confirmation if a run, a tuning or a file proposes them', async () => {
    const page = await FakePage.open();
    gainsOf(page).editLoop('speed', { kp: 4000, ki: 1, kd: 9 });
    await gainsOf(page).try();
    gainsOf(page).editSet({ ...page.daemon.gains('chassis'), position: { kp: 900, ki: 0, kd: 0 } });
    expect([tries(page), await gainsOf(page).save()]).to.deep.equal([1, true]);
    page.edit('chassis', '/speed/ki', '9999');
    gainsOf(page).editLoop('position', { kp: 1, ki: 0, kd: 0 });
    expect(await gainsOf(page).save()).to.equal(false);
  });
});
