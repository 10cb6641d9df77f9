import { Pauses } from '../base/concurrency.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { type Fields, same } from '../base/values.js';
import { addressOf, emailsIn, kindOf, kinds } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { ignoredProblems } from '../kinds/rules.js';
import { serverMail } from '../mail/servers.js';
import { loadManifests, registerSecrets } from '../manifests/load.js';
import { bodyChecks, checkDeclaredTemplates } from '../plan/body-checks.js';
import { endedProblems } from '../plan/until.js';
import type { Project } from '../project/index.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { Profile } from '../server/profiles.js';
import { backendOf } from './backend.js';
import { inputProblems } from './failures.js';

/** The result of a validation. */
export interface Validation {
  /** All problems that were found. */
  readonly problems: readonly Problem[];
  /** How many documents are valid. */
  readonly objects: number;
  /** The valid documents, in the order of files and lines. */
  readonly declared: readonly Declared[];
}

/**
 * Finds all problems of configuration, manifests, references and bodies that can be found without a server. Throws a ProblemsError
 * (`interrupted`) if the signal aborts before the end.
 */
export async function validateProject(
  load: () => Promise<Project>,
  options: { readonly onSecret: OnSecret; readonly signal?: AbortSignal; readonly now?: Date },
): Promise<Validation> {
  const { onSecret, signal, now = new Date() } = options;
  const pauses = new Pauses(signal);
  try {
    const project = await load();
    const loaded = await loadManifests(project, { lenient: true, signal });
    registerSecrets(loaded, onSecret);
    const settings = [...project.settingsProblems(), ...keepProblems(project, project.profile)];
    const known = settings.every(({ severity }) => severity === 'warning');
    const bodies = known
      ? checkDeclaredTemplates(
          loaded.declared,
          await bodyChecks(project, loaded.declared),
          await recordedBodies(project, loaded.declared, onSecret),
        )
      : [];
    const ignored = loaded.declared.flatMap((one) => ignoredProblems(one, kindOf(one.kind), project.profile));
    const server = [...project.literalProblems(), ...(await project.sharedStateProblems())];
    await pauses.pause();
    return {
      problems: [
        ...server,
        ...settings,
        ...loaded.problems,
        ...ignored,
        ...endedProblems(loaded.declared, now),
        ...bodies,
      ],
      objects: loaded.declared.length,
      declared: loaded.declared,
    };
  } catch (failure) {
    return { problems: inputProblems(failure, signal), objects: 0, declared: [] };
  }
}

/** A problem if `safety.keep` is set but the profile can't list users and what they have. */
export function keepProblems(project: Project, profile: Profile): readonly Problem[] {
  const places = project.placeOf('safety', 'keep');
  const holders = kinds.filter(({ access }) => access !== undefined);
  if (places.length === 0 || holders.every(({ access }) => access?.listed(profile))) return [];
  const nouns = holders.map(({ noun }) => `${noun}s`).join(' and ');
  const message = `safety.keep needs a server that lists ${nouns}, but the profile ${profile.name} has no such list`;
  const hint = 'remove it, or set the profile of the server if it is another one';
  return [error('profile-field', message, places, hint)];
}

/**
 * The recorded bodies of declared templates, if the server's mails are known. Undefined if the state isn't a file, since validate uses no
 * network, or if it can't be read.
 */
async function recordedBodies(
  project: Project,
  declared: readonly Declared[],
  onSecret: OnSecret,
): Promise<((template: Declared) => Fields) | undefined> {
  const { name } = project.profile;
  const isKnown = emailsIn(declared).some(
    ({ template, email }) => serverMail(name, template.identity[email.type] ?? '') !== undefined,
  );
  if (!isKnown) return undefined;
  try {
    if (project.state().in !== 'file') return undefined;
    const state = await (await backendOf(project, onSecret)).saved();
    if (state === undefined) return () => ({});
    const hasher = new Hasher(state);
    const records = Object.values(state.resources).filter(({ kind }) => kindOf(kind).email !== undefined);
    return ({ kind, identity, fields }) => {
      const record = state.resources[addressOf(kind, identity)];
      if (record !== undefined) return restoreFields(record.left ?? record, hasher);
      const { byName, email } = kindOf(kind);
      if (email === undefined || byName === undefined || identity[byName.id] !== undefined) return {};
      // The state has the owner only by id, so any record with the same bodies may be the one of this template.
      const bodies = [email.txt, email.html].filter((body) => fields[body] !== undefined);
      const found = records.find(
        (one) =>
          one.kind === kind &&
          one.identity[email.type] === identity[email.type] &&
          bodies.every((body) => same((one.left ?? one).fields[body] ?? null, fields[body] ?? null)),
      );
      return found === undefined ? {} : restoreFields(found.left ?? found, hasher);
    };
  } catch (failure) {
    if (failure instanceof ProblemsError) return undefined;
    throw failure;
  }
}
