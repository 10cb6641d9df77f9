import { expect, it } from 'vitest';
import {
  type ActionOptions,
  type ActionRun,
  acme,
  pullRequest,
  type Workspace,
  workspace,
} from './running.js';

/** The run without what differs from run to run: URLs, folders and times. */
function comparable(run: ActionRun, { folder, sandbox, github }: Workspace): unknown {
  const text = JSON.stringify(run)
    .replaceAll(folder.replace(/\/repository$/, ''), 'FOLDER')
    .replaceAll(sandbox.url, 'URL')
    // Headings name the server without its scheme.
    .replaceAll(new URL(sandbox.url).host, 'HOST')
    .replaceAll(sandbox.token, 'TOKEN')
    .replaceAll(github.url, 'GITHUB')
    .replace(/\d{8}T\d{6}Z?-\w+/g, 'RUN')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z| UTC)/g, 'TIME')
    .replace(/sha256:[0-9a-f]+/g, 'DIGEST')
    .replace(/idops-\w{6}\//g, 'TEMPORARY/');
  return JSON.parse(text);
}

type Step = readonly [inputs: { readonly [name: string]: string }, options?: ActionOptions];

const steps: readonly Step[] = [
  [{ environment: 'production' }, pullRequest()],
  [{ command: 'apply' }],
  [{ command: 'nothing' }],
];

it("a run in the test's process prints and does the same as in its own process", async () => {
  const here = await workspace(acme('Renamed'));
  const apart = await workspace(acme('Renamed'));
  for (const [inputs, options] of steps) {
    const inside = await here.run(inputs, options);
    const outside = await apart.run(inputs, { ...options, apart: true });
    expect(comparable(inside, here)).toEqual(comparable(outside, apart));
  }
  expect(here.writes()).toEqual(apart.writes());
  const comments = [here, apart].map(({ github }) => github.comments.length);
  expect(comments[0]).toBe(comments[1]);
  expect(comments[0]).toBeGreaterThan(0);
});
