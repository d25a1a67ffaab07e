import type { LogEvent } from '../../schemas/log.js';
import { actsOf, actText } from './log-view.js';

const SHOWN = 10;
const OF_MATCH = ['phase', 'lock', 'unlock', 'lease', 'referee-silent', 'referee-heard', 'stop', 'resume'];
/** Members that only programs need. */
const FOR_PROGRAMS = ['id', 'revision', 'remainingS', 'ttlMs', 'takeover'];

/** The last events that concern the match, newest first, in words. */
export function matchEvents(events: readonly LogEvent[]) {
  // A count of requests that changed nothing is no event of the match.
  return actsOf(events)
    .filter(({ what, detail }) => OF_MATCH.includes(what) && detail?.repeats === undefined)
    .slice(-SHOWN)
    .reverse()
    .map(event => ({ event, text: actText({ ...event, detail: shown(event) }) }));
}

function shown({ what, detail = {}, who }: LogEvent): LogEvent['detail'] {
  const { remainingS } = detail;
  const kept = Object.entries(detail).filter(([name, value]) => {
    // The stop that comes with a lock may have begun before it.
    if (name === 'why') return value !== 'set' && what !== 'lock';
    return !FOR_PROGRAMS.includes(name) && !(name === 'holder' && value === who);
  });
  if (remainingS != null) kept.push(['lasts', `${Math.ceil(Number(remainingS))} s`]);
  return Object.fromEntries(kept);
}
