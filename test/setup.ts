import { afterEach } from 'vitest';
import { cleanUp } from './cleanups.js';

// For each file, while the helpers that need it are loaded once for many of them.
afterEach(cleanUp);
