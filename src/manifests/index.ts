export { type LoadedManifests, loadManifests, type ManifestOptions, tellSecrets } from './load.js';
export { pruneRefusals } from './prune.js';
