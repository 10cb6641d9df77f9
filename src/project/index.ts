export { configSchema } from './config.js';
export { loadProject } from './load.js';
export type { AuthSettings, Project, ProjectOptions, ServerOverrides, ServerSettings } from './project.js';
