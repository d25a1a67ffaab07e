import { expect } from 'chai';
import { type FakeDesk, FakeField, NAMES } from './fake-field.js';
import { type FakeRobot, REFUSES_PHASE } from './fake-robot.js';

describe('with two referee desks,', () => {
  let field: FakeField;
  let first: FakeDesk;
  let second: FakeDesk;
  /** The robot Red 1. */
  let red: FakeRobot;
  const wanted = (desk = first) => desk.state.wanted.match;
  /** The first desk takes the match back, and the second desk ends. */
  const takeBack = () => {
    field.takeOver(first);
    second.isOff = true;
  };
  const begin = () => {
    field = new FakeField();
    ({ first, second } = field);
    red = field.robot('Red 1');
    field.wait(600);
  };
  beforeEach(() => {
    begin();
    field.play();
  });

  it('the second desk can take over and replay a match that the first desk has ended, even while the first desk still runs', () => {
    first.pressAndWait('end', 600);
    field.takeOver();
    second.pressAndWait('load', 6000);
    second.pressAndWait('start', 2000);
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
  });

  for (const [what, isRebooted] of [
    ['a restart of its daemon', false],
    ['a reboot', true],
  ] as const)
    it(`if a robot misses “End” and “Release” and comes back after ${what}, “Take over” does not let the robot move`, () => {
      red.isOff = true;
      first.pressAndWait('end', 1500);
      first.pressAndWait('release', 1500);
      red.restart(isRebooted);
      red.isOff = false;
      field.wait(1000);
      first.pressAndWait('take over', 3000);
      expect([wanted()?.phase, red.mayMove]).to.deep.equal(['none', false]);
      expect(field.phases.slice(1)).to.deep.equal(['none', 'none']);
    });

  it('if a robot has been silent since a phase that is over by now, “Take over” still continues the match for the other robots', () => {
    second.switchOn(600);
    field.robot('Blue 1').isOff = true;
    first.pressAndWait('pause', 600);
    first.pressAndWait('without', 20_000, { robot: 'Blue 1' });
    first.pressAndWait('go on in teleop', 600);
    first.isOff = true;
    second.pressAndWait('take over', 600);
    expect([wanted(second)?.phase, wanted(second)?.without]).to.deep.equal(['teleop', ['Blue 1']]);
    expect(field.phases.slice(0, 2)).to.deep.equal(['teleop', 'teleop']);
  });

  it('if the first desk takes its match back, it uses the end time that the robots report, not its own older one', () => {
    field.takeOver();
    second.pressAndWait('pause', 2000);
    second.pressAndWait('go on in teleop', 600);
    const endsAtMs = wanted(second)?.endsAtMs ?? 0;
    takeBack();
    expect(wanted()?.endsAtMs).to.be.closeTo(endsAtMs, 100);
  });

  it('if no page is open on the first desk while the second desk has the match, the first desk still continues the match after taking it back', () => {
    field.takeOver();
    first.losePage();
    field.wait(600);
    takeBack();
    expect([wanted()?.phase, ...field.phases]).to.deep.equal(['auto', 'auto', 'auto', 'auto']);
  });

  it('if the first desk takes back a match that the second desk has ended, the first desk shows the match as ended', () => {
    field.takeOver();
    second.pressAndWait('end', 600);
    takeBack();
    expect([wanted()?.phase, wanted()?.why]).to.deep.equal(['ended', 'another desk has ended it']);
  });

  it('if a robot misses “Take over”, it may not move when it answers again, and “Without” leaves it out of the match and locks it', () => {
    first.isOff = true;
    red.isOff = true;
    second.switchOn(2100);
    second.pressAndWait('take over', 400);
    red.isOff = false;
    field.wait(4000);
    expect(field.moves).to.deep.equal([false, true, true]);
    second.pressAndWait('without', 1500, { robot: 'Red 1' });
    expect(red.match.state.lock?.reason).to.equal('the match plays without Red 1');
  });

  for (const before of ['ended', 'loaded'] as const)
    it(`if the first desk takes over a match that the second desk has ${before}, the second desk changes no phase, even while the first desk is off`, () => {
      begin();
      second.switchOn(600);
      second.pressAndWait('load', 1500);
      if (before === 'ended') second.press('end');
      field.wait(600);
      first.press('take over');
      first.pressAndWait('load', 1500);
      first.pressAndWait('start', 600);
      red.restart(true);
      field.wait(1500);
      first.pressAndWait('join', 600, { robot: 'Red 1' });
      first.pressAndWait('pause', 600);
      first.isOff = true;
      field.wait(5000);
      expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
      first.switchOn(1500);
      first.pressAndWait('go on', 600);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
    });

  it('after the first desk has released the robots, they stay released until “Load” is pressed again on the second desk', () => {
    begin();
    second.switchOn(600);
    second.pressAndWait('load', 1500);
    first.press('take over');
    field.load();
    first.pressAndWait('start', 600);
    first.pressAndWait('end', 600);
    first.pressAndWait('release', 600);
    field.resume();
    field.wait(6000);
    expect(field.phases).to.deep.equal(['none', 'none', 'none']);
    expect(field.moves).to.deep.equal([true, true, true]);
    second.pressAndWait('load', 1500);
    expect(field.phases).to.deep.equal(['pre', 'pre', 'pre']);
  });

  it('if the second desk dies after “Take over”, no robot is allowed to move until “Take over” is pressed on the first desk', () => {
    field.takeOver();
    first.isOff = true;
    field.wait(300);
    second.pressAndWait('pause', 600);
    second.pressAndWait('go on in teleop', 600);
    first.restart();
    first.switchOn(1000);
    second.isOff = true;
    field.wait(3500);
    for (let halfSeconds = 0; halfSeconds < 2; halfSeconds += 1) {
      expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
      expect(field.moves).to.deep.equal([false, false, false]);
      field.wait(500);
    }
    first.pressAndWait('take over', 300);
    expect(field.moves).to.deep.equal([true, true, true]);
  });

  it('a press of “End” on a desk without network does not end the next match of the other desk when the network returns', () => {
    first.isOff = true;
    field.takeOver();
    second.pressAndWait('end', 600);
    second.pressAndWait('load semifinal', 1500);
    second.pressAndWait('start', 600);
    field.resume();
    first.press('end');
    first.switchOn(2000);
    expect(field.phases.slice(0, 2)).to.deep.equal(['auto', 'auto']);
    expect(field.moves.slice(0, 2)).to.deep.equal([true, true]);
  });

  it('if the first desk leaves a robot in an ended match, the second desk shows NOT RELEASED, and releases the robot at “Join”', () => {
    first.pressAndWait('end', 600);
    first.isOff = true;
    field.takeOver();
    second.pressAndWait('load semifinal', 1500);
    expect(field.phases).to.deep.equal(['pre', 'pre', 'ended']);
    expect(second.tile('Blue 1').missed).to.equal('NOT RELEASED');
    second.pressAndWait('join', 1000, { robot: 'Blue 1' });
    expect(field.phases).to.deep.equal(['pre', 'pre', 'none']);
  });

  it('while the first desk runs and keeps robots in an ended match, the second desk offers no “Join” for them', () => {
    first.press('end');
    second.switchOn(4000);
    expect(NAMES.map(name => second.tile(name).missed)).to.deep.equal(NAMES.map(() => null));
    expect(second.tryPress('join')).to.include('not-ready');
    expect(field.phases).to.deep.equal(['ended', 'ended', 'ended']);
  });

  for (const [what, before] of [
    ['no match was loaded on that desk', () => undefined],
    [
      '“Release” was pressed on that desk for the same match before',
      () => {
        field.takeOver();
        second.isOff = true;
        field.wait(4000);
        field.takeOver(first);
      },
    ],
    [
      '“Release” was pressed on that desk for another match before',
      () => {
        second.switchOn(600);
        second.pressAndWait('load semifinal', 100);
        second.pressAndWait('release', 11_000);
      },
    ],
  ] as const)
    it(`if the first desk dies after “End”, “Join” on the second desk releases the robots, even if ${what}`, () => {
      before();
      first.pressAndWait('end', 1500);
      expect(field.phases).to.deep.equal(['ended', 'ended', 'ended']);
      first.isOff = true;
      second.switchOn(2000);
      red.restart(true);
      field.wait(2000);
      if (second.view.match?.id === 'final') {
        second.press('end');
        second.press('release');
      }
      field.wait(1500);
      expect(NAMES.map(name => second.tile(name).missed)).to.deep.equal(NAMES.map(() => 'NOT RELEASED'));
      for (const robot of NAMES) second.press('join', { robot });
      field.wait(1000);
      expect(field.phases).to.deep.equal(['none', 'none', 'none']);
    });

  it('if a frozen desk wakes up without an open page, it does not pause the match that the other desk has taken over', () => {
    first.isOff = true;
    field.takeOver();
    first.losePage();
    first.switchOn(2000);
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
  });

  it('if a frozen desk wakes up when its match time is up, it does not end a match that the other desk has extended', () => {
    second.switchOn(14_200);
    first.isOff = true;
    second.pressAndWait('take over', 300);
    second.pressAndWait('pause', 500);
    second.pressAndWait('go on in teleop', 200);
    first.switchOn(2000);
    expect(wanted()).to.deep.include({ phase: 'ended', why: 'time is up' });
    expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
  });

  it('after “End” on the first desk and a new start of the match on the second desk, a restart of the first desk does not end the match', () => {
    first.pressAndWait('end', 600);
    first.isOff = true;
    field.takeOver();
    second.pressAndWait('load', 5000);
    second.pressAndWait('start', 600);
    first.restart();
    first.switchOn(2000);
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
  });

  it('“Load” and then “End” on the second desk do not end the match that the first desk plays', () => {
    second.switchOn(600);
    second.pressAndWait('load', 600);
    second.pressAndWait('end', 1500);
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
  });

  it('if a desk wakes up after a freeze of 4 s, it does not take back the robots that the other desk took over meanwhile', () => {
    second.switchOn(600);
    first.isOff = true;
    second.pressAndWait('take over', 100);
    second.isOff = true;
    field.wait(4000);
    first.switchOn(2000);
    expect(field.holders).to.deep.equal(['desk-2', 'desk-2', 'desk-2']);
    expect(field.moves).to.deep.equal([false, false, false]);
  });

  it('if the first desk dies and a robot misses “Take over” on the second desk, a pause on the second desk still reaches that robot', () => {
    second.switchOn(600);
    first.isOff = true;
    field.network('Blue 1', { loses: 'requests' });
    second.pressAndWait('take over', 300);
    second.pressAndWait('pause', 900);
    field.network('Blue 1');
    field.wait(4000);
    expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
  });

  it('after a pause on the first desk, “Take over” on the same desk keeps the match paused, even if one robot refuses the pause', () => {
    red.restart(false);
    red.refuses = 'not-allowed';
    first.pressAndWait('pause', 600);
    first.pressAndWait('take over', 600);
    expect(wanted()).to.deep.include({ phase: 'pause', without: [], interrupted: 'auto' });
  });

  for (const [what, isRestarted] of [
    ['restarts', true],
    ['is connected again', false],
  ] as const)
    it(`after the second desk has released the robots and died, the robots stay released when the first desk ${what}`, () => {
      first.isOff = true;
      field.takeOver();
      second.pressAndWait('end', 600);
      second.pressAndWait('release', 600);
      field.resume();
      second.isOff = true;
      field.wait(8000);
      if (isRestarted) first.restart();
      first.switchOn(600);
      first.losePage();
      field.wait(2000);
      expect(field.phases).to.deep.equal(['none', 'none', 'none']);
      expect(field.moves).to.deep.equal([true, true, true]);
    });

  it('if “Take over” is pressed on the first desk and 0.4 s later on the second desk, all robots stay with the second desk', () => {
    second.switchOn(600);
    first.pressAndWait('take over', 400);
    second.pressAndWait('take over', 100);
    field.watch(2000, () => expect(field.holders).to.deep.equal(['desk-2', 'desk-2', 'desk-2']));
  });

  it('“Take over” takes no robot if the network delays the requests by 3.5 s', () => {
    second.switchOn(600);
    for (const name of NAMES) field.network(name, { requestMs: 3500 });
    second.press('take over');
    second.isOff = true;
    for (const name of NAMES) field.network(name);
    field.wait(4000);
    expect(field.holders).to.deep.equal(['desk-1', 'desk-1', 'desk-1']);
  });

  it('if one robot missed “Go on” on the second desk and is still paused, “Take over” on the first desk takes back the running match', () => {
    first.pressAndWait('pause', 600);
    field.network('Blue 1', { loses: 'requests' });
    field.wait(6000);
    field.takeOver();
    second.pressAndWait('go on in teleop', 600);
    field.network('Blue 1');
    first.switchOn(1500);
    expect(field.phases).to.deep.equal(['teleop', 'teleop', 'pause']);
    first.pressAndWait('take over', 1500);
    expect(wanted()?.phase).to.equal('teleop');
    expect(wanted()?.endsAtMs).to.be.closeTo(wanted(second)?.endsAtMs ?? 0, 100);
  });

  it('if the first desk has ended a match and the second desk has loaded one, “Take over” on the first desk adopts the loaded match', () => {
    first.pressAndWait('end', 600);
    second.switchOn(600);
    second.press('load');
    second.pressAndWait('take over', 4000);
    first.pressAndWait('take over', 2000);
    expect([field.phases, wanted()?.phase]).to.deep.equal([['pre', 'pre', 'pre'], 'pre']);
    first.pressAndWait('start', 600);
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
  });

  it('right after the first desk has released the robots, “Load” on the second desk works without “Take over”', () => {
    first.pressAndWait('end', 600);
    second.switchOn(600);
    first.pressAndWait('release', 1500);
    second.pressAndWait('load', 5000);
    expect(field.phases).to.deep.equal(['pre', 'pre', 'pre']);
    second.pressAndWait('start', 300);
    expect(field.moves).to.deep.equal([true, true, true]);
  });

  it('if the first desk left a robot out of the match, the robot stays locked when the second desk takes over and lifts LOCK ALL', () => {
    first.pressAndWait('without', 600, { robot: 'Red 1' });
    first.isOff = true;
    second.switchOn(2500);
    second.pressAndWait('take over', 600);
    expect(wanted(second)?.without).to.deep.equal(['Red 1']);
    second.pressAndWait('lock all', 600);
    second.pressAndWait('unlock', 1500);
    expect(field.locks).to.deep.equal([true, false, false]);
    expect(second.tryPress('unlock one', { robot: 'Red 1' })).to.include('not-ready');
  });

  it('if the second desk takes over during LOCK ALL, and somebody else then unlocks a robot, the second desk locks that robot again', () => {
    first.pressAndWait('lock all', 600);
    first.isOff = true;
    second.switchOn(600);
    second.press('take over');
    red.match.unlock();
    field.wait(1500);
    expect(red.match.state.lock).to.not.equal(null);
    second.pressAndWait('unlock', 600);
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  it('if two robots miss the unlock of LOCK ALL, they stay locked after “Take over”, and can be unlocked one by one', () => {
    const [one, other] = [red, field.robot('Red 2')];
    first.pressAndWait('lock all', 600);
    one.isOff = true;
    other.isOff = true;
    field.wait(600);
    first.pressAndWait('unlock', 1500);
    one.isOff = false;
    other.isOff = false;
    first.isOff = true;
    second.switchOn(1000);
    second.pressAndWait('take over', 1500);
    expect(field.locks).to.deep.equal([true, true, false]);
    for (const robot of ['Red 1', 'Red 2']) second.press('unlock one', { robot });
    field.wait(600);
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  it('if one robot refuses “End”, “Take over” on the same desk keeps the match ended, even if the other robots play another match', () => {
    red.answers = { phase: REFUSES_PHASE };
    for (const name of ['Red 2', 'Blue 1']) {
      const { match } = field.robot(name);
      match.beat('desk-3', 'desk', 60_000, true);
      match.set({ id: 'semi', revision: 1, phase: 'pre', remainingS: null }, 'desk');
      match.set({ id: 'semi', revision: 2, phase: 'auto', remainingS: 60 }, 'desk');
    }
    field.wait(600);
    first.pressAndWait('end', 1500);
    first.pressAndWait('take over', 1500);
    expect([wanted()?.id, wanted()?.phase]).to.deep.equal(['final', 'ended']);
    expect(first.tile('Red 1')?.problems.join()).to.match(/NOT ENDED/);
    field.wait(3000);
    expect(red.mayMove).to.equal(false);
  });
});
