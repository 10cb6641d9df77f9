import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { organizations } from '../projects.js';

/** Applies a label to every organization. */
export async function measure(bench) {
  const number = bench.size(1000, 20);
  const { files, seed } = organizations(number, number);
  for (const latency of bench.quick ? [0] : [0, 5, 20, 50]) {
    const server = await bench.server({ seed, latency });
    const cwd = bench.project(files);
    const before = () => rmSync(join(cwd, '.idops'), { recursive: true, force: true });
    await bench.compare({
      name: `apply ${number.toLocaleString('en')} changes, ${latency} ms latency`,
      against: 'requests',
      program: bench.idops(['apply', '--yes'], { cwd, server, before }),
      floor: (requests) => bench.floor({ server, requests }),
    });
    await server.close();
  }
}
