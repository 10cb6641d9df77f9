import { resolve } from 'node:path';
import { error, ProblemsError } from '../../base/problems.js';
import { checkBaseUrl, isBaseUrl } from '../../server/base-url.js';
import type { ProfileName } from '../../server/profiles.js';
import type { CiName, TokenSource } from '../../session/init/files.js';
import type { Context, GlobalOptions } from '../context.js';

export interface InitOptions extends GlobalOptions {
  readonly profile?: ProfileName;
  readonly tokenEnv?: string;
  readonly ci?: CiName;
  readonly yes?: boolean;
}

/** What is wrong with the name of a variable, without the name. */
function wrongInName(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'the name of a variable has letters, digits and "_" alone';
  // A token that is pasted in the place of a name must not get into a file, nor be shown.
  const resemblesToken = name.length > 30 && !name.includes('_') && /\d/.test(name) && /[A-Za-z]/.test(name);
  return resemblesToken
    ? 'this looks like the token itself: give the name of the variable that holds it, such as IDOPS_TOKEN'
    : undefined;
}

/** The server's address, checked; empty where it isn't known, null where the question is aborted. */
export async function askAddress(
  { prompt }: Context,
  { baseUrl }: InitOptions,
  asks: boolean,
): Promise<string | null> {
  const given = baseUrl ?? process.env.IDOPS_BASE_URL ?? '';
  const check = (text: string) => checkBaseUrl(text.trim(), { allowInsecureHttp: false });
  const wrong = (text: string): string | undefined => {
    const checked = check(text);
    if (text.trim() === '' || isBaseUrl(checked)) return undefined;
    return `${checked.message}: ${checked.hint ?? ''}`;
  };
  const question = 'Where is the server? Leave this empty where there is none yet.';
  const typed = given === '' && asks ? await prompt.text(question, wrong, 'https://id.example.com') : given;
  if (typed === null || typed.trim() === '') return typed === null ? null : '';
  const checked = check(typed);
  if (isBaseUrl(checked)) return checked.href;
  throw new ProblemsError([checked]);
}

/** Where the token comes from; null where the question is aborted. The token itself is never typed. */
export async function askToken(
  { prompt }: Context,
  { tokenEnv, tokenFile }: InitOptions,
  asks: boolean,
): Promise<TokenSource | null> {
  if (tokenEnv !== undefined && tokenFile !== undefined) {
    throw wrongOption('--token-env and --token-file say two things', 'give one of them');
  }
  if (tokenFile !== undefined) return { file: resolve(tokenFile) };
  if (tokenEnv !== undefined && wrongInName(tokenEnv) !== undefined) {
    throw wrongOption(
      '--token-env takes the name of a variable',
      'write --token-env IDOPS_TOKEN, never the token',
    );
  }
  const usual = 'IDOPS_TOKEN';
  if (tokenEnv !== undefined || !asks) return { variable: tokenEnv ?? usual };
  const question = `Which variable holds the token for the server? Leave this empty for ${usual}.`;
  const name = await prompt.text(question, (text) => (text === '' ? undefined : wrongInName(text)), usual);
  return name === null ? null : { variable: name || usual };
}

/** Whose workflows are written; null where the question is aborted. */
export async function askCi({ prompt }: Context, { ci }: InitOptions, asks: boolean): Promise<CiName | null> {
  if (ci !== undefined || !asks) return ci ?? 'github';
  return await prompt.select('Which CI shows plans, and applies what was approved?', [
    { value: 'github', label: 'GitHub Actions' },
    { value: 'gitlab', label: 'GitLab' },
    { value: 'none', label: 'none' },
  ]);
}

/** Throws where an option says which project is meant: init begins one. */
export function refuseProject({ config, env }: InitOptions): void {
  if (config === undefined && env === undefined) return;
  throw wrongOption(
    `init takes no ${config === undefined ? '--env' : '--config'}: it begins a project with an idops.yaml of its own`,
    'leave it away, and name the folder: idops init DIR',
  );
}

function wrongOption(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-option', message, [], hint)]);
}
