export { type LoadedManifests, loadManifests, type ManifestOptions } from './load.js';
export { pruneRefusals } from './prune.js';
