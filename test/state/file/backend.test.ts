import { conforms } from '../backends.js';
import { inFiles } from './place.js';

conforms('in a file', () => inFiles());
