import { relative, resolve, sep } from 'node:path';
import type { WorkflowEvent } from './event.js';
import type { Inputs } from './inputs.js';
import { markerKey } from './marker.js';

function workspace(): string {
  return process.env.GITHUB_WORKSPACE || process.cwd();
}

/** The process's variables, without the inputs of the action. */
export function variablesOf(token: string | undefined): { readonly [name: string]: string | undefined } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('INPUT_'));
  return { ...Object.fromEntries(own), ...(token === undefined ? {} : { IDOPS_TOKEN: token }) };
}

/** The working directory of the step. */
export function folderOf({ workingDirectory }: Pick<Inputs, 'workingDirectory'>): string {
  return resolve(workspace(), workingDirectory);
}

/** The same relative to the repository; empty if it is outside. */
export function folderInRepository(inputs: Inputs): string {
  const folder = relative(workspace(), folderOf(inputs)).split(sep).join('/');
  return folder.startsWith('..') ? '' : folder;
}

/** The project's configuration. */
export function configOf(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return resolve(folderOf(inputs), inputs.config ?? (process.env.IDOPS_CONFIG || 'idops.yaml'));
}

/** The same relative to the workspace. */
export function configInRepository(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return relative(workspace(), configOf(inputs)).split(sep).join('/');
}

/** The chosen environment; null for none. */
export function environmentOf({ environment }: Pick<Inputs, 'environment'>): string | null {
  return environment ?? (process.env.IDOPS_ENV || null);
}

/** The key of the comments of a project, environment and shard. */
export function commentKey(
  inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard'>,
  environment: string | null,
): string {
  return markerKey(configInRepository(inputs), environment ?? environmentOf(inputs), inputs.shard);
}

/** The address of this attempt of the run; its page shows the step summaries. */
export function runAddress({ runUrl }: Pick<WorkflowEvent, 'runUrl'>): string {
  const attempt = process.env.GITHUB_RUN_ATTEMPT ?? '';
  return encodeURI(/^\d+$/.test(attempt) ? `${runUrl}/attempts/${attempt}` : runUrl);
}
