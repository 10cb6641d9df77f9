import { realpath } from 'node:fs/promises';
import { dirname, resolve as resolvePath } from 'node:path';
import type { z } from 'zod';
import type { KindName } from '../base/kind-names.js';
import {
  type Place,
  type Problem,
  ProblemsError,
  problemError,
  refuse,
  sortByPlace,
} from '../base/problems.js';
import { defaultSafety, type Safety } from '../base/safety.js';
import { firstFew } from '../base/words.js';
import { limits } from '../mail/limits.js';
import { type ChecksSettings, checksSchema } from '../mail/settings.js';
import { type Profile, profiles } from '../server/profiles.js';
import { check } from '../yaml/check.js';
import type { Note } from '../yaml/resolve.js';
import { fileName, readSource, SourceFile, shownPath, unreadable } from '../yaml/source-file.js';
import { find, type MapNode, type ScalarNode } from '../yaml/tree.js';
import { type VariableSources, Variables } from '../yaml/variables.js';
import {
  createSchema,
  DEFAULT_MANIFESTS,
  limitsSchema,
  manifestsSchema,
  pruneSchema,
  safetySchema,
  serverSchema,
} from './config.js';
import { configPath, environmentSetting, type ProjectOptions, unreadableConfig } from './find-config.js';
import { type EnvironmentConfig, type MergedConfigs, omit, readConfig } from './layers.js';
import { type PrivateInputs, privateInputs } from './private-inputs.js';
import {
  literalProblems,
  type ServerOverrides,
  type ServerSettings,
  ServerSettingsBuilder,
} from './server.js';
import { sharedStates } from './shared-state.js';
import { missingStateSettings, type StateSettings, stateSettings, stateSettingsSchema } from './state.js';

/**
 * Finds and reads the configuration and chooses the environment. Checks the whole structure, but resolves no variable yet. Throws
 * a ProblemsError with every problem.
 */
export async function loadProject(options: ProjectOptions): Promise<Project> {
  const { cwd, variables } = options;
  const path = await configPath(options);
  const file = readSource(path, fileName(path, { cwd, root: dirname(path) }));
  if (!('text' in file)) throw new ProblemsError([unreadableConfig(path, options, file)]);
  const root = await realpath(dirname(path)).catch((failure: unknown) => {
    throw problemError('file-unreadable', `${shownPath(dirname(path), cwd)} ${unreadable(failure).detail}`);
  });
  const environment = options.env ?? environmentSetting(variables, 'IDOPS_ENV') ?? null;
  return createProject(options, root, file, environment);
}

/** Checks the structure of a configuration, and its literal values too if something is wrong, so that all problems are reported. */
function createProject(
  options: Pick<ProjectOptions, 'cwd' | 'variables' | 'tokenFile'>,
  root: string,
  file: SourceFile,
  environment: string | null,
): Project {
  const config = readConfig(file, environment);
  const project = new Project(options, root, file, environment, config);
  if (config.problems.some(({ severity }) => severity === 'error')) {
    const at = ({ places: [place] }: Problem) => `${place?.line}:${place?.column}`;
    const reported = new Set(config.problems.map(at));
    const others = project.literalProblems().filter((problem) => !reported.has(at(problem)));
    throw new ProblemsError(sortByPlace([...config.problems, ...others]));
  }
  return project;
}

/** A glob of manifests. A default glob has no place, and may match no file. */
export interface Pattern {
  readonly pattern: string;
  readonly place: Place | null;
}

/**
 * A configuration with a checked structure. Values are resolved on demand, since unneeded variables may be unset. Each function
 * throws a ProblemsError with every problem.
 */
export class Project {
  /** The configuration's folder, absolute, with links resolved. */
  readonly root: string;
  /** The configuration, relative to the current folder. */
  readonly file: string;
  /** The current folder, to which shown paths are relative. */
  readonly cwd: string;
  /** The chosen environment. */
  readonly environment: string | null;
  /** The names of all environments. */
  readonly environments: readonly string[];
  /** The profile; `documented` if it depends on a process variable. */
  readonly profile: Profile;
  readonly #source: SourceFile;
  readonly #config: MapNode;
  readonly #all: MergedConfigs['all'];
  /** Whether the chosen environment has its own base URL. */
  readonly #hasAddress: boolean;
  readonly #process: ProjectOptions['variables'];
  readonly #sources: VariableSources;
  readonly #tokenFile: string | undefined;
  #privateInputs: PrivateInputs | undefined;
  #create: z.infer<typeof createSchema> | undefined;

  /** Only for `createProject`. */
  constructor(
    options: Pick<ProjectOptions, 'cwd' | 'variables' | 'tokenFile'>,
    root: string,
    source: SourceFile,
    environment: string | null,
    { chosen, overrides, environments, all }: MergedConfigs,
  ) {
    this.root = root;
    this.#tokenFile = options.tokenFile;
    this.file = source.path;
    this.cwd = options.cwd;
    this.environment = environment;
    this.environments = environments;
    this.#source = source;
    this.#config = chosen;
    this.#all = all;
    this.#hasAddress = overrides !== undefined && find(overrides, ['server', 'base_url']).complete;
    this.#process = options.variables;
    this.#sources = {
      ...variableSources(chosen, source, options.variables),
      otherEnvironmentHint: (name) => this.#inEnvironments('vars', name),
    };
    this.profile = this.#literalProfile();
  }

  /** A new resolver of `${...}` in manifests; a lenient one accepts an unset allowed process variable. */
  variables(options: { readonly lenient: boolean }): Variables {
    return new Variables({ ...this.#sources, credentials: this.privateInputs().variables }, options);
  }

  /** What no manifest may read. */
  privateInputs(): PrivateInputs {
    this.#privateInputs ??= privateInputs(this.#layers(), this.root);
    const token = this.#tokenFile === undefined ? [] : [resolvePath(this.cwd, this.#tokenFile)];
    return {
      ...this.#privateInputs,
      files: [resolvePath(this.cwd, this.file), ...token, ...this.#privateInputs.files],
    };
  }

  /** The globs of each environment. */
  everyGlobs(): readonly (readonly string[])[] {
    return this.#layers().map(({ config, resolve }) => {
      const node = config.entries.get('manifests')?.value;
      if (node?.type !== 'list') return [];
      return node.items.flatMap((item) => {
        const found = item.type === 'scalar' ? resolve(item) : undefined;
        return found === undefined || found.unknown ? [] : [found.text];
      });
    });
  }

  /** The configuration without an environment, and with each. */
  #layers(process = this.#process): readonly EnvironmentConfig[] {
    return this.#all().map(({ name, config }) => this.#layer(config, name, process));
  }

  #layer(config: MapNode, name: string | null, process = this.#process): EnvironmentConfig {
    const sources = variableSources(config, this.#source, process);
    const variables = new Variables(sources, { lenient: true });
    const resolve = (node: ScalarNode) => variables.resolve(String(node.value), node, this.#source);
    return { name, config, variables, resolve };
  }

  /** Where the state is kept. */
  state(): StateSettings {
    const section = this.#section('state', stateSettingsSchema);
    return stateSettings(section, this.environment, (path) => resolvePath(this.root, path));
  }

  /** Problems of the sections other than `server`, even unused ones. An unset variable is a warning. */
  settingsProblems(): readonly Problem[] {
    const state = this.#resolved('state', stateSettingsSchema, true);
    const sections: { readonly [name: string]: z.ZodType } = {
      safety: safetySchema,
      create: createSchema,
      prune: pruneSchema,
      checks: checksSchema,
      limits: limitsSchema,
    };
    return [
      ...state.problems,
      ...missingStateSettings(state.data),
      ...Object.entries(sections).flatMap(([name, schema]) => this.#resolved(name, schema, true).problems),
    ];
  }

  /** Problems of literal addresses, literal tokens and references in the `server` section of any environment. */
  literalProblems(): readonly Problem[] {
    // If an environment is chosen, the shared part may be incomplete.
    const used = this.#layers().filter(({ name }) => this.environment === null || name !== null);
    return literalProblems(used, this.#source);
  }

  /** Environments with different servers that share one state. */
  async sharedStateProblems(): Promise<readonly Problem[]> {
    return await sharedStates(this.#layers(variableReferences), this.root, ({ range }) =>
      this.#source.place(range),
    );
  }

  /** The settings of `safety`, with their defaults. Without `limits`, the limits are the defaults, so their variables may be unset. */
  safety({ limits = true }: { readonly limits?: boolean } = {}): Safety {
    const omitted = new Set(limits ? [] : ['max_destructive', 'max_privileged', 'max_changes']);
    const section = this.#section('safety', safetySchema, omitted) ?? {};
    return {
      maxDestructive: section.max_destructive ?? defaultSafety.maxDestructive,
      maxPrivileged: section.max_privileged ?? defaultSafety.maxPrivileged,
      maxChanges: section.max_changes ?? defaultSafety.maxChanges,
      privileged: section.privileged ?? defaultSafety.privileged,
      protect: section.protect ?? defaultSafety.protect,
      keep: section.keep ?? defaultSafety.keep,
      approvers: section.approvers ?? defaultSafety.approvers,
    };
  }

  /** The same project with another version of its configuration, such as an earlier one. Throws a ProblemsError as `loadProject` does. */
  withText(text: string): Project {
    const { cwd, root, environment } = this;
    const file = new SourceFile({ file: this.file }, text);
    const options = { cwd, variables: this.#process, tokenFile: this.#tokenFile };
    return createProject(options, root, file, environment);
  }

  /** The place of a setting; empty if the configuration doesn't have it. */
  placeOf(...path: readonly (string | number)[]): readonly Place[] {
    const { node, complete } = find(this.#config, path);
    return complete ? [this.#source.place(node.range)] : [];
  }

  /** Whether missing objects of a kind are created, unless their document overrides it. */
  creates(kind: KindName): boolean {
    // `settingsProblems` reports an invalid value.
    this.#create ??= this.#resolved('create', createSchema, true).data ?? false;
    return typeof this.#create === 'boolean' ? this.#create : this.#create.includes(kind);
  }

  /** The kinds of objects that `--prune` deletes; undefined if the configuration doesn't set them. */
  prunes(): readonly KindName[] | undefined {
    return this.#section('prune', pruneSchema);
  }

  /** The severities of findings in email bodies. */
  checks(): ChecksSettings {
    return this.#section('checks', checksSchema) ?? {};
  }

  /** `limits.body_characters`: the limit for all body files together. */
  bodyCharacters(): number {
    // `settingsProblems` reports an invalid value.
    const { data } = this.#resolved('limits', limitsSchema, true);
    return data?.body_characters ?? limits.allBodiesCharacters;
  }

  /** The globs of the manifests. */
  patterns(): readonly Pattern[] {
    const entry = this.#config.entries.get('manifests');
    if (entry === undefined) return DEFAULT_MANIFESTS.map((pattern) => ({ pattern, place: null }));
    return (this.#section('manifests', manifestsSchema) ?? []).map((pattern, index) => ({
      pattern,
      place: this.#source.place(find(entry.value, [index]).node.range),
    }));
  }

  /** The server of the environment. Throws a ProblemsError for wrong settings or a missing credential. */
  async server(overrides: ServerOverrides = {}): Promise<ServerSettings> {
    const variable = environmentSetting(this.#process, 'IDOPS_BASE_URL');
    const isIgnored = this.#hasAddress && overrides.baseUrl === undefined;
    const given = {
      baseUrl: overrides.baseUrl ?? (isIgnored ? undefined : variable),
      ignoredBaseUrl: isIgnored ? variable : undefined,
      tokenFile: overrides.tokenFile,
      token: environmentSetting(this.#process, 'IDOPS_TOKEN'),
      pinned: overrides.pinned ?? false,
    };
    const replaced = new Set<string>();
    if (given.baseUrl !== undefined) replaced.add('base_url');
    if (given.tokenFile !== undefined || given.token !== undefined) replaced.add('auth');
    const entry = this.#config.entries.get('server');
    return new ServerSettingsBuilder({
      section: this.#resolved('server', serverSchema, false, replaced),
      given,
      environment: this.environment,
      variables: this.#process,
      cwd: this.cwd,
      root: this.root,
      inEnvironments: (member) => this.#inEnvironments('server', member),
      sectionPlaces: entry === undefined ? [] : [this.#source.place(entry.key)],
      place: (...path) =>
        entry === undefined ? [] : [this.#source.place(find(entry.value, path).node.range)],
    }).build();
  }

  /** A hint for a setting that only environments have, if none is chosen. */
  #inEnvironments(...path: string[]): string | undefined {
    if (this.environment !== null) return undefined;
    const base = find(this.#config, path).node;
    const names = this.#all().flatMap(({ name, config }) => {
      const { node, complete } = find(config, path);
      return name !== null && complete && node !== base ? [name] : [];
    });
    if (names.length === 0) return undefined;
    if (names.length === 1) return `environment ${names[0]} sets it: choose it with --env`;
    return `environments ${names.length === 2 ? names.join(' and ') : firstFew(names, 5)} set it: choose one with --env`;
  }

  #section<T>(name: string, schema: z.ZodType<T>, left?: ReadonlySet<string>): T | undefined {
    const { data, problems } = this.#resolved(name, schema, false, left);
    refuse(problems);
    return data;
  }

  #resolved<T>(name: string, schema: z.ZodType<T>, lenient: boolean, replaced?: ReadonlySet<string>) {
    const entry = this.#config.entries.get(name);
    if (entry === undefined) return { data: undefined, problems: [], notes: new Map<string, Note>() };
    const root =
      replaced !== undefined && entry.value.type === 'map'
        ? omit(entry.value, (member) => replaced.has(member))
        : entry.value;
    const variables = new Variables(this.#sources, { lenient });
    return check({ schema, root, file: this.#source, variables, name: 'configuration', basePath: [name] });
  }

  #literalProfile(): Profile {
    const { documented } = profiles;
    if (documented === undefined) throw new Error('no documented profile');
    const { node, complete } = find(this.#config, ['server', 'profile']);
    if (!complete || node.type !== 'scalar') return documented;
    const { text, tainted, unknown } = this.#layer(this.#config, this.environment).resolve(node);
    const isKnown = !tainted && !unknown && Object.hasOwn(profiles, text);
    return (isKnown ? profiles[text] : undefined) ?? documented;
  }
}

/** Replaces the process variables: each resolves to its reference `${NAME}`, so that defaults don't make settings differ. */
const variableReferences = new Proxy<{ [name: string]: string }>(
  {},
  {
    get: (_, name) => `\${${String(name)}}`,
    getOwnPropertyDescriptor: (_, name) => ({
      value: `\${${String(name)}}`,
      configurable: true,
      enumerable: true,
      writable: true,
    }),
  },
);

function variableSources(
  config: MapNode,
  file: SourceFile,
  process: ProjectOptions['variables'],
): VariableSources {
  const vars = config.entries.get('vars')?.value;
  const allowed = config.entries.get('allow_env')?.value;
  const scalars = new Map<string, ScalarNode>();
  if (vars?.type === 'map') {
    for (const [name, { value }] of vars.entries) if (value.type === 'scalar') scalars.set(name, value);
  }
  const names = allowed?.type === 'list' ? allowed.items : [];
  return {
    vars: scalars,
    file,
    allowed: new Set(names.flatMap((item) => (item.type === 'scalar' ? [String(item.value)] : []))),
    process,
  };
}
