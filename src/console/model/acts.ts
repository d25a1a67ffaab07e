import { unitNamed } from '../../core/units.js';
import type { LogEvent } from '../../schemas/log.js';

/** The name of the robot's own event for a request, if it differs from the request's. */
const EFFECTS: Readonly<Record<string, string>> = {
  excite: 'excitation',
  restore: 'save',
  'load-profile': 'save',
  'end-trial': 'trial-ended',
  'end-tune': 'tune-end',
  lock: 'stop',
};
/** An effect is recorded at most this long before its request is answered. */
const TOGETHER_S = 2;

/**
 * Joins events, so that each act has one: a change becomes part of the request that caused it. A change without `who`
 * was made by the robot itself.
 */
export function actsOf(events: readonly LogEvent[]): LogEvent[] {
  const effects = new Set<LogEvent>();
  const acts = events.map((request, index): LogEvent => {
    if (request.who === undefined || request.outcome !== 'done') return request;
    const what = EFFECTS[request.what] ?? request.what;
    const effect = events
      .slice(0, index)
      .findLast(
        one =>
          one.who === undefined &&
          one.what === what &&
          one.unit === request.unit &&
          request.t - one.t < TOGETHER_S &&
          !effects.has(one),
      );
    if (effect === undefined) return request;
    effects.add(effect);
    return { ...request, detail: { ...effect.detail, ...request.detail } };
  });
  return acts.filter(act => !effects.has(act));
}

/** One sentence, such as `Gimbal mode: manual → auto, by Bob.` */
export function actText({ what, unit, who, outcome, detail = {} }: LogEvent): string {
  const { before, after, ...others } = detail;
  const change = after === undefined ? [] : [`${before ?? '–'} → ${after}`];
  const values = Object.entries(others)
    .filter(([name, value]) => value !== after && !(name === 'why' && value === 'asked'))
    .map(([name, value]) => (name === 'why' ? String(value) : `${wordsOf(name)} ${value}`));
  const parts = [...change, ...values].join(', ');
  const about = `${unit === undefined ? '' : `${titleOf(unit)} `}${wordsOf(what)}`;
  const by = who === undefined ? '' : `, by ${who}`;
  const refusal = outcome === undefined || outcome === 'done' ? '' : `: refused (${wordsOf(outcome)})`;
  return `${about.slice(0, 1).toUpperCase()}${about.slice(1)}${parts && `: ${parts}`}${by}${refusal}.`;
}

/** Names in the API that have other names on the page. */
const WORDS: Readonly<Record<string, string>> = {
  excite: 'test steps',
  excitation: 'test steps',
  nack: 'no answer',
  reset: 'restart',
};

const wordsOf = (name: string) =>
  WORDS[name] ?? name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replaceAll('-', ' ');

/** A daemon of another version may have other units. */
const titleOf = (unit: NonNullable<LogEvent['unit']>): string => unitNamed(unit)?.title ?? unit;
