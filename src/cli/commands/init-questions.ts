import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { error, ProblemsError } from '../../base/problems.js';
import { checkBaseUrl, isBaseUrl } from '../../server/base-url.js';
import type { ProfileName } from '../../server/profiles.js';
import type { CiName, TokenSource } from '../../session/init/choices.js';
import type { Context, GlobalOptions } from '../context.js';

export interface InitOptions {
  readonly profile?: ProfileName;
  readonly tokenEnv?: string;
  readonly ci?: CiName;
  readonly yes?: boolean;
}

type Options = InitOptions & GlobalOptions;

/** There is no configuration yet that could allow it. */
const noConfigYet =
  'use https; if the network is trusted, begin the project without an address, and write base_url and "allow_insecure_http: true" under server of its idops.yaml then';

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A token that is pasted in the place of a name: it must not get into a file, nor be shown. */
function resemblesToken(name: string): boolean {
  return name.length > 30 && !name.includes('_') && /\d/.test(name) && /[A-Za-z]/.test(name);
}

/** What is wrong with the name of a variable, without the name. */
function wrongInName(name: string): string | undefined {
  if (!variableName.test(name)) return 'the name of a variable has letters, digits and "_" alone';
  return resemblesToken(name)
    ? 'this looks like the token itself: give the name of the variable that holds it, such as IDOPS_TOKEN'
    : undefined;
}

/** The server's address, checked; empty where it isn't known, null where the question is aborted. */
export async function askAddress(
  { prompt }: Context,
  options: Options,
  asks: boolean,
): Promise<string | null> {
  const given = options.baseUrl ?? process.env.IDOPS_BASE_URL ?? '';
  if (given === '' && !asks) return '';
  const wrong = (text: string): string | undefined => {
    const checked = text.trim() === '' ? undefined : checkBaseUrl(text.trim(), { allowInsecureHttp: false });
    return checked === undefined || isBaseUrl(checked)
      ? undefined
      : `${checked.message}: ${checked.hint ?? ''}`;
  };
  const typed =
    given === ''
      ? await prompt.text(
          'Where is the server? Leave this empty where there is none yet.',
          wrong,
          'https://id.example.com',
        )
      : given;
  if (typed === null || typed.trim() === '') return typed === null ? null : '';
  const checked = checkBaseUrl(typed.trim(), { allowInsecureHttp: false });
  if (isBaseUrl(checked)) return checked.href;
  throw new ProblemsError([checked.code === 'insecure-http' ? { ...checked, hint: noConfigYet } : checked]);
}

/** Where the token comes from; null where a question is aborted. The token itself is never typed. */
export async function askToken(
  { prompt }: Context,
  options: Options,
  asks: boolean,
): Promise<TokenSource | null> {
  const { tokenEnv, tokenFile } = options;
  if (tokenEnv !== undefined && tokenFile !== undefined) {
    throw wrongOption('--token-env and --token-file say two things', 'give one of them');
  }
  if (tokenFile !== undefined) return { file: resolve(tokenFile) };
  if (tokenEnv !== undefined) {
    if (wrongInName(tokenEnv) !== undefined) {
      throw wrongOption(
        '--token-env takes the name of a variable',
        'write --token-env IDOPS_TOKEN, never the token',
      );
    }
    return { variable: tokenEnv };
  }
  const usual = { variable: 'IDOPS_TOKEN' };
  if (!asks) return usual;
  const isSet = (process.env.IDOPS_TOKEN ?? '') !== '';
  const way = await prompt.select('Where does the token for the server come from?', [
    { value: 'usual', label: 'the variable IDOPS_TOKEN', hint: isSet ? 'it is set' : 'it is not set now' },
    { value: 'variable', label: 'another variable' },
    { value: 'file', label: 'a file' },
  ]);
  if (way === null) return null;
  if (way === 'usual') return usual;
  if (way === 'variable') {
    const name = await prompt.text('What is it called?', wrongInName);
    return name === null ? null : { variable: name };
  }
  const file = await prompt.text('Which file?', (text) =>
    existsSync(text) ? undefined : 'there is no such file',
  );
  return file === null ? null : { file: resolve(file) };
}

/** Whose workflows are written; null where the question is aborted. */
export async function askCi({ prompt }: Context, { ci }: Options, asks: boolean): Promise<CiName | null> {
  if (ci !== undefined || !asks) return ci ?? 'github';
  return await prompt.select('Which CI shows plans, and applies what was approved?', [
    { value: 'github', label: 'GitHub Actions' },
    { value: 'gitlab', label: 'GitLab' },
    { value: 'none', label: 'none' },
  ]);
}

/** Options that say which project is meant have no part in beginning one, and a folder must be one that can be named. */
export function checkInit({ config, env }: Options, folder: string): void {
  if (config !== undefined || env !== undefined) {
    throw wrongOption(
      `init takes no ${config === undefined ? '--env' : '--config'}: it begins a project with an idops.yaml of its own`,
      'leave it away, and name the folder: idops init DIR',
    );
  }
  const why =
    folder.trim() === ''
      ? 'it is empty'
      : /\p{Cc}/u.test(folder)
        ? 'it has a line break or another control character in it'
        : folder.startsWith('-')
          ? 'it begins with "-", so that most commands take it for an option'
          : undefined;
  if (why !== undefined)
    throw wrongOption(`the folder can't be named so: ${why}`, 'name another, such as ./acme');
}

function wrongOption(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-option', message, [], hint)]);
}
