import { createRedactor, type Redactor } from '../base/redact.js';
import { type Project as Loaded, loadProject as load, type ProjectOptions } from '../project/index.js';
import { redactProblems } from '../report/redacted.js';
import type { ProfileName } from '../server/profiles.js';
import { type Validation, validateProject as validate } from '../session/validation.js';
import { tellable, telling } from './errors.js';
import { checkedOptions, type Rule, someText, text, yesOrNo } from './given.js';

/** A configuration that was read. It shows nothing of its credentials and variables. */
export declare class Project {
  // Of the type alone: what a copy doesn't have.
  protected readonly loaded: true;
  /** The configuration's folder, absolute, links followed. */
  readonly root: string;
  /** The configuration as a person would type it, relative to `ProjectOptions.cwd`. */
  readonly file: string;
  /** The chosen environment. */
  readonly environment: string | null;
  /** The profile as far as it can be had without process variables; `documented` otherwise. */
  readonly profile: ProfileName;
  /** `safety.max_destructive`: how many destructive changes may be applied. Throws a ProblemsError where it is no such number. */
  readonly maxDestructive: () => number;
}

/** What is open of something that only idops makes. */
export type Members<T> = { [name in keyof T]: T[name] };

/** What is known of a project, and isn't for programs. */
export interface Inside {
  readonly project: Loaded;
  /** Knows the secrets of the project, and those of all its sessions. */
  readonly redactor: Redactor;
}

const insides = new WeakMap<Project, Inside>();

/** What a project was made of. Throws a TypeError where it is none of `loadProject`. */
export function insideOf(project: Project): Inside {
  const inside = insides.get(project);
  if (inside === undefined) throw new TypeError('this is no project: loadProject() makes one');
  return inside;
}

/**
 * Reads the configuration of a project. Variables are resolved and the rest is read when it is needed. Throws a ProblemsError
 * (`no-config`, `yaml-syntax`, `unknown-field` and others) with everything that is wrong with its shape, and a TypeError where an option is none.
 */
export async function loadProject(given: ProjectOptions): Promise<Project> {
  const { options, redactor } = checked(given);
  const project = await telling(redactor, () => load(options));
  const { root, file, environment, profile } = project;
  const members: Members<Project> = {
    root,
    file,
    environment,
    profile: profile.name,
    maxDestructive() {
      try {
        return project.maxDestructive();
      } catch (failure) {
        throw tellable(failure, redactor);
      }
    },
  };
  const made = Object.freeze(members) as Project;
  insides.set(made, { project, redactor });
  return made;
}

/**
 * Finds everything that is wrong with a project without a server: configuration, manifests, references and bodies, a
 * configuration that can't be read among it. Nothing is thrown for what is wrong; `problems` has errors and warnings.
 */
export async function validateProject(given: ProjectOptions): Promise<Validation> {
  const { options, redactor } = checked(given);
  const { problems, objects } = await validate(() => load(options), { onSecret: redactor.add });
  return { problems: redactProblems(problems, redactor), objects };
}

const rules: { readonly [name in keyof ProjectOptions]-?: Rule } = {
  cwd: { ...someText, required: true },
  variables: {
    takes: 'an object with texts, such as process.env',
    fits: (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.values(value).every((one) => one === undefined || typeof one === 'string'),
    required: true,
  },
  config: text,
  above: yesOrNo,
  env: text,
  tokenFile: text,
};

/** Options that are ones, and a redactor that knows the token that the variables name. */
function checked(given: ProjectOptions): { options: ProjectOptions; redactor: Redactor } {
  const redactor = createRedactor();
  const options = checkedOptions(given, rules, redactor);
  const token = options.variables.IDOPS_TOKEN?.trim() ?? '';
  if (token !== '') redactor.add(token);
  return { options, redactor };
}
