import { readFile } from 'node:fs/promises';
import { error, ProblemsError } from '../problems.js';

/** How a request proves who sends it. */
export interface Credentials {
  /**
   * The value of the `Authorization` header, asked for before each try, so that it may change between two.
   * Throws a `ProblemsError` where there is none that could be sent.
   */
  authorization(): Promise<string>;
}

/**
 * Credentials of one bearer token.
 * Throws a `ProblemsError` (`unusable-token`) for a token that no header can carry.
 */
export function bearerToken(token: string): Credentials {
  const authorization = bearer(token, 'the token');
  return { authorization: async () => authorization };
}

/**
 * Credentials of the bearer token in a file; white space around it doesn't count. The file is read for each
 * request, so a token that something else renews is taken up. Using them throws a `ProblemsError`:
 * `unreadable-token-file` or `unusable-token`.
 */
export function tokenFile(path: string): Credentials {
  return {
    async authorization() {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (failure) {
        const code = failure instanceof Error && 'code' in failure ? String(failure.code) : 'unknown error';
        throw new ProblemsError([
          error(
            'unreadable-token-file',
            code === 'ENOENT'
              ? `the token file ${path} does not exist`
              : `the token file ${path} can't be read (${code})`,
          ),
        ]);
      }
      return bearer(text.trim(), `the token in ${path}`);
    },
  };
}

function bearer(token: string, noun: string): string {
  const wrong = wrongInToken(token);
  if (wrong === null) return `Bearer ${token}`;
  throw new ProblemsError([
    error(
      'unusable-token',
      `${noun} ${wrong}`,
      [],
      'give the token alone, without "Bearer" and without quotes',
    ),
  ]);
}

/** Names what is wrong and never the token: even a broken one may be nearly the right one. */
function wrongInToken(token: string): string | null {
  if (token === '') return 'is empty';
  if (/[\r\n]/.test(token)) return 'has a line break in it';
  if (/\s/.test(token)) return 'has white space in it';
  if (/[^\x21-\x7e]/.test(token)) return 'has characters in it that are not visible ASCII';
  return null;
}
