import { races } from '../races.js';
import { inFiles } from './place.js';

races('in a file', () => inFiles());
