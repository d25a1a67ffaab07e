import { completeGains, perUnit, type Unit } from '../../core/units.js';
import { changedLoops } from '../../gains/changed-loops.js';
import { profilesText } from '../../profiles/profile-store.js';
import { gainsBody } from '../../schemas/gains.js';
import {
  keptProfile,
  measuredProfile,
  type Profile,
  profile,
  profileName,
  storedName,
} from '../../schemas/profile.js';
import * as s from '../../schemas/schema.js';
import type { AppOptions } from '../app-options.js';
import { SAVE_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';
import { compile } from '../validate.js';
import { BASE_REVISION, saver } from './gains-routes.js';

/** Named sets of gains of one unit. Only `load` reaches a controller: it is a save. */
export function profileRoutes(options: AppOptions, unit: Unit): Route[] {
  const { robot, profiles, steps, config } = options;
  const { name: unitName, title } = unit;
  const path = `/api/${unitName}/profiles`;
  const gains = gainsBody(unit, config.gains.bounds);
  const checkGains = compile(gains);
  const keepBody = s.body(`${title}Profile`, {
    name: profileName,
    note: s.optional(s.note(400)),
    starred: s.optional(s.yesNo()),
    gains: s.optional(gains),
    revision: s.optional({
      ...s.count('The revision whose gains are stored. Without `revision` and `gains`: those in force.'),
      minimum: 1,
    }),
    replace: s.optional(s.yesNo('Replace a profile of the same name.')),
    dryRun: s.optional(s.yesNo('Only answer what would change.')),
  });
  const save = saver(options, unit);
  const gainsOf = (revision: number | undefined) =>
    revision === undefined
      ? robot.store.current(unitName).gains
      : checkGains(robot.store.revision(unitName, revision).gains);
  return [
    get(path, 'read', {
      id: `${unitName}Profiles`,
      summary: 'Named sets of gains, with the newest step measured with each by loop',
      answer: s.array(measuredProfile),
      problems: ['storage-failed'],
      act: async () => {
        const list = await profiles.list(unitName);
        return list.map(one => ({ profile: one, measured: steps.measured(unitName, one) }));
      },
    }),
    post(path, 'tune', {
      id: `${unitName}KeepProfile`,
      event: { what: 'keep-profile', unit: unitName },
      summary: 'Store gains under a name, or see what that would change; the gains in force stay',
      body: keepBody,
      answer: keptProfile,
      problems: ['unknown-revision', 'profile-exists', 'too-many-profiles', 'storage-failed'],
      act: async ({ body }) => {
        const { name, note, starred, revision, replace = false, dryRun = false, ...given } = body;
        const gains = given.gains ?? gainsOf(revision);
        const asked = (before: Profile | undefined) => ({
          note: note ?? before?.note ?? '',
          starred: starred ?? before?.starred ?? false,
          gains,
        });
        // This throws if the journal cannot be read, so it comes before anything is stored.
        const inForce = robot.store.current(unitName).gains;
        const { profile, replaced } = dryRun
          ? await profiles.preview(unitName, name, asked)
          : await profiles.keep(unitName, name, asked, { replace });
        return {
          profile,
          replaced: replaced ?? null,
          difference: changedLoops(replaced?.gains ?? inForce, gains),
          kept: !dryRun,
        };
      },
    }),
    post(`${path}/load`, 'tune', {
      id: `${unitName}LoadProfile`,
      event: { what: 'load-profile', unit: unitName },
      summary: 'Save the gains of a profile; the answer is that of a save',
      body: s.body(`${title}LoadProfile`, { name: storedName }),
      answer: gainsBody(unit, {}),
      query: BASE_REVISION,
      problems: ['unknown-profile', ...SAVE_PROBLEMS],
      act: async asked => {
        const kept = await profiles.named(unitName, asked.body.name);
        return save(asked, completeGains(unit, kept.gains), kept.name);
      },
    }),
    post(`${path}/star`, 'tune', {
      id: `${unitName}StarProfile`,
      event: { what: 'star-profile', unit: unitName },
      summary: 'Star a profile, or remove its star',
      body: s.body(`${title}StarProfile`, { name: storedName, starred: s.yesNo() }),
      answer: profile,
      problems: ['unknown-profile', 'storage-failed'],
      act: ({ body: { name, starred } }) => profiles.star(unitName, name, starred),
    }),
    post(`${path}/remove`, 'tune', {
      id: `${unitName}RemoveProfile`,
      event: { what: 'remove-profile', unit: unitName },
      summary: 'Remove a profile',
      body: s.body(`${title}RemoveProfile`, { name: storedName }),
      answer: s.body('ProfileRemoved', { removed: s.yesNo() }),
      problems: ['unknown-profile', 'storage-failed'],
      act: ({ body: { name } }) => profiles.remove(unitName, name).then(() => ({ removed: true })),
    }),
  ];
}

/** All profiles as one readable text. */
export function allProfilesRoute({ profiles }: AppOptions): Route {
  return get('/api/profiles', 'read', {
    id: 'profiles',
    summary: 'The profiles of both units in one text, for a file',
    answer: s.answer(
      'Profiles',
      { format: s.text(), ...perUnit(() => s.array(profile)) },
      'Another robot can store each of them with one call.',
    ),
    problems: ['storage-failed'],
    act: async () => Buffer.from(profilesText(await profiles.all())),
  });
}
