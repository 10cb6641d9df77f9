import { conforms } from '../backends.js';
import { inFiles } from './place.js';

conforms('file backend', () => inFiles());
