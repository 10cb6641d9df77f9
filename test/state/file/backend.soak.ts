import { races } from '../races.js';
import { inFiles } from './place.js';

races('file backend', () => inFiles());
