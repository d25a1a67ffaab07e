import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { defaultGains, type Excitation, unitNamed } from '../../src/core/units.js';
import { type Cause, type Causes, decide } from '../../src/robot/unit-rules.js';
import { NOTHING_WANTED, type Trial, type Wanted } from '../../src/robot/wanted.js';

const GAINS = defaultGains(unitNamed('gimbal'));
const YAW: Excitation = { loop: 'visual_yaw', amplitude: 0.1, periodS: 2 };
const PITCH: Excitation = { loop: 'angle_pitch', amplitude: 0.2, periodS: 1 };
const TRIAL: Trial = { id: 'a', by: 'lab', gains: GAINS, endsAtMs: 1000 };
const DRIVE = { by: 'lab', id: 'pad', nowMs: 0, holdsUntilMs: 200 };

/** A unit of which everything is wanted at once, so that every change shows. */
const BUSY: Wanted = {
  ...NOTHING_WANTED,
  mode: 'debug',
  excitation: { ...YAW, runaway: undefined },
  trial: TRIAL,
  driver: { by: 'lab', id: 'pad', sinceMs: 0, untilMs: 1200, hasSent: true },
};

/** Each row: its first cell, the details of the cause, and what differs from BUSY before. */
type Row<C extends Cause> = readonly [title: string, detail: Causes[C], before?: Partial<Wanted>];

const ROWS: { readonly [C in Cause]: readonly Row<C>[] } = {
  'first contact': [['first contact after a start', { mode: 'auto' }, NOTHING_WANTED]],
  mode: [
    ['mode switch answered 200', { mode: 'auto' }],
    ['mode switch to debug answered 200', { mode: 'debug', excitation: PITCH }, { mode: 'auto' }],
    ['the same, in debug already', { mode: 'debug', excitation: PITCH }],
    ['mode switch to manual or auto answered 200, in that mode already', { mode: 'auto' }, { mode: 'auto' }],
  ],
  excitation: [['excitation answered 200', { excitation: PITCH }]],
  save: [
    ['save under way: the controller runs the gains, the disk has not confirmed them', { gains: GAINS }],
  ],
  'save over': [['save answered 200, or refused by the disk', { gains: GAINS }, { saving: [GAINS] }]],
  trial: [['trial answered 200, renewed', { ...TRIAL, endsAtMs: 2000 }]],
  'trial over': [['trial ended by a caller, or its lease expired', { why: 'ended' }]],
  'tuning over': [
    ['tuning ends', { id: 'a', excitation: YAW }],
    ['tuning ends after another caller chose an excitation and a trial', { id: 'b', excitation: PITCH }],
  ],
  drive: [
    ['drive command is accepted', { ...DRIVE, nowMs: 100, holdsUntilMs: 300 }],
    ['drive command of a caller who takes over is accepted', { ...DRIVE, by: 'pit' }],
  ],
  'drive frame': [['first frame of a driver is sent: the log names the driver', {}]],
  'drive over': [
    ['a second since the last command has ended, or the token of the driver is removed', { why: 'silent' }],
  ],
  stop: [["stop, lock, end of a phase's time, silent desk, a phase that forbids what runs", {}]],
  'own latch': [['controller latches itself: every unit is stopped', {}]],
  'resume begun': [['resume under way', {}, { latch: 'set' }]],
  'resume refused': [['resume refused', {}, { latch: 'set', isUnderRelease: true }]],
  resume: [
    ['resume answered 200', { isConfirmed: true }, { latch: 'set', isUnderRelease: true }],
    ['the same, in manual already', { isConfirmed: true }, { mode: 'manual', latch: 'set' }],
    ['resume answered 200 while the controller is offline', { isConfirmed: false }, { latch: 'set' }],
  ],
  'own mode': [['controller changes its mode', { mode: 'auto' }]],
  'own excitation': [['controller changes its excitation in debug', { excitation: PITCH }]],
  'excitation of a lost trial': [['first contact shows the guard of an earlier trial', {}]],
  'no torque': [['controller shows no torque', { isLatched: false }]],
  faults: [
    ["controller's guard ends the excitation (`ran_away`)", { appeared: ['ran_away'], gone: [] }],
    ['another fault', { appeared: ['over_current'], gone: [] }],
    ['`frame_refused`, `commit_refused`', { appeared: ['frame_refused', 'commit_refused'], gone: [] }],
  ],
  'target lost': [
    ['target lost', { mode: 'auto', followers: ['visual_yaw'] }, { mode: 'auto' }],
    ['target lost in debug while a visual loop is excited', { mode: 'debug', followers: ['visual_yaw'] }],
    ['target lost in debug otherwise', { mode: 'debug', followers: ['visual_pitch'] }],
  ],
  'loop past its bound': [['loop runs away', {}]],
  reset: [
    ['controller resets itself', { mayKeepMode: false }],
    [
      'the same, if `onControllerReset` is `restore` and the match allows the last mode',
      { mayKeepMode: true },
    ],
    ['the same, while the robot is stopped', { mayKeepMode: true }, { latch: 'set' }],
  ],
  offline: [['controller goes offline', {}]],
};

function isCause(name: string): name is Cause {
  return name in ROWS;
}

/** The cells of ARCHITECTURE's table. Empty: unchanged. */
function cells(before: Wanted, after: Wanted, detail: object): string[] {
  const mode = 'mode' in detail && detail.mode === after.mode ? 'that mode' : after.mode;
  const excitation = after.excitation === undefined ? 'none' : 'that excitation';
  const latch = after.isUnderRelease
    ? 'being released'
    : { set: 'set', 'as it is': 'released', released: 'released when it returns' }[after.latch];
  const isReleaseOver = before.isUnderRelease !== after.isUnderRelease;
  const trial = after.trial === undefined ? 'the trial ends' : "the trial's";
  const saving = after.saving.length > 0 ? 'those of the save; the trial ends' : "the journal's";
  return [
    before.mode === after.mode ? '' : (mode ?? ''),
    before.excitation === after.excitation ? '' : excitation,
    before.latch === after.latch && !isReleaseOver ? '' : latch,
    before.saving !== after.saving ? saving : before.trial === after.trial ? '' : trial,
    before.driver === after.driver ? '' : after.driver === undefined ? 'none' : 'that caller',
  ];
}

function linesOf<C extends Cause>(cause: C): string[] {
  return ROWS[cause].map(([title, detail, changed]) => {
    const before = { ...BUSY, ...changed };
    const { wanted, news } = decide(before, cause, detail);
    const isStop = news.some(({ what }) => what === 'found-latched');
    const shown = isStop ? Array(5).fill('as a stop') : cells(before, wanted, detail);
    return ['', title, ...shown, '']
      .join(' | ')
      .trim()
      .replace(/\| {2}(?=\|)/g, '| ');
  });
}

describe('a unit', () => {
  it('has after each cause the wanted state that the table in ARCHITECTURE.md gives for this cause', () => {
    const text = readFileSync('ARCHITECTURE.md', 'utf8');
    const [, , ...lines] = text.slice(text.indexOf('| cause |')).split('\n\n')[0]!.split('\n');
    expect(lines).to.deep.equal(Object.keys(ROWS).filter(isCause).flatMap(linesOf));
  });
  it('that goes offline ends its excitation, its trial and its driving, each with an event that gives the reason "offline"', () => {
    const ends = decide(BUSY, 'offline', {}).news;
    expect(ends).to.deep.equal([
      { what: 'excitation', detail: { amplitude: 0, why: 'offline' } },
      { what: 'trial-ended', detail: { by: 'lab', why: 'offline' } },
      { what: 'drive-ended', detail: { by: 'lab', id: 'pad', why: 'offline' } },
    ]);
  });
});
