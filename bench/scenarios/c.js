import { join } from 'node:path';
import { email, templates } from '../projects.js';

export const title = 'plan 2,000 email templates of 20 KB at a latency of 5 ms';

export async function measure(bench) {
  const number = bench.size(2000, 20);
  const emails = Array.from({ length: number / 2 }, (_, index) => email(20_000, `number ${index}`));
  // Each for two backends: 40 MB of body files are more than a project may have.
  const pairs = [...emails, ...emails].map((written) => ({ live: written, declared: written }));
  const { files, seed } = templates(pairs);
  const server = await bench.server({ seed, latency: 5 });
  const cwd = bench.project(files);
  const texts = Object.keys(files).filter((path) => path.startsWith('emails/'));
  for (const inFlight of bench.quick ? [10] : [1, 10, 50]) {
    await bench.compare({
      name: `plan, ${inFlight} in flight`,
      program: bench.idops(['plan', '--concurrency', String(inFlight)], { cwd, server }),
      server,
      necessary: number,
      inFlight,
      floors: {
        requests: { sends: true },
        'requests and files': {
          sends: true,
          folder: join(cwd, 'manifests'),
          texts: texts.map((path) => join(cwd, path)),
        },
      },
      repeats: inFlight === 1 ? 3 : 5,
      most: { beyond: 1.15 },
    });
  }
}
