import { expect } from 'chai';
import type { Phase } from '../../src/core/phases.js';
import { addRobot, removeRobot } from '../../src/desk/field-presses.js';
import { changeWish, permitFrom } from '../../src/desk/state.js';
import { tick } from '../../src/desk/step.js';
import { type FakeDesk, FakeField, NAMES } from './fake-field.js';
import { type FakeRobot, REFUSES_PHASE } from './fake-robot.js';

const PRESS = { id: 'P', by: 'referee', nowMs: 0, permit: permitFrom(0), at: new Date(0) };

describe('with a referee desk,', () => {
  let field: FakeField;
  let desk: FakeDesk;
  let second: FakeDesk;
  /** The robot Red 1. */
  let red: FakeRobot;
  const forbid = () => {
    const { state } = desk;
    state.wanted = { ...state.wanted, permits: false };
  };
  /** The robots are in these phases. One of them shows NOT RELEASED, until “Join” is pressed for it. */
  const joinReleases = (robot: string, phases: readonly Phase[]) => {
    expect(field.phases).to.deep.equal(phases);
    expect(desk.tile(robot).missed).to.equal('NOT RELEASED');
    desk.pressAndWait('join', 100, { robot });
    expect(field.robot(robot).match.state.phase).to.equal('none');
  };
  beforeEach(() => {
    field = new FakeField();
    desk = field.first;
    second = field.second;
    red = field.robot('Red 1');
    field.wait(600);
  });

  it('LOCK ALL locks every robot in the field at once, and the desk shows how many robots have confirmed the lock', () => {
    desk.pressAndWait('lock all', 30);
    expect(field.locks).to.deep.equal([true, true, true]);
    expect(desk.view.lock).to.deep.include({ by: 'referee', confirmed: 3, of: 3 });
  });

  it('a robot is shown in the field even if its name has a meaning in JavaScript, such as “constructor” or “__proto__”', () => {
    const { state } = desk;
    for (const name of ['constructor', '__proto__']) {
      state.robots = [...state.robots, { name, address: `http://${name}`, token: 'secret-token' }];
      expect(desk.tile(name).place).to.equal('field');
    }
  });

  it('if a robot is silent at LOCK ALL, the desk shows “not confirmed”, and locks the robot within 1.1 s after it answers again', () => {
    field.network('Red 1', { loses: 'requests' });
    desk.pressAndWait('lock all', 1200);
    expect(field.locks).to.deep.equal([false, true, true]);
    expect(desk.tile('Red 1').locking).to.equal('not confirmed');
    expect(desk.tile('Red 2').locking).to.equal('confirmed');
    field.wait(800);
    expect([desk.tile('Red 1').heard, desk.tile('Red 1').problems[0]?.startsWith('Not heard')]).to.deep.equal(
      [false, true],
    );
    expect([desk.tile('Red 2').heard, desk.tile('Red 2').problems]).to.deep.equal([true, []]);
    field.network('Red 1');
    field.wait(1100);
    expect(desk.tile('Red 1').locking).to.equal('confirmed');
  });

  for (const [what, change] of [
    [
      'rejects the token of the desk for 7 s, the desk shows “not confirmed” and stops the robot',
      { refuses: 'token-unknown' },
    ],
    [
      'is off for 7 s, the desk shows “not confirmed”, and stops the robot within 2.5 s after power-on',
      { isOff: true },
    ],
  ] as const)
    it(`if a robot with a confirmed lock ${what}`, () => {
      desk.pressAndWait('lock all', 600);
      expect(desk.tile('Red 1').locking).to.equal('confirmed');
      Object.assign(red, change);
      red.match.unlock();
      red.stopped = false;
      field.wait(7000);
      expect(desk.tile('Red 1').locking).to.equal('not confirmed');
      red.isOff = false;
      field.wait(2500);
      expect(red.stopped).to.equal(true);
    });

  it('if a robot is unlocked while LOCK ALL is in force, the desk locks it again, even if requests for its status fail', () => {
    desk.pressAndWait('lock all', 600);
    red.answers = { status: { status: 500, body: null } };
    red.match.unlock();
    field.wait(7000);
    expect(field.locks).to.deep.equal([true, true, true]);
  });

  it('if a lock request is lost, the desk retries it after 250 ms', () => {
    field.withNetwork('Red 1', { loses: 'requests' }, () => desk.press('lock all'));
    field.wait(200);
    expect(field.locks[0]).to.equal(false);
    field.wait(100);
    expect(field.locks[0]).to.equal(true);
  });

  it('if each answer of a robot takes 3 s, the desk still shows its lock as confirmed within 5 s after LOCK ALL', () => {
    field.network('Red 1', { requestMs: 1500, answerMs: 1500 });
    desk.pressAndWait('lock all', 4900);
    expect(desk.tile('Red 1').locking).to.equal('confirmed');
  });

  it('if LOCK ALL is pressed again while the network still delays an earlier unlock of a robot, that robot stays locked', () => {
    desk.pressAndWait('lock all', 100);
    for (const heldMs of [700, 3000]) {
      field.withNetwork('Red 1', { requestMs: heldMs }, () => desk.pressAndWait('unlock', 100));
      desk.pressAndWait('lock all', 100);
      field.watch(4000, ms => expect(field.locks[0], `${heldMs} ${ms}`).to.equal(true));
    }
  });

  it('if somebody else unlocks a robot while LOCK ALL is in force, the desk locks it again, and the tile of the robot shows the unlock', () => {
    desk.pressAndWait('lock all', 1500);
    field.robot('Red 2').match.unlock();
    field.wait(350);
    expect(field.locks).to.deep.equal([true, true, true]);
    expect(
      NAMES.map(name => /Somebody else unlocked it/.test(desk.tile(name).problems.join())),
    ).to.deep.equal([false, true, false]);
  });

  it('if LOCK ALL is pressed before the desk has noticed the lock of another caller on a robot, the desk does not replace that lock', () => {
    red.lockByOthers();
    desk.pressAndWait('lock all', 1500);
    expect(red.match.state.lock?.by).to.equal('other');
    desk.pressAndWait('unlock', 1500);
    expect(field.locks).to.deep.equal([true, false, false]);
  });

  it('if a robot cannot read its own id, LOCK ALL stops it but does not lock it, and the desk shows “not confirmed”', () => {
    red.hasLostId = true;
    field.wait(1500);
    red.stopped = false;
    desk.pressAndWait('lock all', 1500);
    expect(red.stopped).to.equal(true);
    expect(red.match.state.lock).to.equal(null);
    expect(desk.tile('Red 1').locking).to.equal('not confirmed');
    expect(desk.tile('Red 1').problems.join()).to.match(/cannot read its own id.* LOCK only stops it/);
  });

  it('if a robot is off at LOCK ALL, the desk locks it within 1.4 s after power-on, even if requests for its status fail', () => {
    red.isOff = true;
    field.wait(7000);
    desk.press('lock all');
    red.answers = { status: { status: 500, body: null } };
    red.isOff = false;
    field.wait(1400);
    expect(field.locks[0]).to.equal(true);
  });

  it('if an unlock reaches a robot 1.3 s late, the robot stays locked, and its tile reports a lock that this desk has lifted', () => {
    desk.pressAndWait('lock all', 300);
    field.withNetwork('Red 1', { requestMs: 1300 }, () => desk.pressAndWait('unlock', 1100));
    field.wait(1500);
    expect(field.locks).to.deep.equal([true, false, false]);
    expect(desk.tile('Red 1').problems[0]).to.include('a lock of this desk that was lifted');
  });

  it('if another caller has locked a robot, LOCK ALL stops the robot, and the desk sets its own lock once the other lock is removed', () => {
    red.lockByOthers();
    red.stopped = false;
    field.wait(300);
    desk.pressAndWait('lock all', 350);
    expect([red.stopped, desk.tile('Red 1').locking]).to.deep.equal([true, 'confirmed']);
    field.wait(1150);
    expect([red.match.state.lock?.by, desk.tile('Red 1').lock?.isOurs]).to.deep.equal(['other', false]);
    red.match.unlock();
    field.wait(350);
    expect(red.match.state.lock?.by).to.equal('desk');
    expect(desk.tile('Red 1').problems).to.deep.equal([]);
    desk.pressAndWait('unlock', 200);
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  it('if the unlock of a robot in the pit is lost, the desk retries it even after LOCK ALL, which locks only robots in the field', () => {
    desk.pressAndWait('lock one', 300, { robot: 'Red 1' });
    changeWish(desk.state, 'Red 1', { place: 'pit' });
    field.withNetwork('Red 1', { loses: 'requests' }, () =>
      desk.pressAndWait('unlock one', 100, { robot: 'Red 1' }),
    );
    desk.pressAndWait('lock all', 600);
    expect(field.locks).to.deep.equal([false, true, true]);
  });

  it('if the network delays the answers of a robot by 2.6 s during a period of 0.5 s, no robot loses its permission to move', () => {
    for (let offsetMs = 0; offsetMs < 500; offsetMs += 100) {
      field = new FakeField();
      field.wait(600);
      field.play();
      field.wait(offsetMs);
      field.withNetwork('Red 1', { answerMs: 2600 }, () => field.wait(510));
      field.watch(6000, () => expect(field.moves).to.deep.equal([true, true, true]));
    }
  });

  it('if the desk has not read the clock of a robot for some seconds, “Unlock” still unlocks the robot within 0.9 s', () => {
    desk.pressAndWait('lock all', 600);
    // The next answer that shows the time of the robot is slow.
    for (let steps = 0; steps < 600; steps += 1) {
      field.network('Red 1', { answerMs: 1500 });
      field.wait(10);
    }
    field.network('Red 1');
    field.wait(1600);
    desk.pressAndWait('unlock', 900);
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  it('if a robot is switched on 10 s after “Load”, the desk gets it ready, even if another desk controlled it before', () => {
    red.match.beat('desk-2', 'desk', 3000, true);
    red.isOff = true;
    desk.pressAndWait('load', 10_000);
    red.isOff = false;
    field.wait(2500);
    expect(field.phases).to.deep.equal(['pre', 'pre', 'pre']);
  });

  it('if “Load” reaches a robot only after “Release” was pressed, the robot does not enter the match', () => {
    field.wait(600);
    desk.press('load');
    // Now the robot has answered the first beat, and its phase is asked for next.
    field.wait(10);
    field.network('Red 1', { requestMs: 3000 });
    field.wait(600);
    desk.press('release');
    field.network('Red 1');
    field.wait(4000);
    expect(field.phases).to.deep.equal(['none', 'none', 'none']);
  });

  it('when LOCK ALL is lifted, a robot that was locked before on its own tile stays locked', () => {
    desk.pressAndWait('lock one', 50, { robot: 'Red 2' });
    desk.pressAndWait('lock all', 100);
    desk.pressAndWait('unlock', 1500);
    expect(field.locks).to.deep.equal([false, true, false]);
    desk.pressAndWait('unlock one', 100, { robot: 'Red 2' });
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  for (const refuses of ['token-unknown', 'not-allowed'] as const)
    it(`if a robot rejects the token of the desk (code “${refuses}”), LOCK ALL still stops it, but a match can start only without it`, () => {
      field.robot('Blue 1').refuses = refuses;
      field.wait(600);
      desk.pressAndWait('lock all', 1500);
      expect(field.robot('Blue 1').stopped).to.equal(true);
      expect(desk.tile('Blue 1').locking).to.equal('not confirmed');
      expect(desk.tile('Blue 1').problems.join()).to.include(refuses);
      desk.press('unlock');
      desk.pressAndWait('load', 1500);
      expect(desk.tryPress('start')).to.include('not-ready');
      expect(desk.view.match?.lacks.map(({ robot }) => robot)).to.include('Blue 1');
      desk.press('without', { robot: 'Blue 1' });
      desk.pressAndWait('start', 100);
      expect(field.phases.slice(0, 2)).to.deep.equal(['auto', 'auto']);
      expect(desk.view.match?.without).to.deep.equal(['Blue 1']);
    });

  it('if the daemon of a robot restarts, and the network then delays each request by 2 s, no start takes effect more than 1 s after its press', () => {
    for (let ms = 0; ms < 1200; ms += 10) {
      field = new FakeField();
      desk = field.first;
      field.wait(600);
      const red = field.robot('Red 1');
      red.restart(false);
      field.load();
      red.isDown = true;
      field.wait(600);
      red.restart(false);
      red.isDown = false;
      field.wait(ms);
      field.network('Red 1', { requestMs: 2000 });
      desk.tryPress('start');
      field.wait(4000);
      expect(field.late, `${ms} ms`).to.deep.equal([]);
    }
  });

  it('if a robot answers the lock request with an error, LOCK ALL still stops it', () => {
    red.answers = { lock: { status: 400, body: { code: 'invalid-request', detail: 'x' } } };
    desk.pressAndWait('lock all', 1500);
    expect([red.stopped, desk.tile('Red 1').locking]).to.deep.equal([true, 'not confirmed']);
  });

  for (const [what, off, on] of [
    ['reboots after “Load”', 'load', undefined],
    ['is off at “End” and at the next “Load”, and then boots into a pause', 'play', 'load'],
    ['is off at “End” and at the next “Load”, and the desk restarts in between', 'play', 'end'],
  ] as const)
    it(`if a robot ${what}, the robot still becomes ready for the match`, () => {
      desk.pressAndWait('load', 1500);
      if (off === 'play') desk.press('start');
      field.wait(600);
      red.isOff = true;
      field.wait(2000);
      if (off === 'play') {
        desk.pressAndWait('end', 600);
        if (on === 'end') desk.restart();
        desk.pressAndWait('load', 600);
      }
      red.restart(true);
      red.isOff = false;
      field.wait(1500);
      expect(field.phases).to.deep.equal(['pre', 'pre', 'pre']);
      desk.pressAndWait('start', 300);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
    });

  it('“Load” clears the fault CONTRADICTS on the tile of a robot', () => {
    changeWish(desk.state, 'Red 1', { logFault: { what: 'contradicts', why: 'a line is missing.' } });
    expect(desk.tile('Red 1').contradicts).to.equal('a line is missing.');
    desk.press('load');
    expect(desk.tile('Red 1').contradicts).to.equal(null);
  });

  it('a robot cannot be added by a link whose token would be refused in the file of the field', () => {
    for (const token of ['', 'short', 'secret_token', 'secret-token.', 'a'.repeat(201)]) {
      const link = `http://blue-2/#token=${token}`;
      expect(() => addRobot.act(desk.state, PRESS, { name: 'Blue 2', link }), token).to.throw('not-ready');
    }
  });

  it('a match can be loaded only if all its robots are known, and none of them can be removed before the match has ended', () => {
    const { state } = desk;
    state.robots = state.robots.slice(0, -1);
    expect(desk.tryPress('load')).to.include('not-ready').and.include('Blue 1');
    addRobot.act(state, PRESS, { name: 'Blue 1', link: 'http://blue-1/#token=secret-token' });
    field.play();
    expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
    expect(() => removeRobot.act(state, PRESS, { robot: 'Blue 1' })).to.throw('not-ready');
    desk.press('end');
    removeRobot.act(state, PRESS, { robot: 'Blue 1' });
    expect(desk.view.robots.map(({ name }) => name)).to.deep.equal(['Red 1', 'Red 2']);
  });

  it('“Unlock” unlocks a robot of the older version 0.3.0 only if the desk itself has locked that robot', () => {
    red.isOld = true;
    desk.state.wanted = { ...desk.state.wanted, robots: {} };
    desk.restart();
    field.wait(600);
    desk.pressAndWait('lock all', 300);
    expect([desk.tile('Red 1').locking, desk.tile('Red 1').lock?.isOurs]).to.deep.equal(['confirmed', true]);
    desk.pressAndWait('unlock', 100);
    expect(field.locks).to.deep.equal([false, false, false]);
    red.lockByOthers();
    field.wait(300);
    desk.pressAndWait('lock all', 300);
    desk.pressAndWait('unlock', 1500);
    expect([red.match.state.lock?.by, desk.tile('Red 1').lock?.isOurs]).to.deep.equal(['other', false]);
  });

  it('each reason why a robot is not ready for a match ends with exactly one full stop', () => {
    desk.press('load');
    red.match.lock({ id: 'x', by: 'robot', reason: 'match.json cannot be read.' });
    field.wait(600);
    const texts = desk.view.match?.lacks.map(({ text }) => text) ?? [];
    expect(texts).to.include('Locked by robot: match.json cannot be read.');
    for (const text of texts) expect(text).to.match(/[^.]\.$/);
  });

  it('if the saved state of the desk is lost, the desk refuses to load or unlock until “Take over” is pressed, but obeys LOCK ALL', () => {
    desk.pressAndWait('lock all', 100);
    desk.lose();
    field.wait(600);
    expect(desk.view.permits).to.equal(false);
    expect(desk.tryPress('load')).to.include('not-ready');
    expect(desk.tryPress('unlock one', { robot: 'Red 1' })).to.include('not-ready');
    for (const name of NAMES) field.robot(name).match.unlock();
    desk.pressAndWait('lock all', 350);
    expect(field.locks).to.deep.equal([true, true, true]);
    desk.press('take over');
    desk.pressAndWait('unlock', 100);
    expect(field.locks).to.deep.equal([false, false, false]);
  });

  it('if another robot answers at the address of a robot, the tile says so, and the desk locks the other robot only after “Accept”', () => {
    const stranger = new FakeField().robot('Blue 1');
    Object.assign(red, { id: stranger.id.replace(/./g, 'e') });
    field.wait(1500);
    desk.pressAndWait('lock all', 500);
    expect(field.locks).to.deep.equal([false, true, true]);
    expect(desk.tile('Red 1').problems[0]).to.include('Another robot answers');
    desk.pressAndWait('accept', 1100, { robot: 'Red 1' });
    expect(field.locks[0]).to.equal(true);
  });

  it('if another robot answers at the address of a robot and refuses the token, the tile still reports the other robot within 2 s', () => {
    Object.assign(red, { id: 'e'.repeat(16), refuses: 'token-unknown' });
    field.wait(2000);
    expect(desk.tile('Red 1').problems[0]).to.include('Another robot answers');
  });

  it('if a page still shows an older lock, its “Unlock” is refused, and the robots stay locked', () => {
    desk.pressAndWait('lock all', 300);
    const lock = desk.view.lock?.id ?? '';
    desk.pressAndWait('lock all', 300);
    expect(desk.tryPress('unlock', { lock })).to.include('lock-changed');
    expect(field.locks).to.deep.equal([true, true, true]);
    desk.pressAndWait('unlock', 300, { lock: desk.view.lock?.id ?? '' });
    expect(field.locks).to.deep.equal([false, false, false]);
    desk.press('lock one', { robot: 'Red 1' });
    const own = desk.tile('Red 1').ownLock ?? '';
    desk.press('lock one', { robot: 'Red 1' });
    expect(desk.tryPress('unlock one', { robot: 'Red 1', lock: own })).to.include('lock-changed');
  });

  it('after “Take over”, the desk treats the earlier locks of the other desk as its own, but not the later ones', () => {
    desk.press('lock all');
    second.switchOn(600);
    second.press('take over');
    expect(second.tile('Red 1').lock?.isOurs).to.equal(true);
    desk.pressAndWait('unlock', 600);
    desk.pressAndWait('lock all', 600);
    expect(second.tile('Red 1').lock?.isOurs).to.equal(false);
  });

  it('if the server at the address of a robot is not a robot, the desk stops sending the token of the robot there', () => {
    const tokens: boolean[] = [];
    red.answer = ({ path, withToken }) => {
      tokens.push(withToken);
      return path === '/healthz' ? { status: 200, body: {} } : { status: 404, body: 'no such page' };
    };
    field.wait(3000);
    expect(tokens.slice(-2)).to.deep.equal([false, false]);
    expect(tokens.filter(isSent => isSent).length).to.be.at.most(3);
  });

  it('if two robots have the same id, the desk names both as not ready for a start', () => {
    desk.state.wanted = { ...desk.state.wanted, robots: {} };
    Object.assign(red, { id: field.robot('Red 2').id });
    desk.restart();
    field.wait(600);
    field.load();
    const robots = desk.view.match?.lacks.map(({ robot }) => robot);
    expect(robots).to.include('Red 1').and.include('Red 2').and.not.include('Blue 1');
  });

  for (const [what, isInNext] of [
    ['plays the next match', true],
    ['does not play the next match', false],
  ] as const)
    it(`if a robot misses “End” and the “Load” of another match, and then its daemon restarts, the desk ends its old match (the robot ${what})`, () => {
      const name = isInNext ? 'Red 1' : 'Blue 1';
      const robot = field.robot(name);
      field.play();
      robot.isOff = true;
      desk.pressAndWait('end', 600);
      desk.pressAndWait('load semifinal', 600);
      if (!isInNext) desk.restart();
      robot.restart(false);
      robot.isOff = false;
      expect(robot.match.state.phase).to.equal('auto');
      field.wait(3000);
      expect(robot.match.state.phase).to.equal(isInNext ? 'pre' : 'ended');
      expect(robot.match.state.call?.id).to.equal(isInNext ? 'semifinal' : 'final');
    });

  it('if a robot loses a confirmed pause in a restart, the desk pauses it again', () => {
    field.play();
    const { state } = red.match;
    desk.pressAndWait('pause', 300);
    expect(red.match.state.phase).to.equal('pause');
    red.match.set({ id: 'final', revision: 99, phase: 'auto', remainingS: 60 }, 'desk');
    red.restart(false);
    expect([state.phase, red.match.state.phase]).to.deep.equal(['auto', 'auto']);
    field.wait(1500);
    expect(red.match.state.phase).to.equal('pause');
  });

  it('“Take over” does not go on with a match that this desk has ended, if a robot that missed the end restarts in that match', () => {
    field.play();
    red.isOff = true;
    desk.pressAndWait('end', 600);
    desk.pressAndWait('load semifinal', 600);
    red.restart(false);
    red.answers.phase = REFUSES_PHASE;
    red.isOff = false;
    field.wait(1000);
    expect(red.match.state.phase).to.equal('auto');
    desk.pressAndWait('take over', 600);
    expect(desk.view.match).to.include({ id: 'semifinal', phase: 'pre' });
  });

  it('LOCK ALL works after “Take over” from robots whose lock has an id that is too long for other robots', () => {
    red.match.lock({ id: `desk-${'x'.repeat(70)}:one:P`, by: 'desk-x', reason: '' });
    red.stopped = true;
    field.wait(600);
    desk.pressAndWait('take over', 600);
    expect(desk.state.wanted.former).to.deep.equal([]);
  });

  it('a robot of the older version 0.3.0 keeps the lock of others if LOCK ALL stands and its first status takes 300 ms', () => {
    red.isOld = true;
    desk.state.wanted = { ...desk.state.wanted, robots: {} };
    desk.restart();
    desk.pressAndWait('lock all', 100);
    red.isOff = true;
    red.lockByOthers();
    field.wait(8000);
    field.network('Red 1', { requestMs: 150, answerMs: 150 });
    red.isOff = false;
    field.wait(3000);
    expect(red.match.state.lock).to.include({ by: 'other' });
  });

  describe('after “Load”,', () => {
    beforeEach(() => field.load());

    it('when LOCK ALL is lifted, a robot that the button “Without” has excluded from the match gets its earlier lock again', () => {
      desk.pressAndWait('without', 600, { robot: 'Red 1' });
      desk.pressAndWait('lock all', 600);
      desk.pressAndWait('unlock', 600);
      expect(red.match.state.lock?.id).to.match(/^desk-1:out:/);
    });

    it('if the desk does not know a robot of the match, the match can start without that robot, which is locked when it is added later', () => {
      const { state } = desk;
      const all = state.robots;
      state.robots = all.filter(({ name }) => name !== 'Red 1');
      state.seen.delete('Red 1');
      expect(desk.tryPress('start')).to.include('Red 1: Not heard');
      desk.pressAndWait('without', 100, { robot: 'Red 1' });
      desk.press('start');
      state.robots = all;
      field.wait(600);
      expect(field.phases).to.deep.equal(['pre', 'auto', 'auto']);
      expect(field.locks).to.deep.equal([true, false, false]);
    });

    it('if “Start” reaches the desk after 0.6 s and a robot after another 0.5 s, the robot is not started, and its tile shows NOT STARTED', () => {
      field.network('Red 1', { requestMs: 500 });
      desk.pressAndWait('start', 1200, { lateMs: 600 });
      expect(field.phases).to.deep.equal(['pre', 'auto', 'auto']);
      expect(desk.tile('Red 1').missed).to.equal('NOT STARTED');
    });

    it('if the network delays the start of a robot by 3 s, the desk shows NOT STARTED, and starts the robot when “Join” is pressed', () => {
      field.withNetwork('Red 1', { requestMs: 3000 }, () => desk.pressAndWait('start', 1100));
      field.wait(2500);
      expect(field.phases).to.deep.equal(['pre', 'auto', 'auto']);
      expect([desk.tile('Red 1').missed, desk.tile('Red 2').missed]).to.deep.equal(['NOT STARTED', null]);
      desk.pressAndWait('join', 100, { robot: 'Red 1' });
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
      field.wait(2000);
      expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
    });

    it('if “Release” does not reach a robot within 1 s, the desk shows NOT RELEASED until “Join” is pressed, which releases the robot', () => {
      field.withNetwork('Red 1', { loses: 'requests' }, () => desk.pressAndWait('release', 1500));
      field.wait(1500);
      joinReleases('Red 1', ['pre', 'none', 'none']);
    });

    it('if a team sets a practice match on its released robot, another “Load”, of a match without that robot, does not change the practice match', () => {
      desk.pressAndWait('end', 600);
      desk.press('release');
      // The lease of the desk runs out.
      field.wait(4000);
      const { match } = field.robot('Blue 1');
      match.set({ id: 'practice', revision: 1, phase: 'pre', remainingS: null }, 'team');
      field.wait(600);
      desk.pressAndWait('load semifinal', 6000);
      expect([field.phases, desk.tile('Blue 1').missed]).to.deep.equal([['pre', 'pre', 'pre'], null]);
    });

    it('if a robot misses the start of the match, “Pause” pauses it too, and “Go on” then lets all robots play', () => {
      field.withNetwork('Red 1', { loses: 'requests' }, () => desk.pressAndWait('start', 1500));
      desk.pressAndWait('pause', 1500);
      expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
      desk.pressAndWait('go on', 600);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
    });

    for (const [what, phase] of [
      ['a match that had not begun', 'pause'],
      ['an ended match', 'ended'],
    ] as const)
      it(`if a robot is off at the “Release” of ${what}, “Join” releases it after its reboot`, () => {
        if (phase === 'ended') {
          desk.pressAndWait('start', 100);
          desk.press('end');
        }
        field.wait(600);
        red.isOff = true;
        desk.pressAndWait('release', 5000);
        red.restart(true);
        red.isOff = false;
        field.wait(1500);
        joinReleases('Red 1', [phase, 'none', 'none']);
      });

    it('if the log of a robot contradicts its copy on the desk, the match can still start, and the tile shows CONTRADICTS, also after a restart of the desk', () => {
      changeWish(desk.state, 'Red 1', { logFault: { what: 'contradicts', why: 'a line is missing.' } });
      desk.press('start');
      desk.restart();
      expect(desk.tile('Red 1').problems[0]).to.include('CONTRADICTS');
    });

    it('while one robot is locked and another does not answer, the desk refuses “Start” and gives the reason for each of the two', () => {
      field.robot('Red 2').lockByOthers();
      field.robot('Blue 1').isOff = true;
      field.wait(2000);
      const lacks = desk.view.match?.lacks.map(({ robot, text }) => `${robot}: ${text}`) ?? [];
      expect(lacks).to.include('Red 2: Locked by other: inspection.');
      expect(lacks.some(text => text.startsWith('Blue 1: Not heard.'))).to.equal(true);
      expect(desk.tryPress('start')).to.include('Red 2').and.include('Blue 1');
      expect(field.phases.slice(0, 2)).to.deep.equal(['pre', 'pre']);
    });

    it('if a robot has no new id to accept, “Accept” is refused, and the desk still knows the last copied line of the log of that robot', () => {
      const head = () => desk.state.wanted.robots['Red 1']?.head;
      const before = head();
      expect(desk.tryPress('accept', { robot: 'Red 1' })).to.include('not-ready');
      expect([before === null, head()]).to.deep.equal([false, before]);
    });
  });

  describe('during a match,', () => {
    beforeEach(() => field.play());

    it('if the desk dies and its last beat reaches a robot 4 s late, this beat does not let the robot move again', () => {
      field.network('Red 1', { requestMs: 4000 });
      field.wait(600);
      desk.isOff = true;
      field.wait(3100);
      field.watch(1500, () => expect(field.moves).to.deep.equal([false, false, false]));
    });

    it('if each request to a robot and each of its answers suddenly takes 0.9 s, no robot loses its permission to move', () => {
      field.wait(5500);
      field.network('Red 1', { requestMs: 900, answerMs: 900 });
      field.watch(8000, () => expect(field.moves).to.deep.equal([true, true, true]));
    });

    it('if the network fails in teleop, all robots may still move 2.9 s later, and when the time of teleop is up, none may move and all have ended the match', () => {
      field.wait(5000);
      expect([desk.view.match?.phase, field.phases]).to.deep.equal([
        'teleop',
        ['teleop', 'teleop', 'teleop'],
      ]);
      expect(NAMES.map(name => field.robot(name).stopped)).to.deep.equal([false, false, false]);
      field.wait(4000);
      for (const name of NAMES) field.network(name, { loses: 'requests' });
      field.wait(2900);
      expect(field.moves).to.deep.equal([true, true, true]);
      field.wait(3200);
      expect(field.moves).to.deep.equal([false, false, false]);
      expect(field.phases).to.deep.equal(['ended', 'ended', 'ended']);
    });

    it('if a robot is off during the next match, and then is still in this one, the desk still asks it for its log', () => {
      desk.pressAndWait('end', 600);
      red.isOff = true;
      desk.pressAndWait('load semifinal', 600);
      desk.pressAndWait('release', 1500);
      changeWish(desk.state, 'Red 1', { head: { seq: 1, hash: 'a'.repeat(64) } });
      const asked: string[] = [];
      const { answer } = red;
      red.answer = ask => {
        asked.push(ask.kind);
        return answer.call(red, ask);
      };
      red.isOff = false;
      field.wait(8000);
      expect([field.phases[0], asked.includes('lines')]).to.deep.equal(['ended', true]);
    });

    for (const [what, waitMs, phase] of [
      ['in auto', 2000, 'auto'],
      ['in teleop', 4500, 'teleop'],
    ] as const)
      it(`if a robot reboots in auto, the desk shows NOT STARTED, and keeps the robot paused until “Join” is pressed ${what}`, () => {
        field.wait(1500);
        red.restart(true);
        field.wait(waitMs);
        expect(field.phases).to.deep.equal(['pause', phase, phase]);
        expect(desk.tile('Red 1').missed).to.equal('NOT STARTED');
        desk.pressAndWait('join', 100, { robot: 'Red 1' });
        expect(field.phases[0]).to.equal(phase);
      });

    it('if a robot misses “End” and “Release”, its match ends when it answers again, but only “Join” releases it', () => {
      field.network('Red 1', { loses: 'requests' });
      desk.pressAndWait('end', 1500);
      desk.pressAndWait('release', 1500);
      expect(field.phases).to.deep.equal(['auto', 'none', 'none']);
      field.network('Red 1');
      field.wait(1500);
      joinReleases('Red 1', ['ended', 'none', 'none']);
    });

    it('after “End”, a robot is released when a match without that robot is loaded', () => {
      desk.pressAndWait('end', 600);
      desk.pressAndWait('load semifinal', 600);
      expect([field.phases, desk.tile('Blue 1').missed]).to.deep.equal([['pre', 'pre', 'none'], null]);
    });

    it('if a robot is still in an earlier match, the desk shows NOT RELEASED until “Join” is pressed, which releases the robot', () => {
      field.network('Blue 1', { loses: 'requests' });
      desk.pressAndWait('end', 600);
      desk.pressAndWait('load semifinal', 1500);
      field.network('Blue 1');
      field.wait(1500);
      joinReleases('Blue 1', ['pre', 'pre', 'ended']);
    });

    it('if “Release” is pressed right after “End”, all robots are released', () => {
      desk.press('end');
      desk.pressAndWait('release', 1000);
      expect([field.phases, desk.tile('Red 1').missed]).to.deep.equal([['none', 'none', 'none'], null]);
    });

    it('if the desk pauses a match because no page asks for data, it also pauses a robot that missed the pause and then restarted', () => {
      field.network('Red 1', { loses: 'requests' });
      desk.state.pageMs = field.nowMs;
      field.wait(100);
      tick(desk.state, field.nowMs, 100);
      field.wait(1400);
      red.restart(false);
      field.network('Red 1');
      field.wait(1500);
      expect(desk.view.match?.why).to.equal("no referee's page answers");
      expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
    });

    it('“Join” is refused for a robot that no longer has the match loaded', () => {
      red.match = new FakeField().robot('Red 1').match;
      field.wait(1500);
      expect(desk.tile('Red 1').missed).to.equal('NOT STARTED');
      expect(desk.tryPress('join', { robot: 'Red 1' })).to.include('not-ready');
    });

    it('after a pause, “Go on” continues the match with the seconds that were left', () => {
      field.wait(2000);
      desk.pressAndWait('pause', 3000);
      expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
      expect(Math.round(desk.view.match?.leftS ?? 0)).to.equal(3);
      desk.pressAndWait('go on', 2000);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
      field.wait(1500);
      expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
    });

    it('if the desk is killed and restarts 1.4 s later, the match continues and no robot stops', () => {
      desk.isOff = true;
      field.wait(1400);
      desk.isOff = false;
      desk.restart();
      field.wait(5000);
      expect([field.phases, desk.view.match?.phase]).to.deep.equal([
        ['teleop', 'teleop', 'teleop'],
        'teleop',
      ]);
      expect(NAMES.map(name => field.robot(name).stopped)).to.deep.equal([false, false, false]);
    });

    it('after “Take over” of the paused match of another desk that still runs, “Go on” is refused unless the referee enters the phase and the seconds left', () => {
      desk.pressAndWait('pause', 100);
      second.switchOn(600);
      second.pressAndWait('take over', 1500);
      expect(second.tryPress('go on')).to.include('choose phase and seconds');
      second.pressAndWait('go on in teleop', 6900);
      expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
      field.wait(500);
      expect(field.phases).to.deep.equal(['ended', 'ended', 'ended']);
    });

    it('another desk shows the desk that runs the match and its robots, and continues the match after “Take over”', () => {
      second.switchOn(600);
      expect(second.view.otherDesk).to.deep.include({ holder: 'desk-1', robots: [...NAMES] });
      desk.isOff = true;
      second.pressAndWait('take over', 600);
      expect(second.view.otherDesk).to.equal(null);
      field.wait(5000);
      expect(field.phases).to.deep.equal(['teleop', 'teleop', 'teleop']);
      second.pressAndWait('end', 100);
      expect(field.phases).to.deep.equal(['ended', 'ended', 'ended']);
    });

    it('if a robot reboots and another desk then takes over, the robot stays paused, and its tile shows NOT STARTED', () => {
      red.restart(true);
      desk.isOff = true;
      second.switchOn(600);
      second.pressAndWait('take over', 2000);
      expect(field.phases).to.deep.equal(['pause', 'auto', 'auto']);
      expect(second.tile('Red 1').missed).to.equal('NOT STARTED');
    });

    it('after another desk has taken over the match, the first desk cannot pause or end it, but can still lock all robots', () => {
      field.takeOver();
      desk.losePage();
      field.wait(2000);
      desk.pressAndWait('end', 1100);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
      desk.pressAndWait('lock all', 300);
      expect(field.locks).to.deep.equal([true, true, true]);
    });

    it('if the last page times out 1 s before the end of auto, but the desk notices only 4 s later, the match is paused with 1 s left', () => {
      const { state } = desk;
      const endsAtMs = state.wanted.match?.endsAtMs ?? 0;
      state.pageMs = endsAtMs - 6000;
      expect(tick(state, endsAtMs + 3000, 5000)).to.equal(true);
      expect(state.wanted.match).to.deep.include({ phase: 'pause', interrupted: 'auto', leftS: 1 });
    });

    it('if no page of a referee has asked for data for 5 s, the desk pauses the match and keeps the seconds left', () => {
      const { state } = desk;
      state.pageMs = field.nowMs;
      expect(tick(state, field.nowMs + 4800, 5000)).to.equal(false);
      state.pageMs = field.nowMs - 5000;
      expect(tick(state, field.nowMs, 0)).to.equal(false);
      expect(tick(state, field.nowMs, 5000)).to.equal(true);
      field.wait(100);
      const { why, leftS } = desk.view.match ?? {};
      expect(field.phases).to.deep.equal(['pause', 'pause', 'pause']);
      expect(why).to.equal("no referee's page answers");
      expect(Math.round(leftS ?? 0)).to.equal(5);
    });

    it('if a robot refuses “End”, it loses its permission to move within 4 s, and does not get it back when the desk restarts', () => {
      red.stopped = false;
      red.answers = { phase: REFUSES_PHASE };
      desk.pressAndWait('end', 4000);
      expect([red.match.state.phase, red.mayMove]).to.deep.equal(['auto', false]);
      for (let restarts = 0; restarts < 3; restarts += 1) {
        desk.restart();
        field.wait(1000);
        expect(red.mayMove).to.equal(false);
      }
    });

    it('the tile shows NOT PAUSED or NOT ENDED if a robot refuses “Pause” or “End”, but “Not heard” if the robot is off', () => {
      red.answers = { phase: REFUSES_PHASE };
      field.robot('Blue 1').isOff = true;
      for (const [what, says] of [
        ['pause', 'NOT PAUSED'],
        ['end', 'NOT ENDED'],
      ] as const) {
        desk.pressAndWait(what, 1600);
        expect(desk.tile('Red 1').problems[0]).to.include(says);
        expect(desk.tile('Blue 1').problems[0]).to.include('Not heard');
        expect(desk.tile('Red 2').problems).to.deep.equal([]);
      }
    });

    it('if the token list of the desk is damaged, the match is paused; “End” then ends the match, and “Take over” leaves it ended', () => {
      forbid();
      field.wait(300);
      expect([field.phases, desk.view.match?.phase]).to.deep.equal([['pause', 'pause', 'pause'], 'pause']);
      red.isOff = true;
      desk.pressAndWait('end', 300);
      desk.press('take over');
      red.isOff = false;
      field.wait(3000);
      expect([field.phases, desk.view.match?.phase]).to.deep.equal([['ended', 'ended', 'ended'], 'ended']);
    });

    it('if the token list of the desk is damaged after another desk has taken over, the match continues, and no tile shows a problem', () => {
      field.takeOver();
      forbid();
      field.wait(2000);
      expect(NAMES.flatMap(name => desk.tile(name).problems)).to.deep.equal([]);
      expect(field.phases).to.deep.equal(['auto', 'auto', 'auto']);
    });
  });
});
