import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { organizations } from '../projects.js';

export const title = 'the action, from its start to its comment';

export async function measure(bench) {
  const { files, seed } = organizations(100, 0);
  const server = await bench.server({ seed });
  const own = { repo: { id: 1, full_name: 'acme/identity' } };
  const pull = { number: 1, head: { ...own, sha: 'abc123' }, base: { ...own, ref: 'main' } };
  const cwd = bench.project({ ...files, 'event.json': JSON.stringify({ pull_request: pull }) });
  let comments = 0;
  const github = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') comments += 1;
      response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
      response.end(request.method === 'POST' ? '{"id":1}' : '[]');
    });
  });
  await new Promise((done) => github.listen(0, '127.0.0.1', done));
  const plan = bench.idops(['plan'], { cwd, server });
  try {
    await bench.compare({
      name: 'plan and comment',
      program: {
        args: [resolve('dist/action.js')],
        cwd,
        env: {
          ...plan.env,
          INPUT_COMMAND: 'plan',
          INPUT_COMMENT: 'true',
          'INPUT_GITHUB-TOKEN': 'none',
          GITHUB_API_URL: `http://127.0.0.1:${github.address().port}`,
          GITHUB_EVENT_NAME: 'pull_request',
          GITHUB_EVENT_PATH: join(cwd, 'event.json'),
          GITHUB_REPOSITORY: 'acme/identity',
          GITHUB_WORKSPACE: cwd,
          RUNNER_TEMP: cwd,
        },
      },
      server,
      necessary: 1,
      floors: { 'idops plan': plan },
    });
    if (comments === 0) throw new Error('the action wrote no comment');
  } finally {
    github.close();
  }
}
