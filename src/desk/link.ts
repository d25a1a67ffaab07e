import type { Robot } from './state.js';

/** The robot of a link that `trunnion token add` prints. Undefined if the text is no such link. */
export function robotOf(name: string, link: string): Robot | undefined {
  const text = link.trim();
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, hash } = new URL(text);
  const [, token] = /^#(?:[^&]*&)*token=([0-9A-Za-z-]+)/.exec(hash) ?? [];
  return protocol === 'http:' && token !== undefined ? { name, address: origin, token } : undefined;
}
