/** Who is at this page and what they may do, as the daemon says. */
export interface Session {
  readonly access: 'open' | 'closed' | 'unavailable';
  readonly name: string | null;
  readonly role: string | null;
  readonly rights: readonly string[];
}

export interface Address {
  readonly token: string | undefined;
  /** The address without the token. */
  readonly hash: string;
}

/** `#match`, `#token=…`, or both: `#match&token=…`. */
export function readAddress(hash: string): Address {
  const parts = hash
    .slice(1)
    .split('&')
    .filter(part => part !== '');
  const token = parts.find(part => part.startsWith('token='))?.slice('token='.length);
  const others = parts.filter(part => !part.startsWith('token='));
  return {
    token: token === undefined ? undefined : decodeURIComponent(token),
    hash: others.length === 0 ? '' : `#${others.join('&')}`,
  };
}
