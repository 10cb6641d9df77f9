export { configSchema } from './config.js';
export { configPath, loadProject } from './load.js';
export type { AuthSettings, Project, ProjectOptions, ServerOverrides, ServerSettings } from './project.js';
export { DEFAULT_STATE, defaultState, type StateSettings, stateOnBranch } from './state.js';
