import { expect } from 'chai';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { encodeEntry } from '../support/journal-lines.js';
import { FakeBrowser, FakePage, servedPage } from './fake-page.js';
import { ServingDaemon } from './page-daemon.js';

let page: FakePage<ServingDaemon>;
const open = async () => {
  page = await servedPage();
};
const editor = (of = page) => of.model.gains.chassis;
const save = (of = page) => of.during(editor(of).save());
const tries = () => page.during(editor().try());
const stored = async () => {
  const { speed, position } = await page.daemon.gains('chassis');
  return [speed?.kp, position?.kp];
};
const said = () => {
  const { saving, lastSave } = editor();
  return saving.refusal.value?.code ?? lastSave?.text;
};

describe('the gain editor', () => {
  beforeEach(open);

  it('sends only one save if "Keep" is pressed twice before the save is answered', async () => {
    page.let(/pidconfig\?/, 'held');
    page.edit('chassis', '/speed/kp', '33');
    void editor().save();
    void editor().save();
    await page.wait(10);
    const [save, ...more] = page.sentTo(/pidconfig\?/);
    save!.deliver();
    await page.wait(200);
    expect([more.length, (await stored())[0]]).to.deep.equal([0, 33]);
    expect(said()).to.match(/^Saved: Speed loop kp/);
  });

  it('ignores "Try" and "Undo" while a save is unanswered, and keeps the edits if the save is then refused', async () => {
    page.refuse(/POST .*pidconfig$/, 503, 'unit-busy');
    page.let(/pidconfig\?/, 'held');
    page.edit('chassis', '/speed/kp', '35');
    void editor().save();
    await tries();
    await page.during(editor().undo());
    page.sentTo(/pidconfig\?/)[0]!.deliver();
    await page.wait(10);
    expect(said()).to.equal('unit-busy');
    expect(editor().kept.value.texts).to.deep.equal({ '/speed/kp': '35' });
    expect(page.sentTo(/trial/)).to.deep.equal([]);
  });

  it('shows the fault of a refused save at the faulty field, until that field is edited', async () => {
    const errors = [{ pointer: '/speed/kp', detail: 'must be <= 180' }];
    page.refuse(/POST .*pidconfig$/, 422, 'invalid', '', { errors });
    page.edit('chassis', '/speed/kp', '190');
    await save();
    expect(editor().refused.value).to.deep.equal({ '/speed/kp': 'must be <= 180' });
    page.edit('chassis', '/speed/kp', '180');
    expect(editor().refused.value).to.deep.equal({});
  });

  it('shows the second of two saves of another caller even if the page could not load the first', async () => {
    page.let(/pidconfig$/, 'failed', 'GET');
    await page.daemon.save('chassis', 'speed', 61);
    page.mend();
    await page.daemon.save('chassis', 'speed', 62);
    await page.wait(3000);
    expect(editor().stored.value?.revision).to.equal(2);
    page.edit('chassis', '/speed/kp', '63');
    await save();
    expect((await stored())[0]).to.equal(63);
  });

  it("still shows another caller's newer gains after the answer to its own older save arrives late", async () => {
    page.let(/pidconfig\?/, 'answer held');
    page.edit('chassis', '/speed/kp', '34');
    void editor().save();
    await page.wait(100);
    await page.daemon.save('chassis', 'speed', 55);
    await page.wait(300);
    page.sentTo(/pidconfig\?/)[0]!.deliver();
    await page.wait(300);
    expect(editor().stored.value?.gains.speed?.kp).to.equal(55);
    expect([editor().kept.value.texts, editor().conflict.value]).to.deep.equal([{}, []]);
  });

  it('shows what its last save changed until another caller saves, even if that takes a minute', async () => {
    page.edit('chassis', '/speed/kp', '50');
    await save();
    await page.wait(60_000);
    expect(said()).to.equal('Saved: Speed loop kp 40 → 50.');
    await page.daemon.save('chassis', 'position', 6);
    expect(said()).to.equal(undefined);
  });

  it('can undo and redo its save until another caller saves', async () => {
    page.edit('chassis', '/speed/kp', '50');
    await save();
    expect([editor().lastSave?.replaced.revision, (await stored())[0]]).to.deep.equal([0, 50]);
    await page.during(editor().undoSave());
    expect([editor().lastSave?.replaced.revision, (await stored())[0]]).to.deep.equal([1, 40]);
    await page.during(editor().undoSave());
    await page.daemon.save('chassis', 'position', 6);
    expect(editor().lastSave).to.equal(undefined);
    expect([await page.during(editor().undoSave()), await stored()]).to.deep.equal([false, [50, 6]]);
  });

  it('shows the same unsaved edits in all windows of a browser, even edits that version 0.2.0 stored in that browser', async () => {
    const browser = new FakeBrowser();
    browser.items.set(
      'trunnion.edits',
      '{"gimbal":{"texts":{"/angle_yaw/kp":"1"}},"chassis":{"texts":{"/speed/kp":"77"}}}',
    );
    page = await FakePage.of(await ServingDaemon.start(), { browser });
    const other = await page.another();
    expect(editor().edits.value.changes.map(({ to }) => to)).to.deep.equal([77]);
    page.edit('chassis', '/speed/kp', '78');
    expect(editor(other).kept.value.texts).to.deep.equal({ '/speed/kp': '78' });
    expect(other.model.gains.gimbal.kept.value.texts).to.deep.equal({ '/angle_yaw/kp': '1' });
    const text = browser.items.get('trunnion.edits');
    expect(JSON.parse(text!).chassis.texts).to.deep.equal({ '/speed/kp': '78' });
  });
});

describe('after another caller has saved gains, a page', () => {
  beforeEach(open);

  it('that has not loaded the new gains yet can save its edit of a different loop without overwriting the new gains', async () => {
    const other = await page.another();
    other.let(/pidconfig$/, 'held', 'GET');
    await page.daemon.save('chassis', 'position', 3);
    page.edit('chassis', '/speed/kp', '41');
    expect(await save(other)).to.equal(true);
    expect(await stored()).to.deep.equal([41, 3]);
  });

  it('that missed the save event loads the new gains at the first press of "Keep", and saves its own edit only at the second press', async () => {
    page.edit('chassis', '/speed/kp', '45');
    await page.daemon.save('chassis', 'position', 9);
    expect(editor().conflict.value).to.deep.equal([]);
    page.isDeaf = true;
    await page.daemon.save('chassis', 'position', 8);
    await page.untilHeard(save());
    expect([said(), ...(await stored())]).to.deep.equal(['changed-meanwhile', 40, 8]);
    expect(editor().stored.value?.gains.position?.kp).to.equal(8);
    await save();
    expect(await stored()).to.deep.equal([45, 8]);
  });

  it('shows no error message when its own save of the same gain is refused, but asks whose value to keep', async () => {
    page.edit('chassis', '/speed/kp', '41');
    page.isDeaf = true;
    await page.daemon.save('chassis', 'speed', 50);
    await page.untilHeard(save());
    expect(editor().conflict.value.map(({ to }) => to)).to.deep.equal([50]);
    expect(said()).to.equal(undefined);
    expect(page.strip).to.not.match(/Somebody else saved/);
  });

  for (const whose of ['theirs', 'mine'] as const) {
    it(`with an edit of the same gain saves only after a person chooses whose value to keep (here ${whose === 'theirs' ? "the caller's" : "the page's"})`, async () => {
      page.edit('chassis', '/speed/kp', '41');
      page.edit('chassis', '/position/kp', '6');
      await page.daemon.save('chassis', 'speed', 50);
      expect(editor().conflict.value.map(({ to }) => to)).to.deep.equal([50]);
      expect(page.model.log.saverOf('chassis', 1)).to.equal('192.0.2.2');
      await save();
      expect([said(), (await stored())[0]]).to.deep.equal([undefined, 50]);
      await page.during(editor().decide(whose));
      expect(editor().conflict.value).to.deep.equal([]);
      if (whose === 'theirs') await save();
      expect(await stored()).to.deep.equal([whose === 'theirs' ? 50 : 41, 6]);
    });
  }

  it("saves its edited kp, and restores the loop's old ki and kd, if a person chooses the page's value", async () => {
    const before = await page.daemon.gains('chassis');
    page.edit('chassis', '/speed/kp', '41');
    const theirs = { ...before, speed: { kp: 50, ki: 1, kd: 1 } };
    await page.daemon.askAndWait('POST /api/chassis/pidconfig', theirs);
    expect(editor().conflict.value.map(({ to }) => to)).to.include(50);
    await page.during(editor().decide('mine'));
    expect((await page.daemon.gains('chassis')).speed).to.deep.equal({ ...before.speed, kp: 41 });
  });

  it('that asks whose value to keep no longer asks once a person types the value of the other caller', async () => {
    page.edit('chassis', '/speed/kp', '62');
    page.edit('chassis', '/position/kp', '12');
    await page.daemon.save('chassis', 'speed', 63);
    expect(editor().conflict.value.map(({ to }) => to)).to.deep.equal([63]);
    page.edit('chassis', '/speed/kp', '63');
    expect(editor().conflict.value).to.deep.equal([]);
    await save();
    expect(await stored()).to.deep.equal([63, 12]);
  });

  it("still asks whose value to keep after a person restores an older revision with the caller's value", async () => {
    page.edit('chassis', '/speed/kp', '44');
    await page.daemon.save('chassis', 'speed', 43);
    await page.daemon.save('chassis', 'position', 7);
    expect(editor().conflict.value.map(({ to }) => to)).to.deep.equal([43]);
    await page.untilHeard(editor().restore(1));
    expect(await stored()).to.deep.equal([43, 5]);
    expect(editor().conflict.value.map(({ to }) => to)).to.deep.equal([43]);
  });

  it('that missed the save event loads the new gains at the first attempt to restore a revision, and restores it at the second', async () => {
    await page.daemon.save('chassis', 'position', 7);
    page.isDeaf = true;
    await page.daemon.save('chassis', 'position', 8);
    const restore = () => page.during(editor().restore(1));
    expect(await restore()).to.equal(false);
    await page.wait(200);
    expect(editor().stored.value?.gains.position?.kp).to.equal(8);
    expect(await restore()).to.equal(true);
  });

  it("can save a tuning's result only after the page has loaded the new gains, and leaves the gains of other loops unchanged", async () => {
    const { saving } = editor();
    page.edit('chassis', '/position/kp', '9');
    const better = { speed: { kp: 50, ki: 300, kd: 0 } };
    await page.daemon.save('chassis', 'angle', 77);
    const saveBetter = (base: number) => page.during(editor().saveLoops(better, base));
    expect(await saveBetter(0)).to.equal(false);
    expect(saving.refusal.value).to.include({ code: 'changed-meanwhile', revision: 1 });
    await page.wait(200);
    expect(await saveBetter(1)).to.equal(true);
    const { speed, angle, position } = await page.daemon.gains('chassis');
    expect([speed, angle?.kp, position?.kp]).to.deep.equal([better.speed, 77, 5]);
    expect(editor().kept.value.texts).to.deep.equal({ '/position/kp': '9' });
  });

  it("does not save its edit if the daemon's state folder was replaced by one with other gains of the same revision number", async () => {
    await page.daemon.save('chassis', 'position', 13);
    page.edit('chassis', '/speed/kp', '64');
    page.model.stream.setHidden(true);
    const theirs = { speed: { kp: 65, ki: 0, kd: 0 } };
    const entry = { revision: 1, time: '2031-01-01T00:00:00.000Z', unit: 'chassis', gains: theirs };
    await page.daemon.becomes({ files: { 'gains.jsonl': encodeEntry(entry) } });
    page.model.stream.setHidden(false);
    await page.wait(300);
    await save();
    expect([said(), (await stored())[0]]).to.deep.equal([undefined, 65]);
  });

  it("never saves a tuning's result upon older gains of the other loops, however often Keep is pressed before the new gains are loaded", async () => {
    const { saving } = page.model.gains.chassis;
    const better = { speed: { kp: 50, ki: 300, kd: 0 } };
    let revision = 0;
    /** As the result of a tuning does it. */
    const keep = async () => {
      if (await page.during(page.model.gains.chassis.saveLoops(better, revision))) return true;
      revision = saving.refusal.value?.revision ?? revision;
      return false;
    };
    page.let(/pidconfig$/, 'held', 'GET');
    page.isDeaf = true;
    await page.daemon.save('chassis', 'angle', 77);
    for (let press = 0; press < 4; press += 1) {
      expect(await keep()).to.equal(false);
      expect(saving.refusal.value?.code).to.equal('changed-meanwhile');
    }
    page
      .sentTo(/pidconfig$/, 'GET')
      .at(-1)!
      .deliver();
    await page.wait(100);
    for (let press = 0; press < 2 && !(await keep()); press += 1);
    const { speed, angle } = await page.daemon.gains('chassis');
    expect([speed, angle?.kp]).to.deep.equal([better.speed, 77]);
  });
});

describe('a trial of gains on the page', () => {
  beforeEach(async () => {
    await open();
    page.edit('chassis', '/speed/kp', '20');
  });
  const trial = async () => (await page.daemon.status()).chassis.gains.trial;
  const tried = async () => (await trial())?.gains.speed.kp;

  it('is renewed each second until the gains are saved, and keeps its id when the gains are changed', async () => {
    await tries();
    await page.wait(2500);
    expect(page.strip).to.match(/^doing: Chassis runs gains that this page tries\. Nothing is saved\./);
    const { id } = await trial();
    expect(page.sentTo(/trial/).map(one => one.body.id)).to.deep.equal([undefined, id, id]);
    page.edit('chassis', '/speed/kp', '21');
    await tries();
    expect([await tried(), (await trial()).id]).to.deep.equal([21, id]);
    await save();
    const count = page.sentTo(/trial/).length;
    await page.wait(3000);
    expect([page.sentTo(/trial/).length, (await stored())[0]]).to.deep.equal([count, 21]);
  });

  it('is renewed each second even if earlier renewals are unanswered, without cancelling them', async () => {
    await tries();
    page.let(/trial/, 'held');
    await page.wait(2500);
    expect(page.sentTo(/trial/).map(one => one.isTakenBack)).to.deep.equal([false, false, false]);
  });

  it('that is changed runs the new gains, and cancels an unanswered renewal with the old gains', async () => {
    await tries();
    page.let(/trial/, 'held');
    await page.wait(1100);
    page.mend();
    page.edit('chassis', '/speed/kp', '21');
    await tries();
    const [, renewal] = page.sentTo(/trial/);
    renewal!.deliver();
    expect([renewal!.isTakenBack, await tried()]).to.deep.equal([true, 21]);
  });

  it('is shown in the alert strip above the alert about a refused save', async () => {
    page.refuse(/POST .*pidconfig$/, 503, 'storage-failed', 'Full.');
    await save();
    await page.untilHeard(tries());
    expect(page.strip).to.equal(
      'doing: Chassis runs gains that this page tries. Nothing is saved.\nbad: Chassis gains: Full.',
    );
  });

  it('is ended by the button "Undo" even before the daemon has answered the request to begin the trial', async () => {
    page.let(/trial/, 'held', 'POST');
    void editor().try();
    await page.wait(10);
    void editor().undo();
    page.sentTo(/trial/)[0]!.deliver();
    await page.wait(200);
    const ends = page.sentTo(/trial/, 'DELETE').length;
    expect([ends, await tried(), page.strip]).to.deep.equal([1, undefined, '']);
  });

  it('is renewed with its earlier gains after the daemon has refused changed gains', async () => {
    await tries();
    page.override = (_, path, body) =>
      /trial/.test(path) && Object(body).gains?.speed.kp === 22
        ? { status: 503, body: { code: 'unit-busy', detail: 'Busy.' } }
        : undefined;
    page.edit('chassis', '/speed/kp', '22');
    await tries();
    expect(page.strip).to.match(/bad: Chassis trial: Busy\./);
    const count = page.sentTo(/trial/).length;
    await page.wait(2500);
    const renewed = page.sentTo(/trial/).slice(count);
    expect(renewed.map(one => one.body.gains.speed.kp)).to.deep.equal([20, 20]);
  });

  it('ends without an error message after "STOP" is pressed, even if the stop reaches the daemon only seconds later', async () => {
    await tries();
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.wait(2500);
    page.mend();
    await page.wait(3000);
    expect((await page.daemon.ask('GET /api/status')).stopped).to.equal(true);
    expect(editor().trial.id).to.equal(undefined);
    expect(editor().trial.action.refusal.value).to.equal(undefined);
    expect(page.strip).to.not.match(/trial/);
  });

  it('does not begin if "STOP" is pressed while the trial waits for the end of an earlier trial', async () => {
    await tries();
    page.let(/trial/, 'held', 'DELETE');
    void editor().undo();
    await page.wait(10);
    page.edit('chassis', '/speed/kp', '21');
    void editor().try();
    page.model.pressStop();
    page.sentTo(/trial/, 'DELETE')[0]!.deliver();
    await page.wait(500);
    expect([page.sentTo(/trial/).length, await tried()]).to.deep.equal([1, undefined]);
  });

  it("that another caller began is shown with that caller's name, and can be ended from this page", async () => {
    const gains = await page.daemon.gains('chassis');
    await page.daemon.askAndWait('POST /api/chassis/pidconfig/trial', { gains, leaseS: 5 });
    expect(page.strip).to.match(
      /^doing: Chassis runs gains that 192\.0\.2\.2 tries, for \d+ s unless renewed\./,
    );
    await page.untilHeard(editor().trial.end());
    expect(page.strip).to.equal('');
  });
});

describe('the buttons "Try" and "Keep"', () => {
  const { speed } = defaultGains(unitNamed('chassis'));
  beforeEach(open);

  const count = () => page.sentTo(/trial/).length;

  for (const [what, pointer, text] of [
    ['more than 5 times the saved gain', '/speed/kp', String(5.01 * speed!.kp)],
    ['less than a fifth of the saved gain', '/speed/kp', String(0.19 * speed!.kp)],
    ['of the opposite sign to the saved gain', '/speed/kp', '-40'],
    ['above 0 while the saved gain and the default are 0', '/speed/kd', '0.1'],
  ] as const) {
    it(`ask for confirmation before they act if a typed gain is ${what}`, async () => {
      page.edit('chassis', pointer, text);
      await tries();
      expect([count(), editor().doubts.question?.act]).to.deep.equal([0, 'Try']);
      await page.wait(600);
      expect(await save()).to.equal(false);
      expect(editor().doubts.question?.act).to.equal('Keep');
      await page.wait(600);
      expect(await save()).to.equal(true);
      expect(editor().doubts.question).to.equal(undefined);
    });
  }

  it('act at the first press if typed gains are exactly 5 times or exactly a fifth of the saved gains', async () => {
    page.edit('chassis', '/speed/kp', String(5 * speed!.kp));
    page.edit('chassis', '/speed/ki', String(0.2 * speed!.ki));
    await tries();
    expect([count(), await save()]).to.deep.equal([1, true]);
  });

  it('need a second press if a typed gain is far from the saved gain, and ignore a press only 200 ms after the first', async () => {
    page.edit('chassis', '/speed/kp', '99999999');
    await tries();
    await page.wait(200);
    await tries();
    expect(count()).to.equal(0);
    await page.wait(400);
    await tries();
    expect([count(), await save()]).to.deep.equal([1, true]);
  });

  it('ask for confirmation each time a gain far from the saved gain is typed, even if the same value was confirmed before', async () => {
    page.edit('chassis', '/speed/kp', '4000');
    await tries();
    await page.wait(600);
    page.edit('chassis', '/speed/kp', '5000');
    await tries();
    await page.wait(600);
    await tries();
    await page.during(editor().undo());
    await page.wait(600);
    page.edit('chassis', '/speed/kp', '5000');
    await tries();
    expect(count()).to.equal(1);
  });

  it('ask for confirmation of a gain far from the saved gain only if a person typed it, not if the page filled it in', async () => {
    editor().editLoop('speed', { kp: 4000, ki: 1, kd: 9 });
    await tries();
    editor().editSet({ ...(await page.daemon.gains('chassis')), position: { kp: 900, ki: 0, kd: 0 } });
    expect([count(), await save()]).to.deep.equal([1, true]);
    page.edit('chassis', '/speed/ki', '9999');
    editor().editLoop('position', { kp: 1, ki: 0, kd: 0 });
    expect(await save()).to.equal(false);
  });
});
