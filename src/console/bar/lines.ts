import { UNIT_LIST, type Unit, type UnitName } from '../../core/units.js';
import type { LaserStatus, Status, UnitStatus } from '../../schemas/status.js';

const TONES = ['alarm', 'doing', 'bad', 'note'] as const;

/** One line of the alert strip. */
export interface Line {
  /**
   * `alarm`: a person may get hurt. `bad`: something is wrong. `doing`: a caller tries or moves something. `note`:
   * good to know.
   */
  readonly tone: (typeof TONES)[number];
  readonly about: string;
  readonly text: string;
  /** What to do about it. */
  readonly cure?: string | undefined;
  /** The line says whether light or motors are safe now. */
  readonly isClaim?: boolean;
}

export function mostUrgentFirst<L extends Line>(lines: readonly L[]): L[] {
  return TONES.flatMap(tone => lines.filter(line => line.tone === tone));
}

/** What lines about light and stop say besides status. */
interface Known {
  /** When and why the robot was stopped. */
  readonly stopCause?: string;
  /** When and why the laser went dark without an Off. */
  readonly darkCause?: string;
  /** The caller may resume. */
  readonly mayResume?: boolean;
}

/** Lines about the light and a stop. Without `fresh`, the stop is reported in the past tense. */
export function safetyLines(status: Status, fresh: boolean, known: Known = {}): Line[] {
  return [...laserLines(status.laser, known), ...(status.stopped ? stopLines(status, fresh, known) : [])];
}

/** Why Resume must not be pressed now, in a few words. Empty if it may be pressed. */
export function whyNoResume({ stopped, match, ...status }: Status): string {
  if (match.lock !== null) return 'locked';
  if (!match.allows.resume) return match.refereeSilent ? 'no referee' : `not in ${match.phase}`;
  return stopped && !isStopProven(status) ? 'not confirmed' : '';
}

/** Whether the laser is known to be dark, and both units are known to have no torque. */
export function isStopProven(status: Pick<Status, UnitName | 'laser'>): boolean {
  return (
    status.laser.light === 'dark' && UNIT_LIST.every(({ name }) => stopOf(status[name]) !== 'unconfirmed')
  );
}

/** Lines about all other faults in status, each with its cure. */
export function healthLines(status: Status): Line[] {
  const { storage, access } = status;
  return [
    ...UNIT_LIST.flatMap(unit => unitLines(unit, status[unit.name])),
    ...diskLines(status),
    ...storage.setAside.map(file => bad('Storage', `set a damaged file aside: ${file}`)),
    ...(access.detail === undefined ? [] : [bad('Tokens:', access.detail)]),
  ];
}

/** One line about the disk, whatever cannot be written: gains, the event log, lock and phase. */
export function diskLines({ storage, log, match }: Status): Line[] {
  const lost = [
    ...(storage.ok ? [] : ['gains']),
    ...(log.ok ? [] : ['events']),
    ...(match.recorded ? [] : ['lock and phase']),
  ];
  if (lost.length === 0) return [];
  const { detail = 'Look at the disk.', cure } = storage.ok && !log.ok ? log : storage;
  const words = [`cannot keep over a power cut: ${lost.join(', ')}.`, detail, cure];
  return [bad('Storage', words.filter(Boolean).join(' '))];
}

export const alarm = (about: string, text: string): Line => ({ tone: 'alarm', about, text });
export const bad = (about: string, text: string): Line => ({ tone: 'bad', about, text });

function laserLines({ light, reason, problem }: LaserStatus, { darkCause = `: ${reason}` }: Known): Line[] {
  if (light === 'fault') return [alarm('LASER MAY BE ON:', 'cut its supply: its pin does not obey.')];
  if (problem !== undefined) return [bad('Laser:', problem.detail)];
  if (reason === undefined || reason === 'stop') return [];
  return [{ tone: 'note', about: 'Laser', text: `went dark${darkCause}.`, isClaim: true }];
}

/** Lines while the page has no contact with the daemon. `since`: the time of the last contact. */
export function staleLines(mayBeLit: boolean, resting: boolean, deafness: string, since: string): Line[] {
  const light = alarm(
    'LASER MAY BE ON:',
    'be ready to cut its supply. It was on when the daemon was last heard, or was asked for since.',
  );
  const contact = resting
    ? bad('Resting', 'while newer pages are open in this browser. Press anywhere to wake this one.')
    : bad(
        deafness === '' ? `No contact since ${since}.` : `${deafness}.`,
        'The page shows the last values that it received; they may have changed.',
      );
  return mayBeLit ? [light, contact] : [contact];
}

/** Lines about a stop, unit by unit. */
function stopLines(status: Status, fresh: boolean, { stopCause = '', mayResume = true }: Known): Line[] {
  const known = UNIT_LIST.map(unit => ({ unit, how: stopOf(status[unit.name]) }));
  const text = known.map(({ unit, how }) => `${unit.title.toLowerCase()} ${STOP_TEXTS[how]}`).join('; ');
  const isGo = status.match.phase !== 'none';
  const puts = isGo ? ' Go resumes, and sets the chosen modes.' : ' Resume puts both units in manual.';
  const { lock } = status.match;
  // The board above may have no room for the whole reason.
  const why = lock === null ? '' : ` Locked by ${lock.by}: ${lock.reason}`;
  const advice = mayResume && whyNoResume(status) === '' ? puts : why;
  const dark = status.laser.light === 'dark' ? 'the laser is dark' : 'the laser is NOT PROVEN dark';
  return [
    ...known
      .filter(({ how }) => how === 'unconfirmed')
      .map(({ unit }) => ({
        ...alarm(`${unit.title} NOT CONFIRMED.`, 'Its motors may push. Be ready to cut the power.'),
        isClaim: true,
      })),
    fresh
      ? { ...bad(`Stopped${stopCause}:`, `${text}; ${dark}.${advice}`), isClaim: true }
      : bad('Was stopped', 'when the daemon was last heard.'),
  ];
}

type StopKnowledge = 'confirmed' | 'silent' | 'unconfirmed';

const STOP_TEXTS: Readonly<Record<StopKnowledge, string>> = {
  confirmed: 'stopped (confirmed)',
  silent: 'not answering; it cuts its own torque when it hears nothing',
  unconfirmed: 'NOT CONFIRMED',
};

function stopOf({ online, flags, torque }: UnitStatus): StopKnowledge {
  if (online && flags.includes('stopped')) return 'confirmed';
  return torque === 'silent' ? 'silent' : 'unconfirmed';
}

/** The cures of the faults that a controller reports. */
export const FAULT_CURES: Readonly<Record<string, string>> = {
  silent: 'The controller receives no heartbeats: check the cable, and the load of the board.',
  over_current: 'Let it cool, and look for what blocks it.',
  over_temperature: 'Let it cool, and look for what blocks it.',
  encoder_failed: "Check the encoder's cable.",
  supply_low: 'Check the motor supply: battery, plugs.',
  camera_lost: "Check the camera's cable.",
  frame_refused: 'Check the cable if this happens again.',
  ran_away: 'Try milder gains.',
};

function unitLines({ title }: Unit, { online, problem, faults, gains }: UnitStatus): Line[] {
  return [
    ...(online ? [] : [bad(title, `is offline. ${problem?.detail ?? ''}`)]),
    ...faults.map(fault => ({
      ...bad(title, `reports ${fault.replaceAll('_', ' ')}.`),
      cure: FAULT_CURES[fault],
    })),
    ...(online && !gains.applied && gains.trial === undefined
      ? [bad(title, 'does not run the stored gains yet.')]
      : []),
  ];
}

/** The firmware of a controller, for people. */
export function firmwareText({ firmware, protocol, build }: Partial<UnitStatus>): string {
  const { imageCrc, resetCause, longestLoopUs } = build ?? {};
  const more = `, build ${imageCrc}, last reset ${resetCause}, longest loop ${longestLoopUs} µs`;
  return `firmware ${firmware}, protocol ${protocol}${build ? more : ''}`;
}

/** The window's title: laser, stop and connection. */
export function titleOf(status: Status | undefined, fresh: boolean, mayBeLit: boolean): string {
  if (status === undefined) return 'Trunnion';
  const { light } = status.laser;
  const lights = {
    on: '● LASER ON',
    dark: 'Laser dark',
    unknown: 'Laser unknown',
    fault: '▲ LASER MAY BE ON',
  };
  const stale = mayBeLit || light === 'fault' ? '▲ LASER MAY BE ON' : 'Laser unknown';
  const words = [
    fresh ? lights[light] : stale,
    ...(status.stopped ? [fresh ? 'Stopped' : 'Was stopped'] : []),
    ...(fresh ? [] : ['No contact']),
  ];
  return [...words, 'Trunnion'].join(' · ');
}
