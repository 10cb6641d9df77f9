export { configSchema } from './config.js';
export { configPath, type ProjectOptions } from './find-config.js';
export type { PrivateInputs } from './private-inputs.js';
export { loadProject, type Project } from './project.js';
export type { AuthSettings, ServerOverrides, ServerSettings } from './server.js';
export { DEFAULT_STATE, defaultState, pathOnBranch, type StateSettings } from './state.js';
