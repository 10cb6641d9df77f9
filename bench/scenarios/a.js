import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { organizations } from '../projects.js';

export const title = 'apply 100 of 1,000 organizations';

export async function measure(bench) {
  const [number, changed] = [bench.size(1000, 40), bench.size(100, 4)];
  const { files, seed } = organizations(number, changed);
  const server = await bench.server({ seed });
  const cwd = bench.project(files);
  const forget = () => rmSync(join(cwd, '.idops'), { recursive: true, force: true });
  const folder = join(cwd, 'manifests');
  await bench.compare({
    name: 'apply',
    program: bench.idops(['apply', '--yes'], { cwd, server, before: forget }),
    server,
    necessary: Math.ceil(number / 500) + changed,
    floors: { requests: { sends: true }, 'requests and YAML': { sends: true, folder } },
    most: { beyond: 1.15, memory: 150 },
  });
}
