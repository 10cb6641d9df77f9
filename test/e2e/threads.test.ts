import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import type { Problem } from '../../src/base/problems.js';
import { config, type Files, project } from './running.js';

/** As many documents as are parsed beside everything else. */
const users = (count: number, from = 0): string[] =>
  Array.from(
    { length: count },
    (_, index) =>
      `kind: User\nid: user-${from + index}\nmetadata: {department: {value: "${'x'.repeat(150)}", status: valid}}\n`,
  );

const anchored = 'kind: User\nid: &id anchored\nmetadata: {alias: *id}\n';

const files = (mend: (documents: string[]) => string): Files => ({
  'idops.yaml': config,
  'manifests/a.yaml': users(1500).join('---\n'),
  'manifests/b.yaml': mend(users(1500, 1500)),
  'manifests/c.yaml': [...users(1500, 3000), anchored].join('---\n'),
});

/** Tells of each thread that a process begins. */
const tells = `--import "data:text/javascript,process.on('worker',()=>console.error('a%20thread'))"`;

it('a project that is parsed by threads is read whole, and each mistake has its place', async () => {
  const { begin, write } = await project(files((documents) => documents.join('---\n')));
  const whole = await begin(['validate'], { env: { NODE_OPTIONS: tells } }).ended;
  expect(whole.stdout).toBe('4501 objects are valid.\n');
  expect(whole.stderr.includes('a thread')).toBe(availableParallelism() > 1);
  await write(
    files((documents) =>
      documents
        .with(700, 'kind: User\nid: wrong\nmetadat: {}\n')
        .with(1400, 'kind: User\nid: "open\n')
        .join('---\n'),
    ),
  );
  const { code, stdout } = await begin(['validate', '--format', 'json']).ended;
  expect(code).toBe(1);
  const { problems } = JSON.parse(stdout) as { problems: Problem[] };
  expect(problems.map((problem) => [problem.code, ...problem.places])).toEqual([
    ['unknown-field', expect.objectContaining({ file: 'manifests/b.yaml', line: 4 * 700 + 3, column: 1 })],
    ['yaml-syntax', expect.objectContaining({ file: 'manifests/b.yaml', line: 4 * 1400 + 2, column: 5 })],
  ]);
});
