/** Who is at this page and what they may do, as the daemon says. */
export interface Session {
  readonly access: 'open' | 'closed' | 'unavailable';
  readonly name: string | null;
  readonly role: string | null;
  readonly rights: readonly string[];
}

/** `#match`, `#token=…`, or both, `#match&token=…`: the token, and the address without it. */
export function readAddress(hash: string): { readonly token: string | null; readonly hash: string } {
  const words = new URLSearchParams(hash.slice(1));
  const token = words.get('token');
  words.delete('token');
  const others = [...words.keys()].join('&');
  return { token, hash: others && `#${others}` };
}
