export { configSchema } from './config.js';
export { loadProject } from './load.js';
export type { Project, ProjectOptions, ServerOverrides, ServerSettings } from './project.js';
