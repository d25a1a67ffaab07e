import type { Profile } from '../../core/profile.js';
import type { MeasuredStep } from '../../core/remembered-step.js';
import type { GainSet, Gains, UnitName } from '../../core/units.js';
import type { Request } from './request.js';

export type Measured = Readonly<Record<string, MeasuredStep>>;

/** A named set with the newest step that was measured with it, by loop. */
export interface MeasuredProfile {
  readonly profile: Profile;
  readonly measured: Measured;
}

export interface KeepProfile extends Partial<Pick<Profile, 'note' | 'starred' | 'gains'>> {
  readonly name: string;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
}

export interface KeptProfile {
  readonly replaced: Profile | null;
  readonly difference: Readonly<
    Record<string, { readonly before: Gains | null; readonly after: Gains | null }>
  >;
}

interface ComparedSide {
  readonly gains: Gains;
  readonly measured: MeasuredStep | null;
}

export interface Comparison {
  readonly loops: Readonly<
    Record<string, { readonly differs: boolean; readonly a: ComparedSide; readonly b: ComparedSide }>
  >;
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
