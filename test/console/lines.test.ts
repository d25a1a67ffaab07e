import { expect } from 'chai';
import { healthLines, safetyLines, staleLines, titleOf } from '../../src/console/bar/lines.js';
import type { LaserStatus, Status, UnitStatus } from '../../src/schemas/status.js';
import { NO_MATCH_STATUS, statusWith, UNIT_STATUS } from '../support/status.js';

const texts = (status: Status) =>
  [...safetyLines(status, true), ...healthLines(status)].map(
    ({ tone, about, text }) => `${tone}: ${about} ${text}`,
  );
const laser = (light: LaserStatus['light'], more: Partial<LaserStatus> = {}): LaserStatus => ({
  state: light === 'on' ? 'on' : light === 'dark' ? 'off' : null,
  light,
  ...more,
});
const gone: Partial<UnitStatus> = { online: false, flags: [] };
const latched: Partial<UnitStatus> = { online: true, flags: ['stopped'], torque: 'off' };
const stoppedWith = (gimbal: Partial<UnitStatus>, chassis: Partial<UnitStatus> = latched) =>
  statusWith({
    stopped: true,
    gimbal: { ...UNIT_STATUS, ...gimbal },
    chassis: { ...UNIT_STATUS, ...chassis },
  });

describe('the alert strip', () => {
  it('shows the whole reason for a lock while the robot is stopped, even if the reason is long', () => {
    const reason = 'There are people on the field, and the door of the net is open. '.repeat(3);
    const status = stoppedWith(latched);
    const match = { ...NO_MATCH_STATUS, lock: { id: '1', by: 'Anna', reason } };
    expect(texts({ ...status, match })[0]).to.contain(`the laser is dark. Locked by Anna: ${reason}`);
  });

  it('says how to cure a fault that a controller reports', () => {
    const gimbal = { ...UNIT_STATUS, faults: ['encoder_failed'] };
    expect(healthLines(statusWith({ gimbal })).map(({ cure }) => cure)).to.deep.equal([
      "Check the encoder's cable.",
    ]);
  });

  it('is empty if the robot is not stopped and has no fault', () => {
    expect(texts(statusWith({}))).to.deep.equal([]);
  });

  it('shows, while the robot is stopped, whether each unit has confirmed the stop or does not answer', () => {
    expect(texts(stoppedWith(latched))).to.deep.equal([
      'bad: Stopped: gimbal stopped (confirmed); chassis stopped (confirmed); the laser is dark. ' +
        'Resume puts both units in manual.',
    ]);
    expect(texts(stoppedWith({ ...gone, torque: 'silent' }))[0]).to.match(
      /gimbal not answering; it cuts its own torque when it hears nothing; chassis stopped \(confirmed\)/,
    );
  });

  for (const [what, unit] of [
    ['an offline controller that may have torque', { ...gone, torque: 'unknown' }],
    [
      'an offline controller that was latched when it was last seen',
      { ...latched, online: false, torque: 'unknown' },
    ],
    ['an online controller that has torque', { online: true, flags: ['torque'], torque: 'on' }],
  ] as const) {
    it(`begins with an alarm if a stop is not confirmed by ${what}`, () => {
      const [first, second] = texts(stoppedWith(unit));
      expect(first).to.match(/^alarm: Gimbal NOT CONFIRMED/);
      expect(second).to.match(/gimbal NOT CONFIRMED; chassis stopped \(confirmed\)/);
    });
  }

  it('begins with an alarm about the laser if the laser may be on, even if a stop is unconfirmed too', () => {
    const status = { ...stoppedWith({ ...gone, torque: 'unknown' }), laser: laser('fault') };
    expect(texts(status)[0]).to.match(/^alarm: LASER MAY BE ON: cut its supply/);
    expect(texts(status)[2]).to.match(/NOT PROVEN dark/);
  });

  it('says why the data of the page is stale, but warns first if the laser may be on', () => {
    const abouts = (mayBeLit: boolean, resting: boolean, deafness = '') =>
      staleLines(mayBeLit, resting, deafness, '12:03:07').map(({ about }) => about);
    expect(abouts(false, false)).to.deep.equal(['No contact since 12:03:07.']);
    expect(abouts(true, false)).to.deep.equal(['LASER MAY BE ON:', 'No contact since 12:03:07.']);
    expect(abouts(false, false, 'Too many pages are open')).to.deep.equal(['Too many pages are open.']);
    expect(abouts(false, true)).to.deep.equal(['Resting']);
    expect(abouts(true, true)).to.deep.equal(['LASER MAY BE ON:', 'Resting']);
  });

  it('says only "Was stopped when the daemon was last heard" if the daemon falls silent while the robot is stopped', () => {
    const lines = safetyLines(stoppedWith(latched), false).map(({ about, text }) => `${about} ${text}`);
    expect(lines).to.deep.equal(['Was stopped when the daemon was last heard.']);
  });

  it("shows each fault in the daemon's status, with the advice that the status gives", () => {
    const problem = { code: 'nack', detail: 'Does not answer. Check its cable.' };
    const status = statusWith({
      gimbal: { ...UNIT_STATUS, online: false, problem },
      chassis: { ...UNIT_STATUS, faults: ['over_current'], gains: { ...UNIT_STATUS.gains, applied: false } },
      storage: { ok: false, detail: 'The disk is full.', cure: 'Make room.', setAside: ['gains.1'] },
      log: { ok: false, detail: 'The log of events does not reach the disk.', cure: 'Make room.' },
      match: { ...NO_MATCH_STATUS, recorded: false },
      access: { state: 'unavailable', exposed: false, detail: 'The tokens are damaged.' },
    });
    expect(texts(status)).to.deep.equal([
      'bad: Gimbal is offline. Does not answer. Check its cable.',
      'bad: Chassis reports over current.',
      'bad: Chassis does not run the stored gains yet.',
      'bad: Storage cannot keep over a power cut: gains, events, lock and phase. The disk is full. Make room.',
      'bad: Storage set a damaged file aside: gains.1',
      'bad: Tokens: The tokens are damaged.',
    ]);
  });
});

describe('the title of the window', () => {
  it('says "Was stopped" if the daemon falls silent while the robot is stopped', () => {
    const stopped = stoppedWith(latched);
    expect(titleOf(stopped, true, false)).to.equal('Laser dark · Stopped · Trunnion');
    expect(titleOf(stopped, false, false)).to.equal('Laser unknown · Was stopped · No contact · Trunnion');
  });

  it('warns that the laser may be on if the daemon falls silent after a request to switch the laser on', () => {
    const dark = statusWith({ laser: laser('dark') });
    expect(titleOf(dark, false, true)).to.equal('▲ LASER MAY BE ON · No contact · Trunnion');
  });

  for (const [light, fresh, title] of [
    ['on', true, '● LASER ON · Trunnion'],
    ['dark', true, 'Laser dark · Trunnion'],
    ['unknown', true, 'Laser unknown · Trunnion'],
    ['fault', true, '▲ LASER MAY BE ON · Trunnion'],
    ['dark', false, 'Laser unknown · No contact · Trunnion'],
    ['on', false, '▲ LASER MAY BE ON · No contact · Trunnion'],
  ] as const) {
    it(`is "${title}" if ${fresh ? "the laser's state is" : "contact is lost and the laser's last state was"} "${light}"`, () => {
      expect(titleOf(statusWith({ laser: laser(light) }), fresh, light === 'on')).to.equal(title);
    });
  }
});
