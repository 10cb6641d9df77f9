import { posix, relative, resolve, sep } from 'node:path';
import { git } from '../base/git.js';
import { findWorkTree, realPath } from '../base/paths.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { some } from '../mail/words.js';
import { find, type MapNode, type ScalarNode } from '../yaml/tree.js';
import { DEFAULT_BRANCH, DEFAULT_REMOTE, defaultState, stateOnBranch } from './state.js';

/** An environment of a configuration; null is the configuration without one. */
export interface Environment {
  readonly name: string | null;
  readonly config: MapNode;
  /** A scalar with its members of `vars` filled in; `isLiteral` if no process variable has a part in it. */
  written(node: ScalarNode): { readonly text: string; readonly isLiteral: boolean };
}

/** A place of a state, equal for two environments if they share it. */
interface Home {
  readonly id: string;
  readonly shown: string;
  /** The setting that tells it from the states of other environments. */
  readonly setting: readonly string[];
  readonly usual: string;
}

interface Known extends Environment {
  readonly home: Home;
  readonly address: { readonly text: string; readonly isLiteral: boolean };
}

/** Environments with different servers that share one state. No process variable is resolved: an unknown path or name isn't compared. */
export async function sharedStates(
  environments: readonly Environment[],
  root: string,
  place: (node: ScalarNode) => Place,
): Promise<Problem[]> {
  const byHome = new Map<string, Known[]>();
  // One remote has one address; only of several, some may be the same.
  const isOneRemote = new Set(environments.map(remoteOf)).size === 1;
  for (const one of environments) {
    const address = textAt(one, 'server', 'base_url');
    const home = await homeOf(one, root, isOneRemote);
    if (address === undefined || home === undefined) continue;
    byHome.set(home.id, [...(byHome.get(home.id) ?? []), { ...one, address: normal(address), home }]);
  }
  return [...byHome.values()].flatMap((sharing) => {
    const apart = sharing.filter((one) => sharing.some((other) => differ(one, other)));
    const last = apart.at(-1);
    if (last === undefined) return [];
    const { shown, setting, usual } = last.home;
    const nodes = [setting, ['server', 'base_url']].flatMap((path) => scalarAt(last, ...path) ?? []);
    const names = apart.flatMap(({ name }) => name ?? []);
    const who = [...(apart.some(({ name }) => name === null) ? ['the configuration without --env'] : [])];
    return [
      error(
        'shared-state',
        `different servers share the state ${shown}: ${[...who, `${names.length === 1 ? 'environment' : 'environments'} ${some(names)}`].join(' and ')}`,
        nodes.slice(0, 1).map(place),
        `a state belongs to one server: leave ${setting.join('.')} out, and each environment has its own (${usual}), or write a different one in each environment`,
      ),
    ];
  });
}

/** Whether two servers are surely not one. The shared part may be an incomplete configuration, whose variables nobody sets. */
function differ(one: Known, other: Known): boolean {
  const isSure = one.address.isLiteral && other.address.isLiteral;
  return one.address.text !== other.address.text && (isSure || (one.name !== null && other.name !== null));
}

function normal({ text, isLiteral }: Known['address']): Known['address'] {
  return { text: URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text, isLiteral };
}

async function homeOf(one: Environment, root: string, isOneRemote: boolean): Promise<Home | undefined> {
  const { name, config } = one;
  /** Undefined if only the process knows it. */
  const literal = (usual: string, ...path: string[]): string | undefined => {
    const found = textAt(one, ...path);
    return found === undefined ? usual : found.isLiteral ? found.text : undefined;
  };
  const setting = (...path: string[]) => ['state', ...path];
  if (find(config, ['state', 'git']).complete) {
    const branch = literal(DEFAULT_BRANCH, 'state', 'git', 'branch');
    const below = relative(findWorkTree(root) ?? root, root)
      .split(sep)
      .join('/');
    const path = literal(posix.join(below, stateOnBranch(name)), 'state', 'git', 'path');
    if (branch === undefined || path === undefined) return undefined;
    const id = JSON.stringify([
      'git',
      isOneRemote ? '' : await remoteAddress(root, remoteOf(one)),
      branch,
      path,
    ]);
    return {
      id,
      shown: `${path} on the branch ${branch}`,
      setting: setting('git', 'path'),
      usual: 'NAME.json',
    };
  }
  if (find(config, ['state', 'postgres']).complete) {
    const url = textAt(one, 'state', 'postgres', 'url')?.text;
    const row = literal(name ?? 'state', 'state', 'postgres', 'name');
    if (url === undefined || row === undefined) return undefined;
    const id = JSON.stringify(['postgres', databaseOf(url), row]);
    return { id, shown: `${row} of a database`, setting: setting('postgres', 'name'), usual: 'NAME' };
  }
  const path = literal(defaultState(name), 'state', 'path');
  if (path === undefined) return undefined;
  return {
    id: await realPath(resolve(root, path)),
    shown: path,
    setting: setting('path'),
    usual: defaultState('NAME'),
  };
}

function remoteOf(one: Environment): string {
  return textAt(one, 'state', 'git', 'remote')?.text ?? DEFAULT_REMOTE;
}

/** The address of a remote, which several names may have; the text itself if git knows no such name. */
async function remoteAddress(root: string, remote: string): Promise<string> {
  const asked = await git(root, ['remote', 'get-url', '--', remote]).catch(() => undefined);
  return asked?.toString('utf8').trim() ?? remote;
}

/** A database without who signs in. */
function databaseOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port || '5432'}${unescaped(pathname)}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function textAt(one: Environment, ...path: string[]): Known['address'] | undefined {
  const node = scalarAt(one, ...path);
  return node === undefined ? undefined : one.written(node);
}

function scalarAt({ config }: Environment, ...path: readonly string[]): ScalarNode | undefined {
  const { node, complete } = find(config, [...path]);
  return complete && node.type === 'scalar' && typeof node.value === 'string' ? node : undefined;
}
