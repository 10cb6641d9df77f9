import { resolve as resolvePath } from 'node:path';
import { BadVariable, parseVariables, type VariableText } from '../yaml/interpolation.js';
import { find, type Node, type ScalarNode } from '../yaml/tree.js';
import type { EnvironmentConfig } from './layers.js';
import { defaultState } from './state.js';

/** What no manifest may read: a manifest could send it to a server. */
export interface PrivateInputs {
  /** The variables that the credentials of any environment use. */
  readonly variables: ReadonlySet<string>;
  /** The configuration, and the credential files of all environments; absolute. */
  readonly files: readonly string[];
  /** The state files of all environments; absolute. */
  readonly states: readonly string[];
}

/** The private inputs of all environments. */
export function privateInputs(environments: readonly EnvironmentConfig[], root: string): PrivateInputs {
  const files = new Set<string>();
  const states = new Set<string>();
  const variables = new Set(['IDOPS_TOKEN']);
  for (const { name, config, resolve } of environments) {
    const texts = (node: Node): string[] =>
      scalarsOf(node).flatMap((scalar) => {
        const { text, unknown } = resolve(scalar);
        return unknown || text === '' ? [] : [text];
      });
    for (const section of [
      ['server', 'auth'],
      ['server', 'tls'],
      ['state', 'postgres'],
    ]) {
      const { node, complete } = find(config, section);
      if (!complete) continue;
      for (const scalar of scalarsOf(node)) for (const one of namesIn(scalar)) variables.add(one);
      for (const one of scalarsIn(node, 'pass_env').flatMap(texts)) variables.add(one);
      const given = scalarsIn(node, 'token_command').flatMap(texts).flatMap(filesIn);
      for (const file of [...fileNodes(node).flatMap(texts), ...given]) files.add(resolvePath(root, file));
    }
    // The URL of a remote may contain a credential.
    const remote = find(config, ['state', 'git', 'remote']);
    if (remote.complete && remote.node.type === 'scalar')
      for (const one of namesIn(remote.node)) variables.add(one);
    const state = find(config, ['state', 'path']);
    const [path = defaultState(name)] = state.complete ? texts(state.node) : [];
    states.add(resolvePath(root, path));
  }
  // A member of `vars` that a credential uses may itself use variables. The loop also visits the names that it adds.
  for (const name of variables) {
    for (const { config } of environments) {
      const { node, complete } = find(config, ['vars', name]);
      if (complete && node.type === 'scalar') for (const one of namesIn(node)) variables.add(one);
    }
  }
  return { variables, files: [...files], states: [...states] };
}

/** The values of the keys that name files. */
function fileNodes(node: Node): Node[] {
  if (node.type !== 'map') return [];
  return [...node.entries].flatMap(([key, { value }]) =>
    key.endsWith('_file') ? [value] : fileNodes(value),
  );
}

/** Possible file names in an argument of a command: the argument, the part after "=", "@" or ":", and each word of a script. */
function filesIn(argument: string): string[] {
  const behind = [...argument.matchAll(/[=@:]/g)].map(({ index }) => argument.slice(index + 1));
  return [argument, ...behind, ...argument.split(/[\s"'`=@:,;|&<>()]+/)].filter((part) => part !== '');
}

/** The scalars in a member of a map. */
function scalarsIn(node: Node, name: string): ScalarNode[] {
  const member = node.type === 'map' ? node.entries.get(name)?.value : undefined;
  return member === undefined ? [] : scalarsOf(member);
}

function scalarsOf(node: Node): ScalarNode[] {
  if (node.type === 'scalar') return [node];
  if (node.type === 'list') return node.items.flatMap(scalarsOf);
  return [...node.entries.values()].flatMap(({ value }) => scalarsOf(value));
}

function namesIn({ value }: ScalarNode): string[] {
  if (typeof value !== 'string' || !value.includes('$')) return [];
  try {
    return namesOf(parseVariables(value));
  } catch (failure) {
    // The error is reported when the value is resolved.
    if (failure instanceof BadVariable) return [];
    throw failure;
  }
}

function namesOf(template: VariableText): string[] {
  return template.flatMap((part) =>
    typeof part === 'string' ? [] : [part.name, ...namesOf(part.fallback ?? [])],
  );
}
