import { error, ProblemsError, refuse, sortByPlace } from '../base/problems.js';
import { isReference } from '../secrets/mask-lines.js';
import { check } from '../yaml/check.js';
import { parseYaml } from '../yaml/parse.js';
import type { SourceFile } from '../yaml/source-file.js';
import { find, type MapNode, type Member, mapNode, type Node } from '../yaml/tree.js';
import { configSchema } from './config.js';
import { statePlaces } from './state.js';

/** The configuration with the chosen environment laid over it, and with each of those that there are. */
export interface Configs {
  readonly chosen: MapNode;
  /** What the chosen environment itself says; undefined where none is chosen. */
  readonly own: MapNode | undefined;
  readonly environments: readonly string[];
  readonly all: () => readonly MapNode[];
}

/** The configuration's one document, with the environment laid over it. */
export function readConfig(file: SourceFile, environment: string | null): Configs {
  hideCredentials(file);
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
  problems.push(
    ...check({ schema: configSchema, root, file, variables: null, name: 'configuration' }).problems,
  );
  const environments = root.entries.get('environments')?.value;
  const known = environments?.type === 'map' ? [...environments.entries.keys()] : [];
  const chosen = environment === null ? undefined : find(root, ['environments', environment]);
  if (environment !== null && chosen?.complete !== true) {
    problems.push(
      error(
        'unknown-environment',
        `there is no environment "${environment}" in ${file.path}`,
        [],
        known.length === 0
          ? 'the configuration has none: leave out --env and IDOPS_ENV, or write it under environments'
          : `environments there: ${known.join(', ')}`,
      ),
    );
  }
  refuse(sortByPlace(problems));
  const base = without(root, (name) => name === 'environments');
  const over = ({ node }: { readonly node: Node }): MapNode =>
    node.type === 'map' ? merge(withoutPlace(base, node), node) : base;
  return {
    chosen: chosen === undefined ? base : over(chosen),
    own: chosen?.node.type === 'map' ? chosen.node : undefined,
    environments: known,
    all: () => [base, ...known.map((name) => over(find(root, ['environments', name])))],
  };
}

/** What an environment is laid over: where that says where its state is kept, nothing else does. */
function withoutPlace(base: MapNode, over: MapNode): MapNode {
  const [below, above] = [base, over].map(({ entries }) => entries.get('state'));
  if (below?.value.type !== 'map' || above?.value.type !== 'map') return base;
  const { entries } = above.value;
  const named = statePlaces.find((place) => entries.has(place));
  if (named === undefined) return base;
  const others: ReadonlySet<string> = new Set([
    ...statePlaces.filter((place) => place !== named),
    ...(named === 'path' ? [] : ['allow_tracked']),
  ]);
  const value = without(below.value, (name) => others.has(name));
  return mapNode(base.range, new Map([...base.entries, ['state', { ...below, value }]]));
}

/** The sections in which nothing signs in; no line of any other is shown. */
const open = /^(?:version|manifests|vars|allow_env|safety|checks|email)[ \t]*:/;

/** Keeps messages from showing lines that may have credentials in them. Works on the text alone, which may be no YAML. */
function hideCredentials(file: SourceFile): void {
  let start = 0;
  let isOpen = false;
  for (const line of file.text.split('\n')) {
    if (/^[^\s#-]/.test(line)) isOpen = open.test(line);
    // One that stands too far in.
    if (/\b(?:server|state|auth|tls|header)["']?[ \t]*:/.test(line)) isOpen = false;
    const isTold = isOpen || isReference(line.slice(line.indexOf(':')));
    if (!isTold) file.hide({ start, end: start + line.length });
    start += line.length + 1;
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

/** Lays one map over another: maps merge, everything else replaces. Places stay those of what was taken. */
export function merge(base: MapNode, over: MapNode): MapNode {
  const entries = new Map<string, Member>(base.entries);
  for (const [name, entry] of over.entries) {
    const below = entries.get(name)?.value;
    // The ways to authenticate exclude each other: an environment's replaces the one below.
    const both = below?.type === 'map' && entry.value.type === 'map' && name !== 'auth';
    entries.set(name, both ? { key: entry.key, value: merge(below, entry.value) } : entry);
  }
  return mapNode(base.range, entries);
}

/** A map without some of its members. */
export function without(node: MapNode, drop: (name: string, value: Node) => boolean): MapNode {
  return mapNode(node.range, new Map([...node.entries].filter(([name, { value }]) => !drop(name, value))));
}
