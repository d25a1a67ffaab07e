import { expect } from 'chai';
import { pino } from 'pino';
import { asRobotError } from '../../src/core/errors.js';
import { DEFAULT_PERMISSIONS, type Phase } from '../../src/core/phases.js';
import { MODES, perUnit } from '../../src/core/units.js';
import { problemOf } from '../../src/http/problems.js';
import { Match, type MatchSettings, NO_MATCH } from '../../src/match/match.js';
import { type MatchControl, obeyMatch } from '../../src/match/match-control.js';
import { matchFile } from '../../src/match/match-file.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, somebodyElse, WaitingCaller, write } from '../support/clocked-robot.js';
import { RecordingDisk } from '../support/recording-disk.js';

const SETTINGS: MatchSettings = {
  refereeSilenceMs: 3000,
  onRefereeSilence: 'hold',
  phases: { ...DEFAULT_PERMISSIONS, auto: { ...DEFAULT_PERMISSIONS.auto, laser: false, resume: false } },
};

describe('match control', () => {
  let robot: ClockedRobot;
  let match: Match;
  let control: MatchControl;
  let revision = 0;
  const set = (phase: Phase) => {
    revision += 1;
    return control.set({ id: 'M1', revision, phase, remainingS: null }, 'referee');
  };

  let disk: RecordingDisk;

  const begin = () => {
    const { clock, deadlines } = robot;
    disk = new RecordingDisk();
    match = new Match({ clock, deadlines, settings: SETTINGS, state: NO_MATCH });
    const boot = { id: 'a', nowMs: () => clock.nowMs() };
    const file = matchFile({ disk, folder: '/state', clock }, boot);
    control = obeyMatch({ match, robot: robot.robot, file, log: pino({ level: 'silent' }) });
  };
  const start = async (silenceMs: number, onControllerReset: 'manual' | 'restore' = 'manual') => {
    const silence = perUnit(() => ({ beforeMs: silenceMs, givenMs: silenceMs }));
    robot = await ClockedRobot.start({ silence, onControllerReset }, { require: act => match.require(act) });
    begin();
  };
  /** Whether the robot and both controllers are stopped. */
  const stops = () => [robot.robot.stopped, robot.truth('gimbal').stopped, robot.truth('chassis').stopped];

  // Host silence is switched off, so only a visible latch confirms a stop.
  beforeEach(() => start(0));
  afterEach(() => robot.end());

  it('reports three failures in one answer if laser pin, controllers and disk all fail when the phase changes', async () => {
    robot.robot.laser.on();
    robot.fault('bus', 'nack');
    robot.fault('pin', 'nack');
    disk.fail('create');
    const refusal = await robot.during(set('pause').catch(error => error));
    const { problem } = problemOf(asRobotError(refusal));
    expect([problem.code, problem.also]).to.deep.equal(['pin-failed', ['not-confirmed', 'not-kept']]);
    expect(problem.units).to.deep.equal(['gimbal', 'chassis']);
    expect(problem.detail).to.match(/Cut the laser supply.*Motors may push.*not on the disk/);
    disk.fail();
    robot.fault('pin', 'clear');
    robot.fault('bus', 'clear');
  });

  it('switches the laser off at once, but does not stop the robot, if a new phase forbids light but allows motion', async () => {
    robot.robot.laser.on();
    const phase = set('auto');
    expect(robot.level).to.equal(0);
    expect(robot.robot.laser.report().reason).to.equal('phase without light');
    expect(await robot.outcome(phase)).to.equal(200);
    expect([robot.robot.stopped, robot.truth('gimbal').torque]).to.deep.equal([false, true]);
    robot.robot.laser.off();
    expect(() => robot.robot.laser.on()).to.throw('wrong-phase');
  });

  it('stops the robot once, and names the phase as the reason, if a new phase forbids what a driver moves', async () => {
    const { clock, gimbal } = robot;
    gimbal.begin({ by: 'operator', id: 'left' }, clock.nowMs() + 200);
    gimbal.drives();
    expect(await robot.outcome(set('pause'))).to.equal(200);
    const seen = robot.events.flatMap(event =>
      event.what === 'stop' || event.what === 'drive-ended' ? [[event.what, event.detail.why]] : [],
    );
    expect(seen).to.deep.equal([
      ['drive-ended', 'stop'],
      ['stop', 'phase pause'],
    ]);
  });

  it('stops the robot and stores the phase "ended" if the user root ends the match on the robot itself', async () => {
    await robot.during(set('auto'));
    expect(await robot.outcome(control.end())).to.equal(200);
    expect(control.status).to.include({ phase: 'ended', recorded: true });
    expect(robot.robot.stopped).to.equal(true);
  });

  it('does not list an act as allowed in its status while a stop or a lock forbids the act', async () => {
    const forbidden = { drive: false, laser: false, modes: [] };
    await robot.during(robot.robot.stop('a person'));
    expect(control.status.allows).to.deep.equal({ ...DEFAULT_PERMISSIONS.none, ...forbidden });
    expect(await robot.outcome(robot.robot.resume())).to.equal(200);
    expect(control.status.allows).to.deep.equal(DEFAULT_PERMISSIONS.none);
    await robot.during(control.lock({ id: 'L1', by: 'referee', reason: 'inspection' }));
    expect(control.status.allows).to.deep.equal({ ...forbidden, tune: false, resume: false });
  });

  it('stops the robot if another host on the bus switches a controller to a mode that the phase forbids', async () => {
    expect(await robot.outcome(set('teleop'))).to.equal(200);
    await robot.wait(100);
    expect(robot.robot.stopped).to.equal(false);
    await somebodyElse(robot, 'gimbal', REGISTERS.mode, { mode: MODES.indexOf('debug') });
    await robot.wait(200);
    expect([robot.robot.stopped, robot.truth('gimbal').torque]).to.deep.equal([true, false]);
  });

  it('does not stop the robot if a controller resets to "manual", even if the phase forbids the mode that the daemon would restore', async () => {
    await robot.end();
    await start(0, 'restore');
    await robot.during(robot.chassis.setMode('debug'));
    await robot.wait(100);
    // The reset controller stays in manual, so the phase forbids nothing that runs; but the wanted mode is debug.
    robot.let({ kind: 'write', register: 'mode' }, 'fails');
    robot.fault('chassis', 'brownout');
    await robot.wait(25);
    expect(await robot.outcome(set('teleop'))).to.equal(200);
    robot.fault('chassis', 'brownout');
    await robot.wait(25);
    expect(robot.events.filter(({ what }) => what === 'reset')).to.have.length(2);
    const modes = robot.torqueModes('chassis');
    await robot.wait(300);
    expect([robot.robot.stopped, [...modes]]).to.deep.equal([false, ['manual']]);
  });

  it('keeps the robot stopped if a new phase without motion begins during a resume', async () => {
    await robot.during(robot.robot.stop());
    const resumed = robot.robot.resume();
    const phase = set('pre');
    expect(await robot.outcome(resumed)).to.equal('stopped');
    expect(await robot.outcome(phase)).to.equal(200);
    expect([...stops(), robot.truth('gimbal').torque]).to.deep.equal([true, true, true, false]);
  });

  it('stops the robot if a new phase forbids the mode of a controller, even if the caller of a pending resume hangs up at that moment', async () => {
    const { gimbal } = robot;
    await robot.during(gimbal.setMode('debug'));
    const save = robot.outcome(gimbal.gains.save(robot.robot.store.current('gimbal').gains));
    const { stillWanted, hangUp } = new WaitingCaller();
    const resume = robot.outcome(robot.robot.resume(stillWanted));
    const phase = robot.outcome(set('teleop'));
    hangUp();
    expect(await phase).to.equal(200);
    expect([await save, await resume]).to.deep.equal(['wrong-phase', 'stopped']);
    expect([robot.robot.stopped, robot.truth('gimbal').torque]).to.deep.equal([true, false]);
  });

  it('keeps the robot stopped if a phase that forbids resuming begins while the daemon sends the frames of a resume', async () => {
    // With both units in manual, the resume would write no mode.
    await robot.during(robot.gimbal.setMode('debug'));
    await robot.during(robot.robot.stop());
    for (const register of ['mode', 'stop']) {
      let phase: Promise<unknown> | undefined;
      robot.atFirst({ kind: 'write', register }, () => {
        phase = set('auto');
      });
      expect(await robot.outcome(robot.robot.resume())).to.equal('wrong-phase');
      await phase;
      await robot.wait(200);
      expect(stops()).to.deep.equal([true, true, true]);
      await robot.during(set('none'));
    }
  });

  it('answers `not-confirmed` to each request for a phase without motion until every controller has confirmed the stop', async () => {
    robot.fault('gimbal', 'nack');
    expect(await robot.outcome(set('pre'))).to.equal('not-confirmed');
    const { call } = match.state;
    if (call === null) throw new Error('the phase was not set');
    expect(await robot.outcome(control.set(call, 'referee'))).to.equal('not-confirmed');
    robot.fault('gimbal', 'clear');
    expect(await robot.outcome(control.set(call, 'referee'))).to.equal(200);
    expect(robot.truth('gimbal').stopped).to.equal(true);
  });

  describe('with a chassis unplugged in "debug"', () => {
    beforeEach(async () => {
      await robot.end();
      await start(500);
      await robot.during(robot.chassis.setMode('debug'));
      await robot.wait(100);
      robot.fault('chassis', 'unplug');
      await robot.wait(1000);
    });

    it('lets the robot resume in a phase without "debug", and puts the chassis in "manual" when it is plugged in again', async () => {
      expect(await robot.outcome(set('teleop'))).to.equal(200);
      expect(robot.robot.stopped).to.equal(true);
      expect(await robot.outcome(robot.robot.resume())).to.equal(200);
      expect(robot.robot.stopped).to.equal(false);
      await robot.wait(300);
      expect(robot.robot.stopped).to.equal(false);
      const modes = robot.torqueModes('chassis');
      robot.fault('chassis', 'plug');
      await robot.wait(1500);
      expect(robot.robot.stopped).to.equal(false);
      expect([...modes]).to.deep.equal(['manual']);
    });

    it('completes a resume if the chassis is plugged in during the resume, and gives the chassis torque only in "manual"', async () => {
      expect(await robot.outcome(set('teleop'))).to.equal(200);
      await robot.wait(100);
      const modes = robot.torqueModes('chassis');
      const { intercept } = robot;
      let isBack = false;
      robot.intercept = async frame => {
        if (frame.unit === 'chassis' && frame.register === 'heartbeat') isBack = true;
        // Keeps the gimbal in auto until the daemon sends heartbeats to the chassis again.
        if (frame.unit === 'gimbal' && frame.register === 'status' && !isBack)
          await write(robot, 'gimbal', REGISTERS.mode, { mode: MODES.indexOf('auto') });
        return intercept(frame);
      };
      const resume = robot.robot.resume();
      robot.fault('chassis', 'plug');
      expect(await robot.outcome(resume)).to.equal(200);
      await robot.wait(300);
      expect([isBack, robot.robot.stopped, ...modes]).to.deep.equal([true, false, 'manual']);
    });

    it('stops the robot when the chassis is plugged in after a daemon restart in a phase without "debug", before the chassis gets torque', async () => {
      await robot.restart();
      begin();
      expect(await robot.outcome(set('teleop'))).to.equal(200);
      expect(robot.robot.stopped).to.equal(false);
      const modes = robot.torqueModes('chassis');
      robot.fault('chassis', 'plug');
      await robot.wait(1500);
      expect([robot.robot.stopped, robot.truth('chassis').stopped, ...modes]).to.deep.equal([true, true]);
      expect(robot.truth('chassis').mode).to.equal('debug');
    });
  });
});
