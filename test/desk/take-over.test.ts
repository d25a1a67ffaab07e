import { expect } from 'chai';
import { viewOf } from '../../src/desk/show.js';
import { tick } from '../../src/desk/step.js';
import { FakeField, NAMES } from './fake-field.js';

const OWN = { problems: [], recorded: true };

describe('Take over (one referee desk takes the match from another)', () => {
  let field: FakeField;
  const press = (...args: Parameters<FakeField['press']>) =>
    expect(field.press(...args), args[0]).to.equal(undefined);
  const phases = () => NAMES.map(name => field.robot(name).match.state.phase);
  const moves = () => NAMES.map(name => field.robot(name).mayMove);
  const wanted = (desk = field.first) => desk.state.wanted.match;
  const tile = (name: string, desk = field.first) =>
    viewOf(desk.state, OWN, field.nowMs).robots.find(robot => robot.name === name);
  const takeOver = (desk = field.second, from = field.first) => {
    desk.isOff = false;
    field.wait(600);
    press('take over', { desk });
    field.wait(600);
    from.isOff = from !== field.first;
  };
  const reset = () => {
    field = new FakeField();
    field.wait(600);
    press('load');
    field.wait(1500);
    press('start');
    field.wait(100);
    for (const name of NAMES) field.robot(name).stopped = false;
  };
  beforeEach(reset);

  it('lets a second desk continue a match that the first desk has paused, while the first desk still runs', () => {
    press('pause');
    field.wait(600);
    takeOver();
    press('go on in teleop', { desk: field.second });
    field.wait(3000);
    expect(phases()).to.deep.equal(['teleop', 'teleop', 'teleop']);
  });

  it('lets a second desk play a match again that the first desk has ended, while the first desk still runs', () => {
    press('end');
    field.wait(600);
    takeOver();
    press('load', { desk: field.second });
    field.wait(6000);
    press('start', { desk: field.second });
    field.wait(2000);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
  });

  for (const [what, isRebooted] of [
    ['a restart of its daemon', false],
    ['its reboot', true],
  ] as const)
    it(`does not let a robot move that was off when its match was ended and released, even after ${what}`, () => {
      const red = field.robot('Red 1');
      red.isOff = true;
      press('end');
      field.wait(1500);
      press('release');
      field.wait(1500);
      red.restart(isRebooted);
      red.isOff = false;
      field.wait(1000);
      press('take over');
      field.wait(3000);
      expect([wanted()?.phase, red.mayMove]).to.deep.equal(['none', false]);
      expect(phases().slice(1)).to.deep.equal(['none', 'none']);
    });

  it('lets the match go on for the robots that answer, even if the match time of a silent robot is up', () => {
    field.second.isOff = false;
    field.wait(600);
    field.robot('Blue 1').isOff = true;
    press('pause');
    field.wait(600);
    press('without', { robot: 'Blue 1' });
    field.wait(20_000);
    press('go on in teleop');
    field.wait(600);
    field.first.isOff = true;
    press('take over', { desk: field.second });
    field.wait(600);
    expect([wanted(field.second)?.phase, wanted(field.second)?.without]).to.deep.equal([
      'teleop',
      ['Blue 1'],
    ]);
    expect(phases().slice(0, 2)).to.deep.equal(['teleop', 'teleop']);
  });

  it('on a desk that had the match before uses the end time that the robots report, not the older one of that desk', () => {
    takeOver();
    press('pause', { desk: field.second });
    field.wait(2000);
    press('go on in teleop', { desk: field.second });
    field.wait(600);
    const endsAtMs = wanted(field.second)?.endsAtMs ?? 0;
    takeOver(field.first, field.second);
    expect(wanted()?.endsAtMs).to.be.closeTo(endsAtMs, 100);
  });

  it('on a desk that had the match before lets the match go on, even if that desk itself had paused because no page polled', () => {
    takeOver();
    field.first.state.pageMs = field.nowMs - 5000;
    expect(tick(field.first.state, field.nowMs, 5000)).to.equal(true);
    field.wait(600);
    takeOver(field.first, field.second);
    expect([wanted()?.phase, ...phases()]).to.deep.equal(['auto', 'auto', 'auto', 'auto']);
  });

  it('on a desk that had the match before shows the match as ended if the other desk has ended it', () => {
    takeOver();
    press('end', { desk: field.second });
    field.wait(600);
    takeOver(field.first, field.second);
    expect([wanted()?.phase, wanted()?.why]).to.deep.equal(['ended', 'another desk has ended it']);
  });

  it('gives no permission to move to a playing robot that is silent at the press, and the button Without locks that robot', () => {
    const red = field.robot('Red 1');
    field.first.isOff = true;
    red.isOff = true;
    field.second.isOff = false;
    field.wait(2100);
    press('take over', { desk: field.second });
    field.wait(400);
    red.isOff = false;
    field.wait(4000);
    expect(moves()).to.deep.equal([false, true, true]);
    press('without', { desk: field.second, robot: 'Red 1' });
    field.wait(1500);
    expect(red.match.state.lock?.reason).to.equal('the match plays without Red 1');
  });

  for (const before of ['ended', 'loaded'] as const)
    it(`never happens by itself: the robots stay in the match of the first desk although a second desk has ${before} the same match`, () => {
      field = new FakeField();
      field.second.isOff = false;
      field.wait(600);
      press('load', { desk: field.second });
      field.wait(1500);
      if (before === 'ended') press('end', { desk: field.second });
      field.wait(600);
      press('take over');
      press('load');
      field.wait(1500);
      press('start');
      field.wait(600);
      field.robot('Red 1').restart(true);
      field.wait(1500);
      press('join', { robot: 'Red 1' });
      field.wait(600);
      press('pause');
      field.wait(600);
      field.first.isOff = true;
      field.wait(5000);
      expect(phases()).to.deep.equal(['pause', 'pause', 'pause']);
      field.first.isOff = false;
      field.wait(1500);
      press('go on');
      field.wait(600);
      expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    });

  it('never happens by itself: robots that the first desk has released stay free although a second desk has a loaded match', () => {
    field = new FakeField();
    field.second.isOff = false;
    field.wait(600);
    press('load', { desk: field.second });
    field.wait(1500);
    press('take over');
    press('load');
    field.wait(1500);
    press('start');
    field.wait(600);
    press('end');
    field.wait(600);
    press('release');
    field.wait(600);
    for (const name of NAMES) field.robot(name).stopped = false;
    field.wait(6000);
    expect([phases(), moves()]).to.deep.equal([
      ['none', 'none', 'none'],
      [true, true, true],
    ]);
    press('load', { desk: field.second });
    field.wait(1500);
    expect(phases()).to.deep.equal(['pre', 'pre', 'pre']);
  });

  it('never happens by itself: if a second desk took the match over and then ended, the robots stay stopped until Take over is pressed on the first desk', () => {
    takeOver();
    field.first.isOff = true;
    field.wait(300);
    press('pause', { desk: field.second });
    field.wait(600);
    press('go on in teleop', { desk: field.second });
    field.wait(600);
    field.first.restart();
    field.first.isOff = false;
    field.wait(1000);
    field.second.isOff = true;
    field.wait(3500);
    for (let halfSeconds = 0; halfSeconds < 2; halfSeconds += 1) {
      expect([phases(), moves()]).to.deep.equal([
        ['teleop', 'teleop', 'teleop'],
        [false, false, false],
      ]);
      field.wait(500);
    }
    press('take over');
    field.wait(300);
    expect(moves()).to.deep.equal([true, true, true]);
  });

  it('is not needed if Load is pressed right after the other desk has released the robots', () => {
    press('end');
    field.wait(600);
    field.second.isOff = false;
    field.wait(600);
    press('release');
    field.wait(1500);
    press('load', { desk: field.second });
    field.wait(5000);
    expect(phases()).to.deep.equal(['pre', 'pre', 'pre']);
    press('start', { desk: field.second });
    field.wait(300);
    expect(moves()).to.deep.equal([true, true, true]);
  });

  it('includes the locks of the first desk: a robot that the first desk locked and left out of the match stays locked when the second desk lifts LOCK ALL', () => {
    press('without', { robot: 'Red 1' });
    field.wait(600);
    field.first.isOff = true;
    field.second.isOff = false;
    field.wait(2500);
    press('take over', { desk: field.second });
    field.wait(600);
    expect(wanted(field.second)?.without).to.deep.equal(['Red 1']);
    press('lock all', { desk: field.second });
    field.wait(600);
    press('unlock', { desk: field.second });
    field.wait(1500);
    const locks = () => NAMES.map(name => field.robot(name).match.state.lock !== null);
    expect(locks()).to.deep.equal([true, false, false]);
    expect(field.press('unlock one', { desk: field.second, robot: 'Red 1' })).to.include('not-ready');
  });

  it('includes LOCK ALL of the first desk: the second desk locks a robot again that somebody unlocks', () => {
    press('lock all');
    field.wait(600);
    field.first.isOff = true;
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    field.robot('Red 1').match.unlock();
    field.wait(1500);
    expect(field.robot('Red 1').match.state.lock).to.not.equal(null);
    press('unlock', { desk: field.second });
    field.wait(600);
    expect(NAMES.map(name => field.robot(name).match.state.lock)).to.deep.equal([null, null, null]);
  });

  it('counts LOCK ALL of the first desk as a lock of single robots if a robot that is heard is not locked', () => {
    const [one, other] = [field.robot('Red 1'), field.robot('Red 2')];
    press('lock all');
    field.wait(600);
    one.isOff = true;
    other.isOff = true;
    field.wait(600);
    press('unlock');
    field.wait(1500);
    one.isOff = false;
    other.isOff = false;
    field.first.isOff = true;
    field.second.isOff = false;
    field.wait(1000);
    press('take over', { desk: field.second });
    field.wait(1500);
    const locks = () => NAMES.map(name => field.robot(name).match.state.lock !== null);
    expect(locks()).to.deep.equal([true, true, false]);
    for (const robot of ['Red 1', 'Red 2']) press('unlock one', { desk: field.second, robot });
    field.wait(600);
    expect(locks()).to.deep.equal([false, false, false]);
  });

  it('keeps the match of the desk while one of its robots refuses the end, even if more robots play another match', () => {
    const red = field.robot('Red 1');
    const answer = red.answer.bind(red);
    red.answer = ask =>
      ask.kind === 'phase' ? { status: 409, body: { code: 'stale-match', detail: '' } } : answer(ask);
    for (const name of ['Red 2', 'Blue 1']) {
      const { match } = field.robot(name);
      match.beat('desk-3', 'desk', 60_000, true);
      match.set({ id: 'semi', revision: 1, phase: 'pre', remainingS: null }, 'desk');
      match.set({ id: 'semi', revision: 2, phase: 'auto', remainingS: 60 }, 'desk');
    }
    field.wait(600);
    press('end');
    field.wait(1500);
    press('take over');
    field.wait(1500);
    expect([wanted()?.id, wanted()?.phase]).to.deep.equal(['final', 'ended']);
    expect(tile('Red 1')?.problems.join()).to.match(/NOT ENDED/);
    field.wait(3000);
    expect(red.mayMove).to.equal(false);
  });
});
