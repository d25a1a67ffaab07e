import { expect } from 'chai';
import { addRobot, removeRobot } from '../../src/desk/field-presses.js';
import type { DeskView, RobotView } from '../../src/desk/show.js';
import { viewOf } from '../../src/desk/show.js';
import { tick } from '../../src/desk/step.js';
import { FakeField, NAMES } from './fake-field.js';

const OWN = { problems: [], recorded: true };
const PRESS = { id: 'P', by: 'referee', nowMs: 0, at: new Date(0) };

describe('a referee desk', () => {
  let field: FakeField;
  const view = (desk = field.first): DeskView => viewOf(desk.state, OWN, field.nowMs);
  const tile = (name: string, desk = field.first): RobotView => {
    const found = view(desk).robots.find(robot => robot.name === name);
    if (found === undefined) throw new Error(`no tile ${name}`);
    return found;
  };
  const press = (...args: Parameters<FakeField['press']>) =>
    expect(field.press(...args), args[0]).to.equal(undefined);
  const locks = () => NAMES.map(name => field.robot(name).match.state.lock !== null);
  const phases = () => NAMES.map(name => field.robot(name).match.state.phase);
  const play = () => {
    press('load');
    field.wait(1500);
    press('start');
    field.wait(100);
  };
  const forbid = () => {
    const { state } = field.first;
    state.wanted = { ...state.wanted, permits: false };
  };
  beforeEach(() => {
    field = new FakeField();
    field.wait(600);
  });

  it('locks every robot in the field at once when LOCK ALL is pressed, and shows how many robots have confirmed the lock', () => {
    press('lock all');
    field.wait(30);
    expect(locks()).to.deep.equal([true, true, true]);
    expect(view().lock).to.deep.include({ by: 'referee', confirmed: 3, of: 3 });
  });

  it('shows a robot in the field even if its name has a meaning in JavaScript (constructor, __proto__)', () => {
    const { state } = field.first;
    for (const name of ['constructor', '__proto__']) {
      state.robots = [...state.robots, { name, address: `http://${name}`, token: 'secret-token' }];
      expect(tile(name).place).to.equal('field');
    }
  });

  it('locks all answering robots when LOCK ALL is pressed, and a silent robot within 1.1 s after this robot answers again', () => {
    field.network('Red 1', { loses: 'requests' });
    press('lock all');
    field.wait(1200);
    expect([locks(), tile('Red 1').locking, tile('Red 2').locking]).to.deep.equal([
      [false, true, true],
      'not confirmed',
      'confirmed',
    ]);
    field.wait(800);
    expect([tile('Red 1').heard, tile('Red 1').problems[0]?.startsWith('Not heard')]).to.deep.equal([
      false,
      true,
    ]);
    expect([tile('Red 2').heard, tile('Red 2').problems]).to.deep.equal([true, []]);
    field.network('Red 1');
    field.wait(1100);
    expect(tile('Red 1').locking).to.equal('confirmed');
  });

  for (const [what, change] of [
    ['refused the token', { refuses: 'token-unknown' }],
    ['been off', { isOff: true }],
  ] as const)
    it(`no longer shows a lock as confirmed after the robot has ${what} for 7 s, and stops the robot as soon as possible`, () => {
      press('lock all');
      field.wait(600);
      expect(tile('Red 1').locking).to.equal('confirmed');
      const red = field.robot('Red 1');
      Object.assign(red, change);
      red.match.unlock();
      red.stopped = false;
      field.wait(7000);
      expect(tile('Red 1').locking).to.equal('not confirmed');
      red.isOff = false;
      field.wait(2500);
      expect(red.stopped).to.equal(true);
    });

  it('locks a robot again that was unlocked during LOCK ALL, even if the robot answers every status request with an error', () => {
    press('lock all');
    field.wait(600);
    const red = field.robot('Red 1');
    const answer = red.answer.bind(red);
    red.answer = ask => (ask.kind === 'status' ? { status: 500, body: null } : answer(ask));
    red.match.unlock();
    field.wait(7000);
    expect(locks()).to.deep.equal([true, true, true]);
  });

  it('lets a robot that refuses the end of the match lose its permission to move within 4 s', () => {
    play();
    const red = field.robot('Red 1');
    red.stopped = false;
    const answer = red.answer.bind(red);
    red.answer = ask =>
      ask.kind === 'phase' ? { status: 409, body: { code: 'stale-match', detail: '' } } : answer(ask);
    press('end');
    field.wait(4000);
    expect([red.match.state.phase, red.mayMove]).to.deep.equal(['auto', false]);
  });

  it('retries a lost lock request after 250 ms', () => {
    field.network('Red 1', { loses: 'requests' });
    press('lock all');
    field.network('Red 1');
    field.wait(200);
    expect(locks()[0]).to.equal(false);
    field.wait(100);
    expect(locks()[0]).to.equal(true);
  });

  it('shows the lock of a robot as confirmed within 5 s even if each answer of the robot takes 3 s', () => {
    field.network('Red 1', { requestMs: 1500, answerMs: 1500 });
    press('lock all');
    field.wait(4900);
    expect(tile('Red 1').locking).to.equal('confirmed');
  });

  it('keeps a robot locked if LOCK ALL is pressed while an earlier unlock is still delayed by the network', () => {
    press('lock all');
    field.wait(100);
    for (const heldMs of [700, 3000]) {
      field.network('Red 1', { requestMs: heldMs });
      press('unlock');
      field.wait(100);
      field.network('Red 1');
      press('lock all');
      field.wait(100);
      for (let ms = 0; ms < 4000; ms += 100) {
        expect(locks()[0], `${heldMs} ${ms}`).to.equal(true);
        field.wait(100);
      }
    }
  });

  it('locks a robot again if somebody else unlocks it while LOCK ALL is in force, and shows this unlock on the tile of the robot', () => {
    press('lock all');
    field.wait(1500);
    field.robot('Red 2').match.unlock();
    field.wait(350);
    expect(locks()).to.deep.equal([true, true, true]);
    expect(NAMES.map(name => /Somebody else unlocked it/.test(tile(name).problems.join()))).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  it('keeps the lock that another caller set on a robot while LOCK ALL could not reach the robot', () => {
    field.robot('Red 1').isOff = true;
    press('lock all');
    field.wait(7000);
    field.robot('Red 1').lockByOthers();
    field.robot('Red 1').isOff = false;
    field.wait(1500);
    expect(field.robot('Red 1').match.state.lock?.by).to.equal('other');
    expect(tile('Red 1').locking).to.equal('confirmed');
  });

  it('does not replace a lock that another caller set just before LOCK ALL, even if the desk has not seen that lock yet', () => {
    field.robot('Red 1').lockByOthers();
    press('lock all');
    field.wait(1500);
    expect(field.robot('Red 1').match.state.lock?.by).to.equal('other');
    press('unlock');
    field.wait(1500);
    expect(locks()).to.deep.equal([true, false, false]);
  });

  it('stops but does not lock a robot at LOCK ALL if the robot cannot read its own id, and shows its lock as not confirmed', () => {
    const red = field.robot('Red 1');
    red.hasLostId = true;
    field.wait(1500);
    red.stopped = false;
    press('lock all');
    field.wait(1500);
    expect([red.stopped, red.match.state.lock, tile('Red 1').locking]).to.deep.equal([
      true,
      null,
      'not confirmed',
    ]);
    expect(tile('Red 1').problems.join()).to.match(/cannot read its own id.* LOCK only stops it/);
  });

  it('locks a robot that was off at LOCK ALL within 1.4 s after the robot is on again, even if requests for its status fail', () => {
    const red = field.robot('Red 1');
    red.isOff = true;
    field.wait(7000);
    press('lock all');
    const answer = red.answer.bind(red);
    red.answer = ask => (ask.kind === 'status' ? { status: 500, body: null } : answer(ask));
    red.isOff = false;
    field.wait(1400);
    expect(locks()[0]).to.equal(true);
  });

  it('stops a moving robot at LOCK ALL even if another caller has locked it, and keeps the lock of that caller', () => {
    field.robot('Red 1').lockByOthers();
    field.robot('Red 1').stopped = false;
    field.wait(300);
    press('lock all');
    field.wait(350);
    expect([field.robot('Red 1').stopped, tile('Red 1').locking]).to.deep.equal([true, 'confirmed']);
    expect(field.robot('Red 1').match.state.lock?.by).to.equal('other');
  });

  it('leaves a robot locked if the network delayed the unlock by 1.3 s, and shows that the unlock did not arrive', () => {
    press('lock all');
    field.wait(300);
    field.network('Red 1', { requestMs: 1300 });
    press('unlock');
    field.wait(1100);
    field.network('Red 1');
    field.wait(1500);
    expect(locks()).to.deep.equal([true, false, false]);
    expect(tile('Red 1').problems[0]).to.include('The unlock did not arrive');
  });

  it('keeps the lock of another caller while LOCK ALL is in force, and locks the robot when that lock is removed', () => {
    field.robot('Red 1').lockByOthers();
    field.wait(300);
    press('lock all');
    field.wait(1500);
    expect(field.robot('Red 1').match.state.lock?.by).to.equal('other');
    expect([tile('Red 1').lock?.isOurs, tile('Red 1').locking]).to.deep.equal([false, 'confirmed']);
    field.robot('Red 1').match.unlock();
    field.wait(350);
    expect(field.robot('Red 1').match.state.lock?.by).to.equal('desk');
    expect(tile('Red 1').problems).to.deep.equal([]);
    press('unlock');
    field.wait(200);
    expect(locks()).to.deep.equal([false, false, false]);
  });

  it('keeps the lock that was set on the tile of one robot when the lock of LOCK ALL is removed', () => {
    press('lock one', { robot: 'Red 2' });
    field.wait(50);
    press('lock all');
    field.wait(100);
    press('unlock');
    field.wait(1500);
    expect(locks()).to.deep.equal([false, true, false]);
    press('unlock one', { robot: 'Red 2' });
    field.wait(100);
    expect(locks()).to.deep.equal([false, false, false]);
  });

  for (const [refuses, words] of [
    ['token-unknown', 'token-unknown'],
    ['not-allowed', 'not-allowed'],
  ] as const)
    it(`can stop a robot that rejects the token of the desk (error ${refuses}), but starts a match only without that robot`, () => {
      field.robot('Blue 1').refuses = refuses;
      field.wait(600);
      press('lock all');
      field.wait(1500);
      expect([field.robot('Blue 1').stopped, tile('Blue 1').locking]).to.deep.equal([true, 'not confirmed']);
      expect(tile('Blue 1').problems.join()).to.include(words);
      press('unlock');
      press('load');
      field.wait(1500);
      expect(field.press('start')).to.include('not-ready');
      expect(view().match?.lacks.map(({ robot }) => robot)).to.include('Blue 1');
      press('without', { robot: 'Blue 1' });
      press('start');
      field.wait(100);
      expect(phases().slice(0, 2)).to.deep.equal(['auto', 'auto']);
      expect(view().match?.without).to.deep.equal(['Blue 1']);
    });

  it('lets all robots move from auto through teleop without a stop, and none after teleop, even if the network fails in teleop', () => {
    play();
    for (const name of NAMES) field.robot(name).stopped = false;
    field.wait(5000);
    expect([view().match?.phase, phases()]).to.deep.equal(['teleop', ['teleop', 'teleop', 'teleop']]);
    expect(NAMES.map(name => field.robot(name).stopped)).to.deep.equal([false, false, false]);
    field.wait(4000);
    for (const name of NAMES) field.network(name, { loses: 'requests' });
    field.wait(2900);
    for (const name of NAMES) expect(field.robot(name).mayMove, name).to.equal(true);
    field.wait(3200);
    for (const name of NAMES) expect(field.robot(name).mayMove, name).to.equal(false);
    expect(phases()).to.deep.equal(['ended', 'ended', 'ended']);
  });

  it('shows NOT STARTED for a robot whose start the network delayed by 3 s, and starts the robot when Join is pressed', () => {
    press('load');
    field.wait(1500);
    field.network('Red 1', { requestMs: 3000 });
    press('start');
    field.wait(1100);
    field.network('Red 1');
    field.wait(2500);
    expect(phases()).to.deep.equal(['pre', 'auto', 'auto']);
    expect([tile('Red 1').missed, tile('Red 2').missed]).to.deep.equal(['NOT STARTED', null]);
    press('join', { robot: 'Red 1' });
    field.wait(100);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    field.wait(2000);
    expect(phases()).to.deep.equal(['teleop', 'teleop', 'teleop']);
  });

  it('leaves a robot that reboots during a match paused, with NOT STARTED on its tile, until Join is pressed', () => {
    play();
    field.wait(1500);
    field.robot('Red 1').restart(true);
    field.wait(2000);
    expect([phases()[0], tile('Red 1').missed]).to.deep.equal(['pause', 'NOT STARTED']);
    press('join', { robot: 'Red 1' });
    field.wait(100);
    expect(phases()[0]).to.equal('auto');
  });

  it('leaves a robot that reboots during auto paused even when teleop has begun, until Join is pressed', () => {
    play();
    field.wait(1500);
    field.robot('Red 1').restart(true);
    field.wait(4500);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['pause', 'teleop', 'teleop'], 'NOT STARTED']);
    press('join', { robot: 'Red 1' });
    field.wait(100);
    expect(phases()[0]).to.equal('teleop');
  });

  it('takes all robots out of the match if Release is pressed after the time of teleop is up', () => {
    play();
    field.wait(16_000);
    expect([view().match?.phase, phases()]).to.deep.equal(['ended', ['ended', 'ended', 'ended']]);
    press('release');
    field.wait(300);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['none', 'none', 'none'], null]);
  });

  it('stops a robot at LOCK ALL even if the robot answers the lock request with an error', () => {
    const red = field.robot('Red 1');
    const answer = red.answer.bind(red);
    red.answer = ask =>
      ask.kind === 'lock' ? { status: 400, body: { code: 'invalid-request', detail: 'x' } } : answer(ask);
    press('lock all');
    field.wait(1500);
    expect([red.stopped, tile('Red 1').locking]).to.deep.equal([true, 'not confirmed']);
  });

  it('shows NOT RELEASED for a robot that Release did not reach within 1 s, and takes it out of the match when Join is pressed', () => {
    press('load');
    field.wait(1500);
    field.network('Red 1', { loses: 'requests' });
    press('release');
    field.wait(1500);
    field.network('Red 1');
    field.wait(1500);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['pre', 'none', 'none'], 'NOT RELEASED']);
    press('join', { robot: 'Red 1' });
    field.wait(100);
    expect(phases()[0]).to.equal('none');
  });

  it('sends End to a robot that missed End and Release as soon as the robot is heard again, and Release only when Join is pressed', () => {
    play();
    field.network('Red 1', { loses: 'requests' });
    press('end');
    field.wait(1500);
    press('release');
    field.wait(1500);
    expect(phases()).to.deep.equal(['auto', 'none', 'none']);
    field.network('Red 1');
    field.wait(1500);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['ended', 'none', 'none'], 'NOT RELEASED']);
    press('join', { robot: 'Red 1' });
    field.wait(100);
    expect(phases()[0]).to.equal('none');
  });

  it('ends and then releases all robots if Release is pressed right after End', () => {
    play();
    press('end');
    press('release');
    field.wait(1000);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['none', 'none', 'none'], null]);
  });

  it('pauses a robot that hung during the pause because no page answered, as soon as that robot has restarted', () => {
    play();
    field.network('Red 1', { loses: 'requests' });
    field.first.state.pageMs = field.nowMs;
    field.wait(100);
    tick(field.first.state, field.nowMs, 100);
    field.wait(1400);
    field.robot('Red 1').restart(false);
    field.network('Red 1');
    field.wait(1500);
    expect([view().match?.why, phases()]).to.deep.equal([
      "no referee's page answers",
      ['pause', 'pause', 'pause'],
    ]);
  });

  it('pauses a robot that has missed the start too, so that Go on lets all robots play', () => {
    press('load');
    field.wait(1500);
    field.network('Red 1', { loses: 'requests' });
    press('start');
    field.wait(1500);
    field.network('Red 1');
    press('pause');
    field.wait(1500);
    expect(phases()).to.deep.equal(['pause', 'pause', 'pause']);
    press('go on');
    field.wait(600);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
  });

  for (const [what, off, on] of [
    ['reboots after Load', 'load', undefined],
    ['is off at Load, and comes on in a pause of the last match', 'play', 'load'],
    ['is off at the end of the last match and at Load', 'play', 'end'],
  ] as const)
    it(`gets a robot ready that ${what}`, () => {
      const red = field.robot('Red 1');
      press('load');
      field.wait(1500);
      if (off === 'play') press('start');
      field.wait(600);
      red.isOff = true;
      field.wait(2000);
      if (off === 'play') {
        press('end');
        field.wait(600);
        if (on === 'end') field.first.restart();
        press('load');
        field.wait(600);
      }
      red.restart(true);
      red.isOff = false;
      field.wait(1500);
      expect(phases()).to.deep.equal(['pre', 'pre', 'pre']);
      press('start');
      field.wait(300);
      expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    });

  it('releases a robot when Join is pressed that was off at Release and reboots into a pause', () => {
    press('load');
    field.wait(1500);
    const red = field.robot('Red 1');
    red.isOff = true;
    press('release');
    field.wait(2000);
    red.restart(true);
    red.isOff = false;
    field.wait(1500);
    expect(tile('Red 1').missed).to.equal('NOT RELEASED');
    press('join', { robot: 'Red 1' });
    field.wait(600);
    expect(phases()).to.deep.equal(['none', 'none', 'none']);
  });

  it('refuses Join for a robot that no longer knows its match', () => {
    play();
    field.robot('Red 1').match = new FakeField().robot('Red 1').match;
    field.wait(1500);
    expect(tile('Red 1').missed).to.equal('NOT STARTED');
    expect(field.press('join', { robot: 'Red 1' })).to.include('not-ready');
  });

  it('starts a match even if the log of a robot contradicts the copy of that log on the desk, and still shows CONTRADICTS', () => {
    press('load');
    field.wait(1500);
    const seen = field.first.state.seen.get('Red 1');
    if (seen !== undefined) seen.logFault = { what: 'contradicts', why: 'a line is missing.' };
    press('start');
    expect(tile('Red 1').problems[0]).to.include('CONTRADICTS');
  });

  it('clears the fault CONTRADICTS on the tile of a robot when a match is loaded', () => {
    const seen = field.first.state.seen.get('Red 1');
    if (seen !== undefined) seen.logFault = { what: 'contradicts', why: 'a line is missing.' };
    expect(tile('Red 1').contradicts).to.equal('a line is missing.');
    press('load');
    expect(tile('Red 1').contradicts).to.equal(null);
  });

  it('continues a match after a pause with the seconds that were left', () => {
    play();
    field.wait(2000);
    press('pause');
    field.wait(3000);
    expect([phases(), Math.round(view().match?.leftS ?? 0)]).to.deep.equal([['pause', 'pause', 'pause'], 3]);
    press('go on');
    field.wait(2000);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    field.wait(1500);
    expect(phases()).to.deep.equal(['teleop', 'teleop', 'teleop']);
  });

  it('refuses to start a match while one robot is locked and another does not answer, and names the reason for each of the two', () => {
    press('load');
    field.wait(1500);
    field.robot('Red 2').lockByOthers();
    field.robot('Blue 1').isOff = true;
    field.wait(2000);
    const lacks = view().match?.lacks.map(({ robot, text }) => `${robot}: ${text}`) ?? [];
    expect(lacks).to.include('Red 2: Locked by other: inspection.');
    expect(lacks.some(text => text.startsWith('Blue 1: Not heard.'))).to.equal(true);
    expect(field.press('start')).to.include('Red 2').and.include('Blue 1');
    expect(phases().slice(0, 2)).to.deep.equal(['pre', 'pre']);
  });

  it('that is killed during a match and restarts 1.4 s later continues the match, and no robot stops', () => {
    play();
    for (const name of NAMES) field.robot(name).stopped = false;
    field.first.isOff = true;
    field.wait(1400);
    field.first.isOff = false;
    field.first.restart();
    field.wait(5000);
    expect([phases(), view().match?.phase]).to.deep.equal([['teleop', 'teleop', 'teleop'], 'teleop']);
    expect(NAMES.map(name => field.robot(name).stopped)).to.deep.equal([false, false, false]);
  });

  it('that dies during a match causes every robot to lose its permission to move within 3.6 s', () => {
    play();
    expect(NAMES.map(name => field.robot(name).mayMove)).to.deep.equal([true, true, true]);
    field.first.isOff = true;
    field.wait(3600);
    expect(NAMES.map(name => field.robot(name).mayMove)).to.deep.equal([false, false, false]);
  });

  it('refuses to load a match with an unknown robot, and to remove a robot whose match has not ended', () => {
    const { state } = field.first;
    state.robots = state.robots.slice(0, -1);
    expect(field.press('load')).to.include('not-ready').and.include('Blue 1');
    addRobot.act(state, PRESS, { name: 'Blue 1', link: 'http://blue-1/#token=secret-token' });
    play();
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    expect(() => removeRobot.act(state, PRESS, { robot: 'Blue 1' })).to.throw('not-ready');
    press('end');
    removeRobot.act(state, PRESS, { robot: 'Blue 1' });
    expect(view().robots.map(({ name }) => name)).to.deep.equal(['Red 1', 'Red 2']);
  });

  it('that has taken over a paused match continues the match only if the referee enters the phase and the seconds left', () => {
    play();
    press('pause');
    field.wait(100);
    field.first.isOff = true;
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    field.wait(1500);
    expect(field.press('go on', { desk: field.second })).to.include('choose phase and seconds');
    press('go on in teleop', { desk: field.second });
    field.wait(6900);
    expect(phases()).to.deep.equal(['teleop', 'teleop', 'teleop']);
    field.wait(500);
    expect(phases()).to.deep.equal(['ended', 'ended', 'ended']);
  });

  it('unlocks a robot of the older version 0.3.0 only if the desk itself has locked that robot', () => {
    const red = field.robot('Red 1');
    red.isOld = true;
    field.first.state.wanted = { ...field.first.state.wanted, robots: {} };
    field.first.restart();
    field.wait(600);
    press('lock all');
    field.wait(300);
    expect([tile('Red 1').locking, tile('Red 1').lock?.isOurs]).to.deep.equal(['confirmed', true]);
    press('unlock');
    field.wait(100);
    expect(locks()).to.deep.equal([false, false, false]);
    red.lockByOthers();
    field.wait(300);
    press('lock all');
    field.wait(300);
    press('unlock');
    field.wait(1500);
    expect([red.match.state.lock?.by, tile('Red 1').lock?.isOurs]).to.deep.equal(['other', false]);
  });

  it('ends each reason why a robot is not ready for a match with exactly one full stop', () => {
    press('load');
    field.robot('Red 1').match.lock({ id: 'x', by: 'robot', reason: 'match.json cannot be read.' });
    field.wait(600);
    const texts = view().match?.lacks.map(({ text }) => text) ?? [];
    expect(texts).to.include('Locked by robot: match.json cannot be read.');
    for (const text of texts) expect(text).to.match(/[^.]\.$/);
  });

  it('shows the name and the robots of another desk that runs a match, and continues that match after Take over is pressed', () => {
    play();
    field.second.isOff = false;
    field.wait(600);
    expect(view(field.second).otherDesk).to.deep.include({ holder: 'desk-1', robots: [...NAMES] });
    field.first.isOff = true;
    press('take over', { desk: field.second });
    field.wait(600);
    expect(view(field.second).otherDesk).to.equal(null);
    field.wait(5000);
    expect(phases()).to.deep.equal(['teleop', 'teleop', 'teleop']);
    press('end', { desk: field.second });
    field.wait(100);
    expect(phases()).to.deep.equal(['ended', 'ended', 'ended']);
  });

  it('does not let a rebooted robot play when Take over is pressed: the robot stays paused, and its tile shows NOT STARTED', () => {
    play();
    field.robot('Red 1').restart(true);
    field.first.isOff = true;
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    field.wait(2000);
    expect([phases(), tile('Red 1', field.second).missed]).to.deep.equal([
      ['pause', 'auto', 'auto'],
      'NOT STARTED',
    ]);
  });

  it('that lost its match to another desk lets the robots play on if its own page stops polling, but its End button still works', () => {
    play();
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    field.wait(600);
    const { state } = field.first;
    state.pageMs = field.nowMs - 5000;
    expect(tick(state, field.nowMs, 5000)).to.equal(true);
    field.wait(2000);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
    press('end');
    field.wait(1100);
    expect(phases()).to.deep.equal(['ended', 'ended', 'ended']);
  });

  it('pauses the match with 1 s of auto left if its page timed out 1 s before the end of auto, even if the desk notices that late', () => {
    play();
    const { state } = field.first;
    const endsAtMs = state.wanted.match?.endsAtMs ?? 0;
    state.pageMs = endsAtMs - 6000;
    expect(tick(state, endsAtMs + 3000, 5000)).to.equal(true);
    expect(state.wanted.match).to.deep.include({ phase: 'pause', interrupted: 'auto', leftS: 1 });
  });

  it('pauses the match if no page of a referee has polled for 5 s, and keeps the seconds left', () => {
    play();
    const { state } = field.first;
    state.pageMs = field.nowMs;
    expect(tick(state, field.nowMs + 4800, 5000)).to.equal(false);
    state.pageMs = field.nowMs - 5000;
    expect(tick(state, field.nowMs, 0)).to.equal(false);
    expect(tick(state, field.nowMs, 5000)).to.equal(true);
    field.wait(100);
    const { why, leftS } = view().match ?? {};
    expect([phases(), why, Math.round(leftS ?? 0)]).to.deep.equal([
      ['pause', 'pause', 'pause'],
      "no referee's page answers",
      5,
    ]);
  });

  it('whose saved state is lost refuses to load a match or to unlock until Take over is pressed, but obeys LOCK ALL', () => {
    press('lock all');
    field.wait(100);
    field.first.lose();
    field.wait(600);
    expect(view().permits).to.equal(false);
    expect(field.press('load')).to.include('not-ready');
    expect(field.press('unlock one', { robot: 'Red 1' })).to.include('not-ready');
    for (const name of NAMES) field.robot(name).match.unlock();
    press('lock all');
    field.wait(350);
    expect(locks()).to.deep.equal([true, true, true]);
    press('take over');
    press('unlock');
    field.wait(100);
    expect(locks()).to.deep.equal([false, false, false]);
  });

  it('reports that another robot answers at the address of a known robot, and locks this other robot only after accept is pressed', () => {
    const stranger = new FakeField().robot('Blue 1');
    Object.assign(field.robot('Red 1'), { id: stranger.id.replace(/./g, 'e') });
    field.wait(1500);
    press('lock all');
    field.wait(500);
    expect(locks()).to.deep.equal([false, true, true]);
    expect(tile('Red 1').problems[0]).to.include('Another robot answers');
    press('accept', { robot: 'Red 1' });
    field.wait(1100);
    expect(locks()[0]).to.equal(true);
  });

  it('reports within 2 s that another robot answers at the address of a known robot, even if the other robot refuses the token', () => {
    Object.assign(field.robot('Red 1'), { id: 'e'.repeat(16), refuses: 'token-unknown' });
    field.wait(2000);
    expect(tile('Red 1').problems[0]).to.include('Another robot answers');
  });

  it('refuses to accept the id that a robot has already, and keeps all lines of that robot', () => {
    press('load');
    field.wait(1500);
    const head = () => field.first.state.wanted.robots['Red 1']?.head;
    const before = head();
    expect(field.press('accept', { robot: 'Red 1' })).to.include('not-ready');
    expect([before === null, head()]).to.deep.equal([false, before]);
  });

  it('refuses to unlock if the referee saw an older lock than the one in force, and unlocks if the referee saw that one', () => {
    press('lock all');
    field.wait(300);
    const lock = view().lock?.id ?? '';
    press('lock all');
    field.wait(300);
    expect(field.press('unlock', { lock })).to.include('lock-changed');
    expect(locks()).to.deep.equal([true, true, true]);
    press('unlock', { lock: view().lock?.id ?? '' });
    field.wait(300);
    expect(locks()).to.deep.equal([false, false, false]);
    press('lock one', { robot: 'Red 1' });
    const own = tile('Red 1').ownLock ?? '';
    press('lock one', { robot: 'Red 1' });
    expect(field.press('unlock one', { robot: 'Red 1', lock: own })).to.include('lock-changed');
  });

  it('gives no beat to a robot that missed the end and has stopped by itself, not even when the desk restarts', () => {
    play();
    const red = field.robot('Red 1');
    red.stopped = false;
    const answer = red.answer.bind(red);
    red.answer = ask =>
      ask.kind === 'phase' ? { status: 409, body: { code: 'stale-match', detail: '' } } : answer(ask);
    press('end');
    field.wait(4000);
    for (let restarts = 0; restarts < 3; restarts += 1) {
      field.first.restart();
      field.wait(1000);
      expect(red.mayMove).to.equal(false);
    }
  });

  it('releases a robot that was off during the release when Join is pressed', () => {
    play();
    press('end');
    field.wait(600);
    const red = field.robot('Red 1');
    red.isOff = true;
    field.wait(600);
    press('release');
    field.wait(5000);
    red.restart(true);
    red.isOff = false;
    field.wait(1500);
    expect([phases(), tile('Red 1').missed]).to.deep.equal([['ended', 'none', 'none'], 'NOT RELEASED']);
    press('join', { robot: 'Red 1' });
    field.wait(600);
    expect(phases()[0]).to.equal('none');
  });

  it('treats the locks of another desk as its own after Take over, except locks that the other desk sets after that', () => {
    press('lock all');
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    expect(tile('Red 1', field.second).lock?.isOurs).to.equal(true);
    press('unlock');
    field.wait(600);
    press('lock all');
    field.wait(600);
    expect(tile('Red 1', field.second).lock?.isOurs).to.equal(false);
  });

  it('shows NOT PAUSED (or NOT ENDED) for a robot that refuses the pause (or the end), but “Not heard” for a robot that is off', () => {
    play();
    const red = field.robot('Red 1');
    const { answer } = red;
    red.answer = ask =>
      ask.kind === 'phase'
        ? { status: 409, body: { code: 'stale-match', detail: '' } }
        : answer.call(red, ask);
    field.robot('Blue 1').isOff = true;
    for (const [what, says] of [
      ['pause', 'NOT PAUSED'],
      ['end', 'NOT ENDED'],
    ] as const) {
      press(what);
      field.wait(1600);
      expect(tile('Red 1').problems[0]).to.include(says);
      expect(tile('Blue 1').problems[0]).to.include('Not heard');
      expect(tile('Red 2').problems).to.deep.equal([]);
    }
  });

  it('whose list of tokens is damaged pauses its match, and after End the match stays ended, even at Take over', () => {
    play();
    forbid();
    field.wait(300);
    expect([phases(), view().match?.phase]).to.deep.equal([['pause', 'pause', 'pause'], 'pause']);
    field.robot('Red 1').isOff = true;
    press('end');
    field.wait(300);
    press('take over');
    field.robot('Red 1').isOff = false;
    field.wait(3000);
    expect([phases(), view().match?.phase]).to.deep.equal([['ended', 'ended', 'ended'], 'ended']);
  });

  it('that lost its match to another desk lets the robots play on, and shows no problem, if its own list of tokens is damaged', () => {
    play();
    field.second.isOff = false;
    field.wait(600);
    press('take over', { desk: field.second });
    field.wait(600);
    forbid();
    field.wait(2000);
    expect(NAMES.flatMap(name => tile(name).problems)).to.deep.equal([]);
    expect(phases()).to.deep.equal(['auto', 'auto', 'auto']);
  });

  it('stops sending the token of a robot to its address if the server there is not a robot', () => {
    const red = field.robot('Red 1');
    const tokens: boolean[] = [];
    red.answer = ({ path, withToken }) => {
      tokens.push(withToken);
      return path === '/healthz' ? { status: 200, body: {} } : { status: 404, body: 'no such page' };
    };
    field.wait(3000);
    expect(tokens.slice(-2)).to.deep.equal([false, false]);
    expect(tokens.filter(isSent => isSent).length).to.be.at.most(3);
  });

  it('names both robots as not ready for a start if two robots have the same id', () => {
    field.first.state.wanted = { ...field.first.state.wanted, robots: {} };
    Object.assign(field.robot('Red 1'), { id: field.robot('Red 2').id });
    field.first.restart();
    field.wait(600);
    press('load');
    field.wait(1500);
    const robots = view().match?.lacks.map(({ robot }) => robot);
    expect(robots).to.include('Red 1').and.include('Red 2').and.not.include('Blue 1');
  });
});
