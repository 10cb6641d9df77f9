import { organizations } from '../projects.js';

export async function measure(bench) {
  const { files, seed } = organizations(0, 0);
  const cwd = bench.project(files);
  const server = await bench.server({ seed });
  for (const [name, args] of [
    ['--version', ['--version']],
    ['--help', ['--help']],
    ['plan of an empty project', ['plan']],
  ]) {
    await bench.compare({
      name,
      against: 'node -e 0',
      program: bench.idops(args, { cwd, server }),
      floor: () => ({ args: ['-e', '0'] }),
    });
  }
}
