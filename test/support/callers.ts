import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';

/** The secrets of callers, by name. Each name but `rival` is a role. */
export const CALLERS = {
  operator: { role: 'operator', secret: 'h73s-hzx8-6dsk-kvct-zbag-bg1r-vv59-thrb' },
  rival: { role: 'operator', secret: '0qrz-qqdt-73tm-7gxp-tgp0-0jap-say3-r0hz' },
  referee: { role: 'referee', secret: 'a958-qtpq-xerk-zhhn-2mgm-h9j7-xyqr-arrh' },
  spectator: { role: 'spectator', secret: '7dpq-hepc-pepb-tsgt-jbbf-e7jk-sthx-hdn3' },
} as const;

export type Caller = keyof typeof CALLERS;

export function isCaller(name: string): name is Caller {
  return Object.hasOwn(CALLERS, name);
}

/** The token list with these callers, as `trunnion token` writes it. */
export function tokenListOf(callers: readonly Caller[]): Buffer {
  return encodeTokens(
    callers.map(name => ({ name, role: CALLERS[name].role, hash: hashOf(CALLERS[name].secret) })),
  );
}
