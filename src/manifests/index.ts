export { type LoadedManifests, loadManifests } from './load.js';
