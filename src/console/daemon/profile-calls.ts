import type { GainSet, UnitName } from '../../core/units.js';
import type { Comparison } from '../../schemas/history.js';
import type { KeptProfile, MeasuredProfile, Profile } from '../../schemas/profile.js';
import type { Request } from './request.js';

export interface KeepProfile extends Partial<Pick<Profile, 'note' | 'starred' | 'gains'>> {
  readonly name: string;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
}

/** What the page asks of the daemon about profiles. */
export function profileCalls({ get, post }: Pick<Request, 'get' | 'post'>, unit: UnitName) {
  const path = `/api/${unit}/profiles`;
  const named = encodeURIComponent;
  return {
    list: () => get<readonly MeasuredProfile[]>(path),
    keep: (asked: KeepProfile) => post<KeptProfile>(path, asked),
    load: (name: string, baseRevision: number) =>
      post<GainSet>(`${path}/load?baseRevision=${baseRevision}`, { name }),
    star: (name: string, starred: boolean) => post<Profile>(`${path}/star`, { name, starred }),
    remove: (name: string) => post(`${path}/remove`, { name }),
    compare: (a: string, b: string) => get<Comparison>(`/api/${unit}/compare?a=${named(a)}&b=${named(b)}`),
  };
}

export type ProfileCalls = ReturnType<typeof profileCalls>;
