import { environmentMark } from './environments.js';
import type { Inputs } from './inputs.js';

/** The inputs for each environment, as if it were asked for alone. */
export function eachEnvironment(inputs: Inputs): Inputs[] {
  if (inputs.environments.length === 0) return [inputs];
  const { token: _token, baseUrl: _baseUrl, planFile, ...rest } = inputs;
  return inputs.environments.map(({ name, ...own }) => ({
    ...rest,
    ...own,
    environment: name,
    environments: [],
    ...(planFile === undefined ? {} : { planFile: planFile.replaceAll(environmentMark, name) }),
  }));
}
