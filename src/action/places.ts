import { relative, resolve, sep } from 'node:path';
import type { WorkflowEvent } from './event.js';
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
export function configOf(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return resolve(folderOf(inputs), inputs.config ?? (process.env.IDOPS_CONFIG || 'idops.yaml'));
}

/** The same from the workspace, where the repository is. */
export function configInRepository(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return relative(workspace(), configOf(inputs)).split(sep).join('/');
}

/** The environment that is meant; null for none. */
export function environmentOf({ environment }: Pick<Inputs, 'environment'>): string | null {
  return environment ?? (process.env.IDOPS_ENV || null);
}

/** The project, environment and shard that comments are found again by. */
export function commentKey(
  inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard'>,
  environment: string | null,
): string {
  return markerKey(configInRepository(inputs), environment ?? environmentOf(inputs), inputs.shard);
}

/** The address of the attempt of a run, whose page shows the summaries of its steps. */
export function runAddress({ runUrl }: Pick<WorkflowEvent, 'runUrl'>): string {
  const attempt = process.env.GITHUB_RUN_ATTEMPT ?? '';
  return encodeURI(/^\d+$/.test(attempt) ? `${runUrl}/attempts/${attempt}` : runUrl);
}
