import type { Place, Problem } from '../base/problems.js';
import { type AddressUse, checkBaseUrl, isBaseUrl } from '../server/base-url.js';
import { find, type ScalarNode } from '../source/tree.js';
import type { ConfigLayer } from './guarded.js';

const addresses = [
  { path: ['base_url'], what: 'the base URL' },
  { path: ['auth', 'client_credentials', 'token_url'], what: 'the token address' },
] as const;

/** What a variable in an address may give: each part of one that there is, and such that what stands around it makes a right one. */
const given = [
  'id.example.com',
  'https://id.example.com',
  'https',
  's',
  '//id.example.com',
  '',
  '/',
  'x',
  '1',
  '0.0',
  '0.0.1',
  '::1',
  'localhost',
] as const;

/** With more variables than this an address may be anything. */
const MOST_VARIABLES = 3;

/**
 * What is wrong with the addresses that a configuration says in plain words, whatever the variables in them hold; what a process
 * variable gives is judged where it is used.
 */
export function addressProblems(
  layers: readonly ConfigLayer[],
  place: (node: ScalarNode) => Place,
): Problem[] {
  const found = new Map<string, Problem>();
  for (const { config, parts } of layers) {
    const allows = find(config, ['server', 'allow_insecure_http']);
    // A variable may say yes.
    const allowInsecureHttp = allows.complete && allows.node.type === 'scalar' && allows.node.value !== false;
    for (const { path, what } of addresses) {
      const { node, complete } = find(config, ['server', ...path]);
      const written = complete && node.type === 'scalar' ? parts(node) : undefined;
      if (written === undefined || node.type !== 'scalar') continue;
      const wrong = wrongIn(written, { allowInsecureHttp, what, places: [place(node)] });
      if (wrong !== undefined) found.set(`${wrong.code} ${node.range.start}`, wrong);
    }
  }
  return [...found.values()];
}

/** What is wrong with an address whatever stands in its gaps, in the words that fit a host there. */
function wrongIn(parts: readonly (string | null)[], use: AddressUse): Problem | undefined {
  const gaps = parts.filter((part) => part === null).length;
  if (gaps > MOST_VARIABLES) return undefined;
  let wrong: Problem | undefined;
  for (const text of filled(parts)) {
    const checked = checkBaseUrl(text, use);
    if (isBaseUrl(checked)) return undefined;
    wrong ??= checked;
  }
  return wrong;
}

/** The texts that these parts may make, the one with a host in each gap first. */
function* filled(parts: readonly (string | null)[], before = ''): Generator<string> {
  const [part, ...rest] = parts;
  if (part === undefined) yield before;
  else
    for (const text of part === null ? [...given, ...rests(before)] : [part])
      yield* filled(rest, before + text);
}

/** What may be missing of an address that breaks off within its scheme. */
function rests(before: string): string[] {
  return /^h[a-z]*$/.test(before)
    ? ['https://id.example.com', 'http://localhost'].flatMap((whole) =>
        whole.startsWith(before) ? [whole.slice(before.length)] : [],
      )
    : [];
}
