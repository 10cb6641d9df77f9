import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileBackend } from '../../../src/state/file/index.js';
import { conforms } from '../backends.js';

conforms('in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idops-backend-'));
  return {
    open: (name) => fileBackend({ path: join(folder, '.idops', `${name}.json`), allowTracked: false }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});
