import { loopGains } from './gains.js';
import * as s from './schema.js';
import { measuredStep } from './step.js';

/** The most profiles that a unit has. */
export const MOST_PROFILES = 100;
/** The name of a new profile. It must not consist of digits only, because a number means a revision. */
export const profileName = {
  ...s.name(40, 'Of the profile; not only digits, which mean a revision.'),
  pattern: `(?!^[0-9]+$)${s.NAME}`,
};
/** The name of a stored profile. An older version may have stored it. */
export const storedName = s.text('Of the profile.');

/** A named set of gains of one unit. It may or may not be in force. */
export const profile = s.answer('Profile', {
  name: s.text(),
  note: s.text(),
  starred: s.yesNo(),
  savedAt: s.text('ISO 8601; empty in the answer to a dry run of a new one.'),
  gains: s.record(loopGains, 'By loop.'),
});
export type Profile = s.TypeOf<typeof profile>;

/** A profile with the newest step that was measured with it. */
export const measuredProfile = s.answer('MeasuredProfile', {
  profile,
  measured: s.record(measuredStep, 'By loop: the newest step with these gains, saved or tried.'),
});
export type MeasuredProfile = s.TypeOf<typeof measuredProfile>;

/** The result of storing a profile, or of the dry run. */
export const keptProfile = s.answer('KeptProfile', {
  profile,
  replaced: s.nullable(profile, 'The profile that had this name.'),
  difference: s.record(
    s.growing({ before: s.nullable(loopGains), after: s.nullable(loopGains) }),
    'The loops whose gains differ from those of the replaced profile or, if there was none, from those in force.',
  ),
  kept: s.yesNo('False after a dry run.'),
});
export type KeptProfile = s.TypeOf<typeof keptProfile>;
