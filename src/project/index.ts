export { configSchema } from './config.js';
export { configPath } from './find-config.js';
export { loadProject } from './load.js';
export type { AuthSettings, Project, ProjectOptions, ServerOverrides, ServerSettings } from './project.js';
export { DEFAULT_STATE, defaultState, type StateSettings, stateOnBranch } from './state.js';
