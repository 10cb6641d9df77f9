import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { organizations } from '../projects.js';

/** The cost of writes: an apply minus its plan, compared with only the requests. */
export async function measure(bench) {
  for (const number of bench.quick ? [10] : [1000, 10_000]) {
    const { files, seed } = organizations(number, number);
    const server = await bench.server({ seed });
    const cwd = bench.project(files);
    const before = () => rmSync(join(cwd, '.idops'), { recursive: true, force: true });
    const plan = bench.idops(['plan'], { cwd, server, before });
    const apply = bench.idops(['apply', '--yes'], { cwd, server, before });
    let floors;
    await bench.rounds(
      { name: `each of ${number.toLocaleString('en')} writes`, against: 'a request', repeats: 3 },
      async () => {
        const [planned, applied] = [await bench.taken(plan), await bench.taken(apply)];
        const requests = await server.requests();
        const reads = requests.filter(({ method }) => method === 'GET');
        floors ??= [reads, requests].map((sent) => bench.floor({ server, requests: sent }));
        const [read, all] = [await bench.taken(floors[0]), await bench.taken(floors[1])];
        const ratio = (what) => (applied[what] - planned[what]) / (all[what] - read[what]);
        return { time: ratio('ms'), processor: ratio('cpu'), memory: applied.rss };
      },
    );
    await server.close();
  }
}
