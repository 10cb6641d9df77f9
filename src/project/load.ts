import { realpath } from 'node:fs/promises';
import { dirname, resolve as resolvePath } from 'node:path';
import type { z } from 'zod';
import { error, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { type ChecksSettings, checksSchema } from '../mail/settings.js';
import { type Profile, profiles } from '../server/profiles.js';
import { check } from '../source/check.js';
import { nameOf, readBytes, readSource, type SourceFile, shownPath, unreadable } from '../source/file.js';
import { nearest } from '../source/nearest.js';
import { inOrder } from '../source/order.js';
import type { Note } from '../source/resolve.js';
import { find, type MapNode, mapNode, type Node, type ScalarNode } from '../source/tree.js';
import { type VariableSources, Variables } from '../source/variables.js';
import { parseYaml } from '../source/yaml.js';
import { addressProblems } from './addresses.js';
import {
  configSchema,
  DEFAULT_MANIFESTS,
  DEFAULT_MAX_DESTRUCTIVE,
  DEFAULT_STATE,
  manifestsSchema,
  safetySchema,
  serverSchema,
  stateSettingsSchema,
} from './config.js';
import { findAbove, passedAbove, topOf } from './find.js';
import { type ConfigLayer, type Guarded, guardedOf } from './guarded.js';
import { merge, without } from './merge.js';
import type { Pattern, Project, ProjectOptions, ServerOverrides, ServerSettings } from './project.js';
import { serverSettings } from './server.js';

/** The name that a configuration is looked for by. */
const CONFIG = 'idops.yaml';

/** What the ways to authenticate exclude each other in: an environment's replaces the one below. */
const exclusive: ReadonlySet<string> = new Set(['auth']);

/**
 * Finds and reads the configuration, and chooses the environment. Checks the shape of all of it, and resolves
 * nothing yet. Throws a ProblemsError with every mistake.
 */
export async function loadProject(options: ProjectOptions): Promise<Project> {
  const { cwd, variables } = options;
  const path = await configPath(options);
  const file = await readSource(path, nameOf(path, { cwd, root: dirname(path) }));
  if (!('text' in file)) throw new ProblemsError([await unreadableConfig(path, options, file)]);
  const root = await realpath(dirname(path)).catch((failure: unknown) => {
    throw new ProblemsError([
      error('file-unreadable', `${shownPath(dirname(path), cwd)} ${unreadable(failure).detail}`),
    ]);
  });
  const environment = options.env ?? setting(variables, 'IDOPS_ENV') ?? null;
  return new LoadedProject(options, root, file, environment, readConfig(file, environment));
}

/** Where the configuration is: as it is named, or as it is found. Throws a ProblemsError where what was found isn't to be believed. */
export async function configPath(
  options: Pick<ProjectOptions, 'cwd' | 'variables' | 'config' | 'above'>,
): Promise<string> {
  const { cwd, above = true } = options;
  const given = givenConfig(options);
  if (given !== undefined) return resolvePath(cwd, given);
  return (above ? await findAbove(CONFIG, cwd) : undefined) ?? resolvePath(cwd, CONFIG);
}

function givenConfig({
  config,
  variables,
}: Pick<ProjectOptions, 'variables' | 'config'>): string | undefined {
  return config ?? setting(variables, 'IDOPS_CONFIG');
}

async function unreadableConfig(path: string, options: ProjectOptions, problem: Problem): Promise<Problem> {
  const { cwd, above = true } = options;
  const bytes = await readBytes(path);
  if (bytes instanceof Uint8Array || bytes.reason !== 'missing') return problem;
  if (givenConfig(options) !== undefined) {
    return error(
      'no-config',
      `there is no file ${shownPath(path, cwd)}`,
      [],
      'check --config and IDOPS_CONFIG',
    );
  }
  const passed = above ? await passedAbove(CONFIG, cwd) : undefined;
  if (passed !== undefined) {
    const shown = shownPath(passed, cwd);
    return error(
      'no-config',
      `there is no ${CONFIG} in this folder, and ${shown} is not taken by itself, since this is no git work tree`,
      [],
      `start idops in that folder, or write --config ${shown}`,
    );
  }
  const top = above ? await topOf(cwd) : undefined;
  const searched =
    top === undefined ? '' : `, nor above it up to ${shownPath(top, cwd)}, where its git work tree ends`;
  return error(
    'no-config',
    `there is no ${CONFIG} in this folder${searched}`,
    [],
    'start idops in the folder of your idops.yaml, name it with --config, or write one with "idops init"',
  );
}

/** The configuration with the chosen environment laid over it, and with each of those that there are. */
interface Configs {
  readonly chosen: MapNode;
  readonly environments: readonly string[];
  readonly all: () => readonly MapNode[];
}

/** The configuration's one document, with the environment laid over it. */
function readConfig(file: SourceFile, environment: string | null): Configs {
  const { documents, problems: found } = parseYaml(file);
  const problems = [...found];
  const [first, second] = documents;
  if (second !== undefined) {
    problems.push(
      error(
        'wrong-value',
        'a configuration is one document',
        [file.place(second.root.range)],
        'remove the others',
      ),
    );
  }
  const empty = mapNode({ start: 0, end: 0 }, new Map());
  const written = first?.root ?? (problems.length === 0 ? empty : undefined);
  if (written === undefined) throw new ProblemsError(problems);
  if (written.type !== 'map') {
    throw new ProblemsError([
      ...problems,
      error(
        'wrong-type',
        'the configuration must be a map',
        [file.place(written.range)],
        'begin it with "version: 1"',
      ),
    ]);
  }
  const root = withoutEmpty(written);
  hideCredentials(root, file);
  problems.push(
    ...check({ schema: configSchema, root, file, variables: null, name: 'configuration' }).problems,
  );
  const environments = root.entries.get('environments')?.value;
  const known = environments?.type === 'map' ? [...environments.entries.keys()] : [];
  const chosen = environment === null ? undefined : find(root, ['environments', environment]);
  if (environment !== null && chosen?.complete !== true) {
    const similar = nearest(environment, known);
    problems.push(
      error(
        'unknown-environment',
        `there is no environment "${environment}" in ${file.path}${similar === undefined ? '' : `, did you mean "${similar}"?`}`,
        [],
        known.length === 0
          ? 'the configuration has none: leave out --env and IDOPS_ENV, or write it under environments'
          : `environments there: ${known.join(', ')}`,
      ),
    );
  }
  refuse(inOrder(problems));
  const base = without(root, (name) => name === 'environments');
  const over = ({ node }: { readonly node: Node }): MapNode =>
    node.type === 'map' ? merge(base, node, exclusive) : base;
  return {
    chosen: chosen === undefined ? base : over(chosen),
    environments: known,
    all: () => [base, ...known.map((name) => over(find(root, ['environments', name])))],
  };
}

/** Masks what is secret here under a key that doesn't look so: messages show lines of the file. */
function hideCredentials(root: MapNode, file: SourceFile): void {
  const environments = root.entries.get('environments')?.value;
  const chosen = environments?.type === 'map' ? [...environments.entries.values()] : [];
  for (const node of [root, ...chosen.map(({ value }) => value)]) {
    for (const path of [['header', 'value'], ['token_command']]) {
      const found = find(node, ['server', 'auth', ...path]);
      if (found.complete) file.hide(found.node.range);
    }
  }
}

/** A section with nothing in it, as one that is commented out, says nothing. */
function withoutEmpty(root: MapNode): MapNode {
  const clean = without(root, (name, value) => name !== 'version' && isEmpty(value));
  const environments = clean.entries.get('environments');
  if (environments?.value.type !== 'map') return clean;
  const cleaned = new Map(
    [...environments.value.entries].map(([name, entry]) => {
      const { value } = entry;
      if (isEmpty(value)) return [name, { ...entry, value: mapNode(value.range, new Map()) }];
      return [
        name,
        value.type === 'map' ? { ...entry, value: without(value, (_, inner) => isEmpty(inner)) } : entry,
      ];
    }),
  );
  const value = mapNode(environments.value.range, cleaned);
  return mapNode(clean.range, new Map([...clean.entries, ['environments', { ...environments, value }]]));
}

function isEmpty(node: Node): boolean {
  return node.type === 'scalar' && node.value === null;
}

/** A process variable that stands for an option; an empty one counts as not set. */
function setting(variables: ProjectOptions['variables'], name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === '' ? undefined : value;
}

class LoadedProject implements Project {
  readonly root: string;
  readonly file: string;
  readonly cwd: string;
  readonly environment: string | null;
  readonly environments: readonly string[];
  readonly profile: Profile;
  readonly #source: SourceFile;
  readonly #config: MapNode;
  readonly #all: Configs['all'];
  readonly #process: ProjectOptions['variables'];
  readonly #sources: VariableSources;
  readonly #tokenFile: string | undefined;
  #guarded: Guarded | undefined;

  constructor(
    options: ProjectOptions,
    root: string,
    source: SourceFile,
    environment: string | null,
    { chosen, environments, all }: Configs,
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
    this.#process = options.variables;
    this.#sources = variableSources(chosen, source, options.variables);
    this.profile = this.#literalProfile();
  }

  variables(options: { readonly lenient: boolean }): Variables {
    return new Variables({ ...this.#sources, credentials: this.guarded().variables }, options);
  }

  guarded(): Guarded {
    this.#guarded ??= guardedOf(this.#layers(), this.root, DEFAULT_STATE);
    const token = this.#tokenFile === undefined ? [] : [resolvePath(this.cwd, this.#tokenFile)];
    return {
      ...this.#guarded,
      files: [resolvePath(this.cwd, this.file), ...token, ...this.#guarded.files],
      secretFiles: [...token, ...this.#guarded.secretFiles],
    };
  }

  everyGlobs(): readonly (readonly string[])[] {
    return this.#layers().map(({ config, text }) => {
      const node = config.entries.get('manifests')?.value;
      if (node?.type !== 'list') return [];
      return node.items.flatMap((item) => (item.type === 'scalar' ? (text(item) ?? []) : []));
    });
  }

  #layers(configs = this.#all()): readonly ConfigLayer[] {
    return configs.map((config): ConfigLayer => {
      const variables = new Variables(variableSources(config, this.#source, this.#process), {
        lenient: true,
      });
      const resolved = (node: ScalarNode, takesTainted: boolean): string | undefined => {
        if (typeof node.value !== 'string') return undefined;
        const { text, unknown, tainted } = variables.resolve(node.value, node, this.#source);
        return unknown || (tainted && !takesTainted) ? undefined : text;
      };
      return { config, text: (node) => resolved(node, true), plain: (node) => resolved(node, false) };
    });
  }

  statePath(): string {
    return resolvePath(this.root, this.#section('state', stateSettingsSchema)?.path ?? DEFAULT_STATE);
  }

  allowsTracked(): boolean {
    return this.#section('state', stateSettingsSchema)?.allow_tracked ?? false;
  }

  settingsProblems(): readonly Problem[] {
    const sections: { readonly [name: string]: z.ZodType } = {
      state: stateSettingsSchema,
      safety: safetySchema,
      checks: checksSchema,
    };
    return Object.entries(sections).flatMap(([name, schema]) => this.#resolved(name, schema, true).problems);
  }

  addressProblems(): readonly Problem[] {
    // The part that all environments share need not hold by itself, where one of them is chosen.
    const [base, ...environments] = this.#all();
    const used = this.environment === null && base !== undefined ? [base, ...environments] : environments;
    return addressProblems(this.#layers(used), ({ range }) => this.#source.place(range));
  }

  maxDestructive(): number {
    return this.#section('safety', safetySchema)?.max_destructive ?? DEFAULT_MAX_DESTRUCTIVE;
  }

  checks(): ChecksSettings {
    return this.#section('checks', checksSchema) ?? {};
  }

  patterns(): readonly Pattern[] {
    const entry = this.#config.entries.get('manifests');
    if (entry === undefined) return DEFAULT_MANIFESTS.map((pattern) => ({ pattern, place: null }));
    return (this.#section('manifests', manifestsSchema) ?? []).map((pattern, index) => ({
      pattern,
      place: this.#source.place(find(entry.value, [index]).node.range),
    }));
  }

  async server(overrides: ServerOverrides = {}): Promise<ServerSettings> {
    const given = {
      baseUrl: overrides.baseUrl ?? setting(this.#process, 'IDOPS_BASE_URL'),
      tokenFile: overrides.tokenFile,
      token: setting(this.#process, 'IDOPS_TOKEN'),
    };
    const replaced = new Set<string>();
    if (given.baseUrl !== undefined) replaced.add('base_url');
    if (given.tokenFile !== undefined || given.token !== undefined) replaced.add('auth');
    const entry = this.#config.entries.get('server');
    return await serverSettings({
      section: this.#needed('server', serverSchema, replaced),
      given,
      variables: this.#process,
      cwd: this.cwd,
      root: this.root,
      key: entry === undefined ? [] : [this.#source.place(entry.key)],
      place: (...path) =>
        entry === undefined ? [] : [this.#source.place(find(entry.value, path).node.range)],
    });
  }

  #section<T>(name: string, schema: z.ZodType<T>): T | undefined {
    const { data, problems } = this.#needed(name, schema);
    refuse(problems);
    return data;
  }

  /** Resolves one section, since it is needed now. */
  #needed<T>(name: string, schema: z.ZodType<T>, replaced?: ReadonlySet<string>) {
    return this.#resolved(name, schema, false, replaced);
  }

  #resolved<T>(name: string, schema: z.ZodType<T>, lenient: boolean, replaced?: ReadonlySet<string>) {
    const entry = this.#config.entries.get(name);
    if (entry === undefined) return { data: undefined, problems: [], notes: new Map<string, Note>() };
    const root =
      replaced !== undefined && entry.value.type === 'map'
        ? without(entry.value, (member) => replaced.has(member))
        : entry.value;
    const variables = new Variables(this.#sources, { lenient });
    return check({ schema, root, file: this.#source, variables, name: 'configuration', under: [name] });
  }

  #literalProfile(): Profile {
    const { node, complete } = find(this.#config, ['server', 'profile']);
    const fallback = profiles.documented;
    if (fallback === undefined) throw new Error('no documented profile');
    if (!complete || node.type !== 'scalar' || typeof node.value !== 'string') return fallback;
    let name = node.value;
    if (name.includes('$')) {
      const variables = new Variables(this.#sources, { lenient: true });
      const { text, tainted, unknown } = variables.resolve(name, node, this.#source);
      if (tainted || unknown) return fallback;
      name = text;
    }
    return (Object.hasOwn(profiles, name) ? profiles[name] : undefined) ?? fallback;
  }
}

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
