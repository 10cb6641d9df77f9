import fc from 'fast-check';
import { afterEach } from 'vitest';
import { cleanUp } from './cleanups.js';
import { seed } from './often.js';

fc.configureGlobal({ seed });

// Registered for each file, because helpers are loaded once for many files.
afterEach(cleanUp);
