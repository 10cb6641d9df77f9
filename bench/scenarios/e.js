import { organizations } from '../projects.js';

export const title = 'start';

export async function measure(bench) {
  const cwd = bench.project(organizations(10, 0).files);
  for (const [args, most] of [
    [['--version'], { whole: 1.6 }],
    [['--help'], {}],
    [['validate'], {}],
  ]) {
    await bench.compare({
      name: args.join(' '),
      program: bench.idops(args, { cwd }),
      floors: { 'node -e 0': { args: ['-e', '0'] } },
      start: true,
      repeats: 15,
      most,
    });
  }
}
