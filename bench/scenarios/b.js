import { join } from 'node:path';
import { organizations } from '../projects.js';

export const title = 'plan 10,000 organizations, none changed';

export async function measure(bench) {
  const number = bench.size(10_000, 600);
  const { files, seed } = organizations(number, 0);
  const server = await bench.server({ seed });
  const cwd = bench.project(files);
  await bench.compare({
    name: 'plan',
    program: bench.idops(['plan'], { cwd, server }),
    server,
    necessary: Math.ceil(number / 500),
    floors: {
      requests: { sends: true },
      'requests and YAML': { sends: true, folder: join(cwd, 'manifests') },
    },
    most: { beyond: 1.15 },
  });
}
