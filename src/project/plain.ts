import { ProblemsError } from '../base/problems.js';
import { sourceOf } from '../source/file.js';
import { BadVariable, parseVariables, type VariableText } from '../source/template.js';
import { find, type MapNode, type Node } from '../source/tree.js';
import { readConfig } from './layers.js';

/** Where a configuration has what is secret itself. */
const secretPaths = [
  ['server', 'auth', 'token'],
  ['server', 'auth', 'client_credentials', 'client_secret'],
  ['server', 'auth', 'header', 'value'],
  ['state', 'git', 'remote'],
  ['state', 'postgres', 'url'],
];

/** Whether a text that stands in such a place is no secret after all: an address has one only where a password is in it. */
const isOpen = (path: readonly string[], text: string): boolean =>
  path[0] === 'state' && !/^[^/]*:\/\/[^/@]*:[^/@]+@|[?&]password=./.test(text);

/** What the configurations of all environments say in plain words that should be a variable, such as `server.auth.token`. */
export function plainCredentials(configs: readonly MapNode[]): string[] {
  const found = configs.flatMap((config) =>
    secretPaths.flatMap((path) => {
      const { node, complete } = find(config, path);
      if (!complete || (node.type === 'scalar' && isOpen(path, String(node.value)))) return [];
      return plainPlaces(node, path.join('.'), config, new Map());
    }),
  );
  return [...new Set(found)];
}

/** The same of a configuration as a text; nothing of one that is none. */
export function plainCredentialsIn(text: string): string[] {
  try {
    return plainCredentials(readConfig(sourceOf({ file: 'configuration' }, text), null).all());
  } catch (failure) {
    if (failure instanceof ProblemsError) return [];
    throw failure;
  }
}

/** What was found of the members of `vars`, each of which may be named many times. */
type Known = Map<string, string[]>;

function plainPlaces(node: Node, name: string, config: MapNode, known: Known): string[] {
  if (node.type !== 'scalar' || node.value === null || node.value === '') return [];
  if (typeof node.value !== 'string') return [name];
  try {
    return placesOf(parseVariables(node.value), name, config, known);
  } catch (failure) {
    // What is wrong with it is told where it is needed.
    if (failure instanceof BadVariable) return [];
    throw failure;
  }
}

/** What stands beside a process variable, as "Bearer" does, is no secret; what stands in its place is one. */
function placesOf(template: VariableText, name: string, config: MapNode, known: Known): string[] {
  const references = template.flatMap((part) => (typeof part === 'string' ? [] : [part]));
  if (references.length === 0) return template.length === 0 ? [] : [name];
  const fallen = name.startsWith(DEFAULT) ? name : `${DEFAULT}${name}`;
  const defaults = references.flatMap(({ fallback = [] }) => placesOf(fallback, fallen, config, known));
  const members = references.map(({ name: variable }) => memberPlaces(variable, config, known));
  const isAllPlain = members.every((places) => places.length > 0);
  return [...new Set([...defaults, ...(isAllPlain ? members.flat() : [])])];
}

const DEFAULT = 'the default of ';

function memberPlaces(variable: string, config: MapNode, known: Known): string[] {
  const told = known.get(variable);
  if (told !== undefined) return told;
  // One that is made of itself is found to be nothing.
  known.set(variable, []);
  const { node, complete } = find(config, ['vars', variable]);
  const places = complete ? plainPlaces(node, `vars.${variable}`, config, known) : [];
  known.set(variable, places);
  return places;
}
