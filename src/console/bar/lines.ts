import type { LaserStatus, Status, UnitStatus } from '../../core/status.js';
import { UNIT_LIST, type Unit } from '../../core/units.js';

/** One line of the alert strip. */
export interface Line {
  /** `alarm`: somebody may get hurt. `bad`: something is wrong. `note`: good to know. */
  readonly tone: 'alarm' | 'bad' | 'note';
  readonly about: string;
  readonly text: string;
}

const TONES = ['alarm', 'bad', 'note'] as const;

export function mostUrgentFirst<L extends Line>(lines: readonly L[]): L[] {
  return TONES.flatMap(tone => lines.filter(line => line.tone === tone));
}

/** What status complains of, each with its cure. */
export function statusLines(status: Status): Line[] {
  const { storage } = status;
  return mostUrgentFirst([
    ...laserLines(status.laser),
    ...(status.stopped ? stopLines(status) : []),
    ...UNIT_LIST.flatMap(unit => unitLines(unit, status[unit.name])),
    ...(storage.ok ? [] : [bad('Storage', `${storage.detail ?? 'failed.'} ${storage.cure ?? ''}`)]),
    ...storage.setAside.map(file => bad('Storage', `set a damaged file aside: ${file}`)),
  ]);
}

const bad = (about: string, text: string): Line => ({ tone: 'bad', about, text });

function laserLines({ light, reason, problem }: LaserStatus): Line[] {
  if (light === 'fault') {
    const why = problem === undefined ? '' : ` ${problem.detail}`;
    return [
      { tone: 'alarm', about: 'LASER MAY BE ON:', text: `cut its supply: its pin does not obey.${why}` },
    ];
  }
  if (problem !== undefined) return [bad('Laser', problem.detail)];
  if (reason === undefined || reason === 'stop') return [];
  return [{ tone: 'note', about: 'Laser', text: `went dark by itself: ${reason}.` }];
}

/** Unit by unit, what is known of a stop. */
function stopLines(status: Status): Line[] {
  const known = UNIT_LIST.map(unit => ({ unit, how: stopOf(status[unit.name]) }));
  const text = known.map(({ unit, how }) => `${unit.title.toLowerCase()} ${STOP_TEXTS[how]}`).join('; ');
  const dark = status.laser.light === 'dark' ? 'the laser is dark' : 'the laser is NOT PROVEN dark';
  return [
    ...known
      .filter(({ how }) => how === 'unconfirmed')
      .map(
        ({ unit }): Line => ({
          tone: 'alarm',
          about: `${unit.title} NOT CONFIRMED.`,
          text: 'Its motors may push. Be ready to cut the power.',
        }),
      ),
    { tone: 'note', about: 'Stopped:', text: `${text}; ${dark}. Resume puts both units in manual.` },
  ];
}

type StopKnowledge = 'confirmed' | 'silent' | 'unconfirmed';

const STOP_TEXTS: Readonly<Record<StopKnowledge, string>> = {
  confirmed: 'stopped (confirmed)',
  silent: 'unreachable: without torque by its own silence rule, latch follows',
  unconfirmed: 'NOT CONFIRMED',
};

function stopOf({ online, flags, torque }: UnitStatus): StopKnowledge {
  if (online && flags.includes('stopped')) return 'confirmed';
  return torque === 'silent' ? 'silent' : 'unconfirmed';
}

function unitLines({ title }: Unit, { online, problem, faults, gains }: UnitStatus): Line[] {
  return [
    ...(online ? [] : [bad(title, `is offline. ${problem?.detail ?? ''}`)]),
    ...faults.map(fault => bad(title, `reports ${fault.replaceAll('_', ' ')}.`)),
    ...(online && !gains.applied && gains.trial === undefined
      ? [bad(title, 'does not run the stored gains yet.')]
      : []),
  ];
}

/** What the window's title says of the laser and the rest. */
export function titleOf(status: Status | undefined, fresh: boolean): string {
  if (status === undefined) return 'Trunnion';
  const { light } = status.laser;
  const lights = {
    on: '● LASER ON',
    dark: 'Laser dark',
    unknown: 'Laser unknown',
    fault: '▲ LASER MAY BE ON',
  };
  const stale = light === 'on' || light === 'fault' ? '▲ LASER MAY BE ON' : 'Laser unknown';
  const words = [
    fresh ? lights[light] : stale,
    ...(status.stopped ? ['Stopped'] : []),
    ...(fresh ? [] : ['No contact']),
  ];
  return [...words, 'Trunnion'].join(' · ');
}
