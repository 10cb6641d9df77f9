import fc from 'fast-check';
import { afterEach } from 'vitest';
import { cleanUp } from './cleanups.js';
import { seed } from './often.js';

fc.configureGlobal({ seed });

// For each file, while the helpers that need it are loaded once for many of them.
afterEach(cleanUp);
