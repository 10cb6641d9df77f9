import { relative, resolve, sep } from 'node:path';
import type { WorkflowEvent } from './event.js';
import type { Inputs } from './inputs.js';
import { markerKey } from './marker.js';

function workspace(): string {
  return process.env.GITHUB_WORKSPACE || process.cwd();
}

/** The variables of the process, without the inputs of the action. */
export function processVariables(token: string | undefined): { readonly [name: string]: string | undefined } {
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('INPUT_'));
  return { ...Object.fromEntries(variables), ...(token === undefined ? {} : { IDOPS_TOKEN: token }) };
}

/** The working directory of the step. */
export function workingFolder({ workingDirectory }: Pick<Inputs, 'workingDirectory'>): string {
  return resolve(workspace(), workingDirectory);
}

/** The working directory relative to the repository; empty if it is outside. */
export function folderInRepository(inputs: Inputs): string {
  const folder = relative(workspace(), workingFolder(inputs)).split(sep).join('/');
  return folder.startsWith('..') ? '' : folder;
}

/** The path of the configuration. */
export function configPath(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return resolve(workingFolder(inputs), inputs.config ?? (process.env.IDOPS_CONFIG || 'idops.yaml'));
}

/** The path of the configuration relative to the repository. */
export function configInRepository(inputs: Pick<Inputs, 'config' | 'workingDirectory'>): string {
  return relative(workspace(), configPath(inputs)).split(sep).join('/');
}

/** The chosen environment; null if none is chosen. */
export function chosenEnvironment({ environment }: Pick<Inputs, 'environment'>): string | null {
  return environment ?? (process.env.IDOPS_ENV || null);
}

/** The marker key of the project, environment and shard. */
export function commentKey(
  inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard'>,
  environment: string | null,
): string {
  return markerKey(configInRepository(inputs), environment ?? chosenEnvironment(inputs), inputs.shard);
}

/** The address of this attempt of the run; its page shows the step summaries. */
export function attemptUrl({ runUrl }: Pick<WorkflowEvent, 'runUrl'>): string {
  const attempt = process.env.GITHUB_RUN_ATTEMPT ?? '';
  return encodeURI(/^\d+$/.test(attempt) ? `${runUrl}/attempts/${attempt}` : runUrl);
}
