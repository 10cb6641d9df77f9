import { resolve } from 'node:path';
import { git } from '../base/git.js';
import { parseUrl } from '../base/parse-url.js';
import { findWorkTree, realPath } from '../base/paths.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { firstFew } from '../base/words.js';
import { find, type ScalarNode } from '../yaml/tree.js';
import type { EnvironmentConfig } from './layers.js';
import { DEFAULT_BRANCH, DEFAULT_REMOTE, defaultState, pathOnBranch } from './state.js';

/** Where the state of an environment is kept. Environments with equal ids share it. */
interface StatePlace {
  readonly id: string;
  readonly shown: string;
  /** The setting that separates it from the states of other environments. */
  readonly setting: readonly string[];
  /** The default of that setting, with NAME for the environment. */
  readonly defaultText: string;
}

interface EnvironmentState extends EnvironmentConfig {
  readonly statePlace: StatePlace;
  /** `isLiteral` if it doesn't depend on a process variable. */
  readonly address: { readonly text: string; readonly isLiteral: boolean };
}

/** Problems of environments with different servers that share one state. Process variables aren't resolved, and unknown places aren't compared. */
export async function sharedStates(
  environments: readonly EnvironmentConfig[],
  root: string,
  place: (node: ScalarNode) => Place,
): Promise<Problem[]> {
  const byPlace = new Map<string, EnvironmentState[]>();
  // If all use one remote name, its address can't differ, so git needs no call.
  const isOneRemote = new Set(environments.map(remoteOf)).size === 1;
  for (const one of environments) {
    const found = textAt(one, 'server', 'base_url');
    const statePlace = await placeOf(one, root, isOneRemote);
    if (found === undefined || statePlace === undefined) continue;
    const address = { ...found, text: parseUrl(found.text)?.href.replace(/\/+$/, '') ?? found.text };
    byPlace.set(statePlace.id, [...(byPlace.get(statePlace.id) ?? []), { ...one, address, statePlace }]);
  }
  return [...byPlace.values()].flatMap((sharing) => {
    const conflicting = sharing.filter((one) => sharing.some((other) => haveDifferentServers(one, other)));
    const last = conflicting.at(-1);
    if (last === undefined) return [];
    const { shown, setting, defaultText } = last.statePlace;
    const nodes = [setting, ['server', 'base_url']].flatMap((path) => scalarAt(last, ...path) ?? []);
    const names = conflicting.flatMap(({ name }) => name ?? []);
    const who = [
      ...(names.length < conflicting.length ? ['the configuration without --env'] : []),
      `${names.length === 1 ? 'environment' : 'environments'} ${firstFew(names, 5)}`,
    ];
    return [
      error(
        'shared-state',
        `different servers share the state ${shown}: ${who.join(' and ')}`,
        nodes.slice(0, 1).map(place),
        `a state belongs to one server: leave ${setting.join('.')} out, and each environment has its own (${defaultText}), or write a different one in each environment`,
      ),
    ];
  });
}

/** Whether two servers certainly differ. The configuration without an environment may be incomplete, so its variables prove nothing. */
function haveDifferentServers(environment: EnvironmentState, other: EnvironmentState): boolean {
  const isSure = environment.address.isLiteral && other.address.isLiteral;
  return (
    environment.address.text !== other.address.text &&
    (isSure || (environment.name !== null && other.name !== null))
  );
}

async function placeOf(
  one: EnvironmentConfig,
  root: string,
  isOneRemote: boolean,
): Promise<StatePlace | undefined> {
  const { name, config } = one;
  /** Undefined if it depends on a process variable. */
  const literal = (usual: string, ...path: string[]): string | undefined => {
    const found = textAt(one, ...path);
    return found === undefined ? usual : found.isLiteral ? found.text : undefined;
  };
  if (find(config, ['state', 'git']).complete) {
    const branch = literal(DEFAULT_BRANCH, 'state', 'git', 'branch');
    const path = literal(pathOnBranch(name, root, findWorkTree(root) ?? root), 'state', 'git', 'path');
    if (branch === undefined || path === undefined) return undefined;
    const remote = isOneRemote ? '' : await remoteAddress(root, remoteOf(one));
    return {
      id: JSON.stringify(['git', remote, branch, path]),
      shown: `${path} on the branch ${branch}`,
      setting: ['state', 'git', 'path'],
      defaultText: 'NAME.json',
    };
  }
  if (find(config, ['state', 'postgres']).complete) {
    const url = textAt(one, 'state', 'postgres', 'url')?.text;
    const row = literal(name ?? 'state', 'state', 'postgres', 'name');
    if (url === undefined || row === undefined) return undefined;
    const id = JSON.stringify(['postgres', databaseOf(url), row]);
    return { id, shown: `${row} of a database`, setting: ['state', 'postgres', 'name'], defaultText: 'NAME' };
  }
  const path = literal(defaultState(name), 'state', 'path');
  if (path === undefined) return undefined;
  return {
    id: await realPath(resolve(root, path)),
    shown: path,
    setting: ['state', 'path'],
    defaultText: defaultState('NAME'),
  };
}

function remoteOf(one: EnvironmentConfig): string {
  return textAt(one, 'state', 'git', 'remote')?.text ?? DEFAULT_REMOTE;
}

/** The address of a remote, since several names may have one address; the text itself if git knows no such remote. */
async function remoteAddress(root: string, remote: string): Promise<string> {
  const asked = await git(root, ['remote', 'get-url', '--', remote]).catch(() => undefined);
  return asked?.toString('utf8').trim() ?? remote;
}

/** A database without its user. */
function databaseOf(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === undefined) return url;
  const { hostname, port, pathname } = parsed;
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port || '5432'}${unescaped(pathname)}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function textAt(one: EnvironmentConfig, ...path: string[]): EnvironmentState['address'] | undefined {
  const node = scalarAt(one, ...path);
  if (node === undefined) return undefined;
  const { text, tainted, unknown } = one.resolve(node);
  return unknown ? { text: node.source, isLiteral: false } : { text, isLiteral: !tainted };
}

function scalarAt({ config }: EnvironmentConfig, ...path: readonly string[]): ScalarNode | undefined {
  const { node, complete } = find(config, [...path]);
  return complete && node.type === 'scalar' && typeof node.value === 'string' ? node : undefined;
}
