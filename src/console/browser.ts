import { signal } from '@preact/signals';
import { systemClock } from '../core/clock.js';
import type { ServerEvents, Surroundings } from './daemon/surroundings.js';

/** The version of the page, inserted by the build. */
declare const VERSION: string;

/** The browser in which the page runs. `windows` are its other windows with this page. */
export function browserSurroundings(windows: BroadcastChannel): Surroundings {
  return {
    clock: systemClock,
    version: VERSION,
    fetch: (path, { body, ...asked }) =>
      fetch(path, {
        ...asked,
        cache: 'no-store',
        priority: asked.method === 'POST' ? 'high' : 'auto',
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body }),
      }),
    openStream: openEventSource,
    storage: {
      read: key => unlessRefused(() => localStorage.getItem(key)),
      write: (key, text) => void unlessRefused(() => localStorage.setItem(key, text)),
      follow: (key, act) => {
        act();
        window.addEventListener('storage', event => {
          if (event.key === key) act();
        });
      },
    },
    tellWindows: message => windows.postMessage(message),
    reload: () => location.reload(),
  };
}

/**
 * Returns null if the browser refuses to store values. A stored value then lasts only as long as the page.
 */
function unlessRefused<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

function openEventSource(path: string): ServerEvents {
  const source = new EventSource(path);
  return {
    on: (type, act) =>
      source.addEventListener(type, event => act(event instanceof MessageEvent ? event.data : '')),
    isClosed: () => source.readyState === EventSource.CLOSED,
    close: () => source.close(),
  };
}

const wordsOfAddress = () => new URLSearchParams(location.hash.slice(1));

/** Takes the token out of the address. Examples: `#token=…`, `#match&token=…`. Null if there is none. */
function takeToken(): string | null {
  const words = wordsOfAddress();
  const token = words.get('token');
  words.delete('token');
  const others = [...words.keys()].join('&');
  if (token !== null) history.replaceState(null, '', location.pathname + (others && `#${others}`));
  return token;
}

/** The token in the address with which the page was opened. */
export const token = takeToken();

/** The address after its `#`. */
export const hash = signal(location.hash);
window.addEventListener('hashchange', () => {
  // A link with a token was opened in a window that has the page already.
  if (wordsOfAddress().has('token')) location.reload();
  else hash.value = location.hash;
});

// A held key presses a button once. A browser would click the focused button at each repetition of Enter.
window.addEventListener(
  'keydown',
  event => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  { capture: true },
);
