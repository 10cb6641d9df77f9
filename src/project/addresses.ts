import type { Place, Problem } from '../base/problems.js';
import { checkBaseUrl, isBaseUrl } from '../server/base-url.js';
import { find, type ScalarNode } from '../yaml/tree.js';
import type { ConfigLayer } from './guarded.js';

const addresses = [
  { path: ['base_url'], what: 'the base URL' },
  { path: ['auth', 'client_credentials', 'token_url'], what: 'the token address' },
] as const;

/**
 * What is wrong with the addresses that a configuration says in plain words; what a process variable has a part in is judged
 * where it is used.
 */
export function addressProblems(
  layers: readonly ConfigLayer[],
  place: (node: ScalarNode) => Place,
): Problem[] {
  const found = new Map<string, Problem>();
  for (const { config, literal } of layers) {
    const allows = find(config, ['server', 'allow_insecure_http']);
    // A variable may say yes.
    const allowInsecureHttp = allows.complete && allows.node.type === 'scalar' && allows.node.value !== false;
    for (const { path, what } of addresses) {
      const { node, complete } = find(config, ['server', ...path]);
      const text = complete && node.type === 'scalar' ? literal(node) : undefined;
      if (text === undefined || node.type !== 'scalar') continue;
      const checked = checkBaseUrl(text, { allowInsecureHttp, what, places: [place(node)] });
      if (!isBaseUrl(checked)) found.set(`${checked.code} ${node.range.start}`, checked);
    }
  }
  return [...found.values()];
}
