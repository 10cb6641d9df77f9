import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { runInProcess } from './in-process.js';
import { project, type RunOptions, type TestProject } from './running.js';

const files = {
  'manifests/all.yaml': `kind: Organization
name: acme
label: New
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: {file: ../bodies/tx.txt}
---
kind: Client
id: ${ids.portal}
did_generation: 1
`,
  'bodies/tx.txt': 'Your code: {{ tx_code }}\n',
  'deeper/token': 'wrong\n',
};

/** The text without what differs from run to run: addresses, folders and times. */
function comparable(text: string, { folder, sandbox }: TestProject): string {
  return text
    .replaceAll(folder, 'FOLDER')
    .replaceAll(sandbox.url, 'URL')
    .replaceAll(new URL(sandbox.url).port, 'PORT')
    .replace(/\d{8}T\d{6}Z?-\w+/g, 'RUN')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/sha256:[0-9a-f]+/g, 'DIGEST')
    .replace(/did:[\w:.-]+/g, 'DID')
    .replace(/(process |"pid": )\d+/g, '$1N')
    .replace(/(?<=, )\d+ ms/g, 'N ms');
}

type Command = readonly [args: string, options?: (at: TestProject) => RunOptions];

/** Each list runs in sequence in one project. */
const lines: { readonly [name: string]: readonly Command[] } = {
  'help and a wrong command line': [['runs --help'], ['plan --format github --rate x']],
  'from plan to run': [['plan --detailed-exitcode --debug'], ['apply --yes'], ['runs list --format json']],
  'another folder and other variables': [
    [
      'plan --config ../idops.yaml --token-file token',
      ({ folder }) => ({ cwd: `${folder}/deeper`, env: { IDOPS_TOKEN: undefined } }),
    ],
    ['plan', () => ({ env: { FORCE_COLOR: '1', IDOPS_BASE_URL: undefined } })],
    ['validate --format github', ({ folder }) => ({ env: { GITHUB_WORKSPACE: `${folder}/..` } })],
  ],
};

describe("a command in the test's process prints and does the same as in its own process", () => {
  it.each(Object.entries(lines))('%s', async (_, commands) => {
    const here = await project(files);
    const apart = await project(files);
    for (const [args, options] of commands) {
      const words = args.split(' ').filter(Boolean);
      const ran = [
        [here, await here.idopsWith(words, options?.(here))],
        [apart, await apart.begin(words, options?.(apart)).ended],
      ] as const;
      const [inside, outside] = ran.map(([at, { code, signal, stdout, stderr }]) => ({
        args,
        code,
        signal,
        stdout: comparable(stdout, at),
        stderr: comparable(stderr, at),
      }));
      expect(inside).toEqual(outside);
    }
    expect(here.writes()).toEqual(apart.writes());
    expect(here.reads()).toEqual(apart.reads());
    const names = async (at: TestProject) =>
      Object.keys(await at.files()).map((path) => path.replace(/runs\/.*/, 'runs/RUN'));
    expect(await names(here)).toEqual(await names(apart));
  });
});

describe("a command in the test's process", () => {
  const surroundings = ({ folder }: TestProject) => ({ cwd: folder, env: { PATH: process.env.PATH } });

  it('restores the folder and the variables of the process', async () => {
    const at = await project(files);
    const before = { cwd: process.cwd(), env: { ...process.env } };
    const running = runInProcess(['validate'], surroundings(at));
    expect(await running).toMatchObject({ code: 0, stderr: '' });
    expect({ cwd: process.cwd(), env: { ...process.env } }).toEqual(before);
  });

  it('runs only one at a time, and not if a variable changes how Node starts', async () => {
    const at = await project(files);
    const { cwd, env } = surroundings(at);
    const running = runInProcess(['validate'], { cwd, env });
    expect(running).toBeDefined();
    expect(runInProcess(['validate'], { cwd, env })).toBeUndefined();
    await running;
    expect(runInProcess(['validate'], { cwd, env: { ...env, NODE_OPTIONS: '' } })).toBeUndefined();
  });

  it('listens to signals only while it runs', async () => {
    const at = await project(files);
    const listeners = () => ['SIGINT', 'SIGTERM'].map((name) => process.listenerCount(name));
    const before = listeners();
    await at.idops('validate');
    await at.idops('--help');
    expect(listeners()).toEqual(before);
  });
});
