import { isIP } from 'node:net';

/** Whether a server may listen on this: an address, or the name of a host, without a port. */
export function isListenHost(host: string): boolean {
  const url = `http://${host}:1`;
  if (isIP(host) !== 0) return true;
  // Only a URL has an address in brackets.
  return !host.startsWith('[') && URL.canParse(url) && new URL(url).hostname === host.toLowerCase();
}
