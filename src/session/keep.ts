import { error, type Problem } from '../base/problems.js';
import { kinds } from '../kinds/index.js';
import type { Project } from '../project/index.js';
import type { Profile } from '../server/profiles.js';

/** A problem if `safety.keep` is set and the profile can't list who has a scope or a role. */
export function keepProblems(project: Project, profile: Profile): readonly Problem[] {
  const places = project.placeOf('safety', 'keep');
  const holders = kinds.filter(({ access }) => access !== undefined);
  if (places.length === 0 || holders.every(({ access }) => access?.listed(profile))) return [];
  return [
    error(
      'profile-field',
      `safety.keep needs a server that lists ${holders.map(({ noun }) => `${noun}s`).join(' and ')}, and the profile ${profile.name} has no such list`,
      places,
      'remove it, or set the profile of the server if it is another one',
    ),
  ];
}
