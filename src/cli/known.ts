import { readFileSync } from 'node:fs';
import { withFile } from '../base/read-file.js';
import { type ResettableRedactor, resettableRedactor } from '../secrets/redactor.js';

/** More than any token has. */
const mostBytes = 64 * 1024;

/** A redactor that knows the tokens that a command line and its variables give, before anything is said of either. */
export function knownAtStart(
  argv: readonly string[],
  variables: { readonly [name: string]: string | undefined },
): ResettableRedactor {
  const file = argv.flatMap((word, index) =>
    word === '--token-file'
      ? argv.slice(index + 1, index + 2)
      : word.startsWith('--token-file=')
        ? [word.slice(word.indexOf('=') + 1)]
        : [],
  );
  const tokens = [variables.IDOPS_TOKEN, ...file.map(contentOf)].map((token = '') => token.trim());
  return resettableRedactor(tokens.filter((token) => token !== ''));
}

/** What a token file holds; what is wrong with it is told where it is used. */
function contentOf(path: string): string | undefined {
  try {
    // Not a pipe: it gives its token only once.
    return withFile(path, (file, { size }) => (size <= mostBytes ? readFileSync(file, 'utf8') : undefined));
  } catch {
    return undefined;
  }
}
