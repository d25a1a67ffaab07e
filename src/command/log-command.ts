import { visible } from '../core/control-characters.js';
import { isObject } from '../core/json.js';
import type { LogEvent, LogPage } from '../schemas/log.js';
import { type Said, saidOf } from './command.js';
import { print, repeat } from './output.js';
import { askDaemon, type Place, refusalOf } from './place.js';

/** The part of a page that is checked. */
type Page = Omit<LogPage, 'boot'> & { readonly boot?: unknown };

function isPage(body: unknown): body is Page {
  return isObject(body) && Array.isArray(body.events) && typeof body.dropped === 'number';
}

/** `trunnion log`: the events that the daemon has in memory, oldest first. */
export async function logCommand(place: Place): Promise<Said> {
  const page = await pageAfter(place, 0);
  return { text: textOf(page), exitCode: 0, json: page, isReport: true };
}

/**
 * `trunnion log --follow`: prints these events, and then each new one. If the daemon ends, waits for the next one.
 * With `isJson`, prints a line of JSON for each event. Resolves with what ended it.
 */
export async function followLog(place: Place, isJson: boolean): Promise<Said | undefined> {
  let failure: Said | undefined;
  let boot: unknown;
  let seq = 0;
  await repeat(async () => {
    let page: Page;
    try {
      page = await pageAfter(place, seq);
    } catch (error) {
      const said = saidOf(error);
      const isGone = boot !== undefined && said.exitCode === 4;
      if (isGone && failure === undefined) print(`${said.text} Waiting for it.`, process.stderr);
      failure = said;
      return isGone;
    }
    failure = undefined;
    const isOtherRun = boot !== undefined && boot !== page.boot;
    boot = page.boot;
    // The numbers of another run may begin again, so its events are asked for from the first one.
    if (isOtherRun && seq > 0) seq = 0;
    else {
      seq = page.events.at(-1)?.seq ?? seq;
      const text = isJson ? page.events.map(event => JSON.stringify(event)).join('\n') : textOf(page);
      if (text !== '') print(text, process.stdout);
    }
    return true;
  });
  return failure;
}

async function pageAfter(place: Place, seq: number): Promise<Page> {
  const answer = await askDaemon(place, 'GET', `/api/log?after=${seq}`, { command: 'log' });
  if (isPage(answer.body)) return answer.body;
  throw refusalOf(answer);
}

function textOf({ events, dropped }: Page): string {
  const more = dropped > 0 ? [`${dropped} older events are only in the files of the log.`] : [];
  return [...more, ...events.map(lineOf)].join('\n');
}

/** Time, event, unit, caller, outcome and details, as far as the event has them. */
export function lineOf({ at, what, unit, who, outcome, detail = {} }: LogEvent): string {
  const details = Object.entries(detail).map(([name, value]) => `${name}=${value}`);
  const end = outcome === undefined || outcome === 'done' ? '' : `: ${outcome}`;
  const by = who === undefined ? undefined : `by ${who}${end}`;
  // A daemon of an older version keeps the line breaks of its callers.
  return visible([at, what.padEnd(14), unit, by, ...details].filter(part => part !== undefined).join('  '));
}
