import { error, type Problem, ProblemsError } from '../base/problems.js';
import { isReference } from '../secrets/mask-lines.js';
import { check } from '../yaml/check.js';
import { parseYaml } from '../yaml/parse.js';
import type { SourceFile } from '../yaml/source-file.js';
import { find, type MapNode, type Member, mapNode, type Node, type ScalarNode } from '../yaml/tree.js';
import type { ResolvedText, Variables } from '../yaml/variables.js';
import { configSchema } from './config.js';
import { stateLocations } from './state.js';

/** The configuration of one environment, with its variables. */
export interface EnvironmentConfig {
  /** Null for the configuration without an environment. */
  readonly name: string | null;
  readonly config: MapNode;
  readonly variables: Variables;
  /** A scalar with its variables resolved. */
  resolve(node: ScalarNode): ResolvedText;
}

/** The configuration, merged with the chosen environment and with each of the others. */
export interface MergedConfigs {
  /** Problems of the structure. */
  readonly problems: readonly Problem[];
  readonly chosen: MapNode;
  /** Only the chosen environment; undefined if none is chosen. */
  readonly overrides: MapNode | undefined;
  readonly environments: readonly string[];
  readonly all: () => readonly Pick<EnvironmentConfig, 'name' | 'config'>[];
}

/** Reads the configuration and merges the environment into it. */
export function readConfig(file: SourceFile, environment: string | null): MergedConfigs {
  hideCredentials(file);
  const { documents, problems: found } = parseYaml(file);
  const problems = [...found];
  const [first, second] = documents;
  if (second !== undefined) {
    const places = [file.place(second.root.range)];
    problems.push(error('wrong-value', 'a configuration has only one document', places, 'remove the others'));
  }
  const empty = mapNode({ start: 0, end: 0 }, new Map());
  const written = first?.root ?? (problems.length === 0 ? empty : undefined);
  if (written === undefined) throw new ProblemsError(problems);
  if (written.type !== 'map') {
    const places = [file.place(written.range)];
    const hint = 'begin it with "version: 1"';
    throw new ProblemsError([
      ...problems,
      error('wrong-type', 'the configuration must be a map', places, hint),
    ]);
  }
  const root = withoutEmpty(written);
  problems.push(
    ...check({ schema: configSchema, root, file, variables: null, name: 'configuration' }).problems,
  );
  const environments = root.entries.get('environments')?.value;
  const known = environments?.type === 'map' ? [...environments.entries.keys()] : [];
  const chosen = environment === null ? undefined : find(root, ['environments', environment]);
  if (environment !== null && chosen?.complete !== true) {
    const message = `there is no environment "${environment}" in ${file.path}`;
    const hint =
      known.length === 0
        ? 'the configuration has none: remove --env and IDOPS_ENV, or add it under environments'
        : `known environments: ${known.join(', ')}`;
    problems.push(error('unknown-environment', message, [], hint));
  }
  const base = omit(root, (name) => name === 'environments');
  const mergeEnvironment = ({ node }: { readonly node: Node }): MapNode =>
    node.type === 'map' ? merge(withoutStateLocation(base, node), node) : base;
  return {
    problems,
    chosen: chosen === undefined ? base : mergeEnvironment(chosen),
    overrides: chosen?.node.type === 'map' ? chosen.node : undefined,
    environments: known,
    all: () => [
      { name: null, config: base },
      ...known.map((name) => ({ name, config: mergeEnvironment(find(root, ['environments', name])) })),
    ],
  };
}

/** The base of an environment, without the location of the state if the environment has its own. */
function withoutStateLocation(base: MapNode, over: MapNode): MapNode {
  const [below, above] = [base, over].map(({ entries }) => entries.get('state'));
  if (below?.value.type !== 'map' || above?.value.type !== 'map') return base;
  const { entries } = above.value;
  const named = stateLocations.find((place) => entries.has(place));
  if (named === undefined) return base;
  const others: ReadonlySet<string> = new Set([
    ...stateLocations.filter((place) => place !== named),
    ...(named === 'path' ? [] : ['allow_tracked']),
  ]);
  const value = omit(below.value, (name) => others.has(name));
  return mapNode(base.range, new Map([...base.entries, ['state', { ...below, value }]]));
}

/** The sections without credentials: messages may quote only their lines. */
const publicSection = /^(?:version|manifests|vars|allow_env|safety|create|prune|checks|email)[ \t]*:/;

/** Hides lines that may contain credentials. Works on the text, which may not be valid YAML. */
function hideCredentials(file: SourceFile): void {
  let start = 0;
  let isPublic = false;
  for (const line of file.text.split('\n')) {
    if (/^[^\s#-]/.test(line)) isPublic = publicSection.test(line);
    // The user may have indented a section by mistake.
    if (/\b(?:server|state|auth|tls|header)["']?[ \t]*:/.test(line)) isPublic = false;
    const isShown = isPublic || isReference(line.slice(line.indexOf(':')));
    if (!isShown) file.hide({ start, end: start + line.length });
    start += line.length + 1;
  }
}

/** Removes empty sections, such as those that are commented out. */
function withoutEmpty(root: MapNode): MapNode {
  const clean = omit(root, (name, value) => name !== 'version' && isEmpty(value));
  const environments = clean.entries.get('environments');
  if (environments?.value.type !== 'map') return clean;
  const cleaned = new Map(
    [...environments.value.entries].map(([name, { key, value }]) => {
      const whole = isEmpty(value) ? mapNode(value.range, new Map()) : value;
      return [name, { key, value: whole.type === 'map' ? omit(whole, (_, inner) => isEmpty(inner)) : whole }];
    }),
  );
  const value = mapNode(environments.value.range, cleaned);
  return mapNode(clean.range, new Map([...clean.entries, ['environments', { ...environments, value }]]));
}

function isEmpty(node: Node): boolean {
  return node.type === 'scalar' && node.value === null;
}

/** Merges maps recursively; other values are replaced. */
export function merge(base: MapNode, over: MapNode): MapNode {
  const entries = new Map<string, Member>(base.entries);
  for (const [name, entry] of over.entries) {
    const below = entries.get(name)?.value;
    // Only one way to authenticate is allowed, so the one of an environment replaces the other.
    const both = below?.type === 'map' && entry.value.type === 'map' && name !== 'auth';
    entries.set(name, both ? { key: entry.key, value: merge(below, entry.value) } : entry);
  }
  return mapNode(base.range, entries);
}

/** A map without the members for which `drop` returns true. */
export function omit(node: MapNode, drop: (name: string, value: Node) => boolean): MapNode {
  return mapNode(node.range, new Map([...node.entries].filter(([name, { value }]) => !drop(name, value))));
}
