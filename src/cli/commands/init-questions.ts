import { resolve } from 'node:path';
import { ProblemsError } from '../../base/problems.js';
import { checkBaseUrl, isBaseUrl } from '../../server/base-url.js';
import type { ProfileName } from '../../server/profiles.js';
import type { CiName, TokenSource } from '../../session/init/files.js';
import type { Context, GlobalOptions } from '../context.js';
import { wrongOption } from '../misuse.js';

export interface InitOptions extends GlobalOptions {
  readonly profile?: ProfileName;
  readonly tokenEnv?: string;
  readonly ci?: CiName;
  readonly yes?: boolean;
  readonly by?: 'name' | 'id';
}

/** Why a text is not the name of a variable. Never repeats the text, since it may be a token. */
function variableNameError(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'the name of a variable has only letters, digits and "_"';
  const resemblesToken = name.length > 30 && !name.includes('_') && /\d/.test(name) && /[A-Za-z]/.test(name);
  return resemblesToken
    ? 'this looks like the token itself: give the name of the variable that holds it, such as IDOPS_TOKEN'
    : undefined;
}

/** The server's address; empty if there is none yet, null if the question was aborted. */
export async function askAddress(
  { prompt }: Context,
  { baseUrl }: InitOptions,
  canAsk: boolean,
): Promise<string | null> {
  const given = baseUrl ?? process.env.IDOPS_BASE_URL ?? '';
  const check = (text: string) => checkBaseUrl(text.trim(), { allowInsecureHttp: false });
  const wrong = (text: string): string | undefined => {
    const checked = check(text);
    if (text.trim() === '' || isBaseUrl(checked)) return undefined;
    return `${checked.message}: ${checked.hint ?? ''}`;
  };
  const question = 'What is the address of the server? Leave this empty if there is none yet.';
  const typed = given === '' && canAsk ? await prompt.text(question, wrong, 'https://id.example.com') : given;
  if (typed === null || typed.trim() === '') return typed === null ? null : '';
  const checked = check(typed);
  if (isBaseUrl(checked)) return checked.href;
  throw new ProblemsError([checked]);
}

/** Where the token is; never asks for the token itself. Null if the question was aborted. */
export async function askToken(
  { prompt }: Context,
  { tokenEnv, tokenFile }: InitOptions,
  asks: boolean,
): Promise<TokenSource | null> {
  if (tokenEnv !== undefined && tokenFile !== undefined) {
    throw wrongOption("--token-env and --token-file can't be combined", 'use one of them');
  }
  if (tokenFile !== undefined) return { file: resolve(tokenFile) };
  if (tokenEnv !== undefined && variableNameError(tokenEnv) !== undefined) {
    throw wrongOption(
      '--token-env takes the name of a variable',
      'write --token-env IDOPS_TOKEN, never the token',
    );
  }
  const usual = 'IDOPS_TOKEN';
  if (tokenEnv !== undefined || !asks) return { variable: tokenEnv ?? usual };
  const question = `Which variable holds the token for the server? Leave this empty for ${usual}.`;
  const name = await prompt.text(
    question,
    (text) => (text === '' ? undefined : variableNameError(text)),
    usual,
  );
  return name === null ? null : { variable: name || usual };
}

/** The CI to write workflows for; null if the question was aborted. */
export async function askCi({ prompt }: Context, { ci }: InitOptions, asks: boolean): Promise<CiName | null> {
  if (ci !== undefined || !asks) return ci ?? 'github';
  return await prompt.select('Which CI shows and applies plans?', [
    { value: 'github', label: 'GitHub Actions' },
    { value: 'gitlab', label: 'GitLab' },
    { value: 'none', label: 'none' },
  ]);
}

/** Throws a ProblemsError for options that select a project, since init creates one. */
export function refuseProjectOptions({ config, env }: InitOptions): void {
  if (config === undefined && env === undefined) return;
  throw wrongOption(
    `init takes no ${config === undefined ? '--env' : '--config'}: it creates a new idops.yaml`,
    'remove the option and name the folder: idops init DIR',
  );
}
