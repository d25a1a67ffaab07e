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

/** The address after its `#`. */
export const hash = signal(location.hash);
window.addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/**
 * Splits the address after its `#` into the token and the rest. Examples: `#match`, `#token=…`,
 * `#match&token=…`.
 */
export function readAddress(hash: string): { readonly token: string | null; readonly hash: string } {
  const words = new URLSearchParams(hash.slice(1));
  const token = words.get('token');
  words.delete('token');
  const others = [...words.keys()].join('&');
  return { token, hash: others && `#${others}` };
}

// A held key presses a button once. A browser would click the focused button at each repetition of Enter.
window.addEventListener(
  'keydown',
  event => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  { capture: true },
);
