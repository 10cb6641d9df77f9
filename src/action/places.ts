import { relative, resolve, sep } from 'node:path';
import type { Inputs } from './inputs.js';
import { markerKey } from './marker.js';

function workspace(): string {
  return process.env.GITHUB_WORKSPACE || process.cwd();
}

/** The process's variables, without what the runner put there for the action alone. */
export function variablesOf(token: string | undefined): { readonly [name: string]: string | undefined } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('INPUT_'));
  return { ...Object.fromEntries(own), ...(token === undefined ? {} : { IDOPS_TOKEN: token }) };
}

/** The folder that the step works in. */
export function folderOf({ workingDirectory }: Pick<Inputs, 'workingDirectory'>): string {
  return resolve(workspace(), workingDirectory);
}

/** The folder as the repository has it; empty where it lies outside. */
export function folderInRepository(inputs: Inputs): string {
  const folder = relative(workspace(), folderOf(inputs)).split(sep).join('/');
  return folder.startsWith('..') ? '' : folder;
}

/** The project's configuration. */
export function configOf(inputs: Inputs): string {
  return resolve(folderOf(inputs), inputs.config ?? (process.env.IDOPS_CONFIG || 'idops.yaml'));
}

/** The project and environment that comments are found again by. */
export function commentKey(inputs: Inputs, environment: string | null): string {
  const name = environment ?? inputs.environment ?? (process.env.IDOPS_ENV || null);
  return markerKey(relative(workspace(), configOf(inputs)).split(sep).join('/'), name);
}
