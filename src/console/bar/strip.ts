import { UNIT_LIST, type Unit, type UnitName, unitNamed } from '../../core/units.js';
import type { LogEvent } from '../../schemas/log.js';
import type { Status } from '../../schemas/status.js';
import { LASER } from '../daemon/asks.js';
import { type Action, refusalText } from '../model/action.js';
import { loopNamed } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { clockText, fixed } from '../model/numbers.js';
import { daemonRestartText } from '../model/restart.js';
import {
  alarm,
  bad,
  diskLines,
  healthLines,
  type Line,
  mostUrgentFirst,
  safetyLines,
  staleLines,
} from './lines.js';

/** A line with a button, given by its properties. */
export interface AnswerableLine extends Line {
  readonly answer?: {
    readonly text: string;
    /** The text that a screen reader reads for the button, if it needs more words. */
    readonly 'aria-label'?: string;
    readonly run: () => unknown;
    readonly disabled?: boolean;
  };
}

/**
 * All lines of the strip, the most urgent first. `isForThumb`: for the match view, without the button that reloads
 * the page.
 */
export function stripLines(model: Model, isForThumb = false): AnswerableLine[] {
  const { access, autotune, clock, deafness, driving, fresh, laser, resuming, stream } = model;
  const status = model.status.value;
  const mayBeStale = !fresh.value && (stream.resting.value || status !== undefined);
  const now = clock.wallTime();
  const heard = clockText(now.getTime() + stream.heardMs - clock.nowMs(), now);
  const actions = [
    // The login shows its own lines.
    ...(access.isShut ? [] : [access.action]),
    ...UNIT_LIST.flatMap(({ name }) => model.actionsOf(name)),
    autotune.action,
  ];
  return mostUrgentFirst<AnswerableLine>([
    ...stopLines(model),
    ...refusalLines(resuming),
    ...(mayBeStale ? staleLines(laser.mayBeLit, stream.resting.value, deafness.value, heard) : []),
    ...(status === undefined
      ? []
      : safetyLines(status, fresh.value, {
          stopCause: stopCause(model),
          darkCause: darkCause(model),
          mayResume: model.hasRightTo('resume'),
        }).flatMap(line => unreadLines(model, line))),
    ...offLines(model),
    ...actions.filter(action => !isSaidElsewhere(action, status)).flatMap(refusalLines),
    ...(driving.hindrance === '' ? [] : [bad('Drive:', driving.hindrance)]),
    ...(status === undefined ? [] : healthLines(status)),
    ...restartLines(model),
    ...UNIT_LIST.flatMap(unit => endedLines(model, unit)),
    ...versionLines(model, isForThumb),
    ...UNIT_LIST.flatMap(unit => movingLines(model, unit)),
  ]);
}

export const ALL_WELL = 'All well';

/** The text of a strip without lines. */
export function wellText({ status: { value: status }, driving }: Model): string {
  if (status === undefined) return '';
  const activityOf = (name: UnitName) => {
    const { mode, driver } = status[name];
    const who = driver?.id === driving.commands.id ? 'this page' : driver?.by;
    return [mode !== 'manual' && `${name} ${mode}`, who !== undefined && `${who} drives the ${name}`];
  };
  const all = [
    status.laser.light === 'on' && 'LASER ON',
    ...UNIT_LIST.flatMap(({ name }) => activityOf(name)),
  ];
  const active = all.filter(text => text !== false);
  return active.length === 0 ? ALL_WELL : ['No faults', ...active].join(' · ');
}

/** Why the laser went dark, by the reason in the log. `who` caused it. */
const DARK_CAUSES: Readonly<Record<string, (who: string) => string>> = {
  'time limit': () => 'it was lit for as long as laser.maxOnS allows',
  'interlock opened': () => 'its interlock was opened',
  'pin lost': () => 'its pin was lost',
  tuning: who => `${who} began a tuning`,
  'phase without light': who => `${who} set a phase that forbids light`,
};

/** ` at 14:02:10: op began a tuning`, for the line about a laser that went dark. Undefined if the log does not say. */
function darkCause({ log, clock }: Model): string | undefined {
  const { lastDark } = log;
  const cause = DARK_CAUSES[String(lastDark?.detail?.reason)];
  if (lastDark === undefined || cause === undefined) return undefined;
  return ` at ${clockText(lastDark.at, clock.wallTime())}: ${cause(log.causerOf(lastDark) ?? 'somebody')}`;
}

/** ` at 14:02:10 by op`, for a line about a stop. */
function stopCause({ log: { lastStop }, clock }: Model): string {
  if (lastStop === undefined) return '';
  const at = clockText(lastStop.at, clock.wallTime());
  const why = lastStop.why.startsWith('by ') ? ` ${lastStop.why}` : lastStop.why && ` (${lastStop.why})`;
  return ` at ${at}${why}`;
}

const PRESS_AGAIN = 'Press it again if it is still wanted.';
/** A STOP that was sent this many times is about 10 s old. */
const MANY_TIMES = 20;

/**
 * The line about the STOP that was pressed here. If the robot is known to be stopped, only the line from
 * status is shown.
 */
function stopLines(model: Model): Line[] {
  const { stop } = model;
  const { press } = stop;
  if (stop.stopped || press === undefined) return [];
  const { sent, fate, pressedMs } = press;
  const { refusal } = fate;
  const state = fate.state.value;
  if (state === 'pending' && sent === 1) return [];
  if (state === 'pending' && sent < MANY_TIMES)
    return [alarm('STOP', 'sent, asking again… Be ready to cut the power.')];
  if (state === 'done' && stop.stopped === false) return [];
  if (state === 'done') return [{ ...pressLine(model, 'STOP', pressedMs, 'is confirmed.'), isClaim: true }];
  if (state === 'expired') return [pressLine(model, 'STOP', pressedMs, `was refused. ${PRESS_AGAIN}`)];
  const cure = refusal?.isIdentity
    ? 'Only an operator or referee can send it.'
    : refusal
      ? refusalText(refusal)
      : 'The daemon does not answer. This page keeps trying.';
  return [alarm('STOP is not confirmed.', `Be ready to cut the power. ${cure}`)];
}

/** The line about the Off that was pressed here. */
function offLines(model: Model): Line[] {
  const { daemon, laser } = model;
  const press = daemon.asks.insisting(LASER);
  const about = 'Laser Off';
  const state = press?.fate.state.value;
  if (press !== undefined && state === 'pending' && press.sent > 1)
    return [bad(about, 'sent, asking again…')];
  if (press !== undefined && state === 'expired')
    return [pressLine(model, about, press.pressedMs, `was not answered. ${PRESS_AGAIN}`)];
  return isSaidElsewhere(laser.action, model.status.value) ? [] : refusalLines(laser.action);
}

/** A line about an older press, with its time. */
function pressLine({ clock }: Model, about: string, pressedMs: number, text: string): Line {
  const at = clockText(pressedMs, clock.wallTime());
  return bad(about, `of ${at} ${text}`);
}

function refusalLines({ title, refusal }: Action): Line[] {
  return refusal.value === undefined ? [] : [bad(`${title}:`, refusalText(refusal.value))];
}

/** The refusals whose cause has a line of its own: that line says more, and stays. */
function isSaidElsewhere({ refusal }: Action, status: Status | undefined): boolean {
  const code = refusal.value?.code ?? '';
  if (code === 'pin-failed') return status?.laser.light === 'fault';
  if (code === 'access-unavailable') return status?.access.detail !== undefined;
  return (
    ['storage-failed', 'not-kept'].includes(code) && status !== undefined && diskLines(status).length > 0
  );
}

/** Lines about restarts of controllers and of the daemon that nobody has confirmed. */
function restartLines(model: Model): AnswerableLine[] {
  const { log, status, clock } = model;
  const now = clock.wallTime();
  return log.restarts.value.map(event => {
    const answer = gotIt(model, event);
    if (event.unit === undefined)
      return { ...bad('The daemon', `${daemonRestartText(event, now)}.`), answer };
    const mode = status.value?.[event.unit].mode;
    const text = `restarted ${clockText(event.at, now)}${mode == null ? '' : `, now ${mode}`}.`;
    return { ...bad(unitNamed(event.unit).title, text), answer };
  });
}

/** Why test steps may have ended without a press. Other reasons, such as a stop or a fault, have lines of their own. */
const LOSSES: Readonly<Record<string, string>> = { offline: 'was offline', 'no torque': 'had no torque' };

/** The line about test steps that ended with contact or torque, after the unit is back. */
function endedLines(model: Model, { name, title }: Unit): AnswerableLine[] {
  const { log, status, clock } = model;
  const ended = log.lastEvent('excitation', name);
  const loss = LOSSES[String(ended?.detail?.why)];
  if (ended === undefined || loss === undefined || log.isSeen(ended) || !status.value?.[name].online)
    return [];
  const at = clockText(ended.at, clock.wallTime());
  const text = `${at}: ${title.toLowerCase()} ${loss}.`;
  return [{ tone: 'note', about: 'Test steps ended', text, answer: gotIt(model, ended) }];
}

/** A person can dismiss the note about a laser that went dark. Other lines cannot be dismissed. */
function unreadLines(model: Model, line: Line): AnswerableLine[] {
  const dark = line.tone === 'note' ? model.log.lastDark : undefined;
  if (dark === undefined) return [line];
  return model.log.isSeen(dark) ? [] : [{ ...line, answer: gotIt(model, dark) }];
}

function gotIt({ log }: Model, event: LogEvent) {
  return { text: 'Got it', run: () => log.confirm(event) };
}

/** Reloading without contact might fail, and would lose a STOP or an Off that is still pending. */
function versionLines(
  { status, fresh, isOwing, surroundings: { version, reload } }: Model,
  isForThumb: boolean,
): AnswerableLine[] {
  if (status.value === undefined || status.value.version === version) return [];
  const text = 'is of another version than the daemon: reload it.';
  const disabled = !fresh.value || isOwing;
  const answer = { text: 'Reload', 'aria-label': 'Reload the page', run: reload, disabled };
  return [{ tone: 'note', about: 'Page', text, ...(!isForThumb && { answer }) }];
}

const inSentence = (title: string) => title.slice(0, 1).toLowerCase() + title.slice(1);

/** A line about a tuning, or about an excitation and gains on trial. During a tuning there is only the tuning's line. */
function movingLines(model: Model, unit: Unit): AnswerableLine[] {
  const { access, gains, status, telemetry, autotune } = model;
  const { name, title } = unit;
  type Ending = [subject: string, right: 'drive' | 'tune', run: () => unknown];
  const line = (text: string, ...[subject, right, run]: Ending): AnswerableLine => {
    const answer = { text: 'End', 'aria-label': `End the ${subject} of the ${title.toLowerCase()}`, run };
    return { tone: 'doing', about: title, text, ...(access.hasRight(right) && { answer }) };
  };
  const tune = autotune.tunes[name].value;
  if (tune?.state === 'running') {
    const loop = inSentence(loopNamed(unit, tune.loop).title);
    const text = `moves: ${autotune.ownerOf(tune)} tunes its ${loop} (${tune.words.at(-1) ?? 'begins'}).`;
    return [line(text, 'tuning', 'tune', () => autotune.end(name))];
  }
  const lines: AnswerableLine[] = [];
  const excitation = model.excitationOf(name);
  if (excitation !== undefined) {
    const { title: loop, quantity } = loopNamed(unit, excitation.loop);
    const text = `moves its ${inSentence(loop)} by ±${excitation.amplitude} ${quantity} every ${excitation.periodS} s.`;
    lines.push(line(text, 'test steps', 'drive', () => model.endExcitation(name)));
  }
  const trial = status.value?.[name].gains.trial;
  if (trial !== undefined) {
    const { trial: own } = gains[name];
    const leftS = Math.max(0, trial.endsAtT - (telemetry.latest?.t ?? trial.endsAtT));
    const text =
      trial.id === own.id
        ? 'runs gains that this page tries. Nothing is saved.'
        : `runs gains that ${trial.by} tries, for ${fixed(leftS, 0)} s unless renewed.`;
    lines.push(line(text, 'trial', 'tune', () => own.end()));
  }
  return lines;
}
