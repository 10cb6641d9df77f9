import { describe, expect, test } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { type Files, journals, project, type Ran, type TestProject } from '../e2e/running.js';
import { bytesOf } from '../marks.js';
import { forms } from './forms.js';

const mark = (name: string): string => `marked ${name} "${bytesOf(name, 9).toString('base64')}"\\+/ö`;
const word = (name: string): string => `marked-${name}.${bytesOf(name, 9).toString('base64url')}+/`;

/** All secrets, by source. */
const secrets = {
  token: word('token'),
  clientSecret: mark('client-secret'),
  commandArgument: word('argument'),
  variable: mark('variable'),
  literal: mark('literal'),
  file: `${mark('file')}\nof two lines, ${mark('second')}`,
  serverPassword: mark('server-password'),
  serverClientSecret: mark('server-client-secret'),
};

const ways: { readonly [name: string]: string } = {
  token: `token: \${MARKED_TOKEN}`,
  header: `header: {name: Authorization, value: "Bearer \${MARKED_TOKEN}"}`,
  token_command: `token_command: ["${process.execPath}", -e, "console.error(process.argv[1]); console.log(process.env.MARKED_TOKEN)", "\${MARKED_ARGUMENT}"]\n    pass_env: [MARKED_TOKEN]`,
  client_credentials: `client_credentials: {token_url: "\${IDOPS_BASE_URL}/oauth/token", client_id: cli, client_secret: "\${MARKED_CLIENT_SECRET}"}`,
};

const env = {
  MARKED_TOKEN: secrets.token,
  MARKED_CLIENT_SECRET: secrets.clientSecret,
  MARKED_ARGUMENT: secrets.commandArgument,
  MARKED: secrets.variable,
  IDOPS_TOKEN: undefined,
};

const files: Files = {
  'manifests/all.yaml': `kind: Organization
id: ${ids.acme}
name: acme
label: \${MARKED}
---
kind: User
id: ${ids.ada}
group: "\${MARKED}"
metadata: {department: {value: "\${MARKED}", status: valid}}
whole: [metadata]
backend:
  smtp_username: x \${MARKED}
  smtp_password: ${JSON.stringify(secrets.literal)}
  ldap_master_password: {file: password.txt}
---
kind: KeyPair
id: ${ids.secondKey}
is_default: true
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "{{ tx_code }} \${MARKED}"
`,
  'manifests/password.txt': secrets.file,
};

/** A response that contains all the server may know, in every form and at every place of a message. */
function echo(): Intercept {
  const { commandArgument: _, clientSecret: __, ...known } = secrets;
  const all = Object.values(known).flatMap(forms);
  return {
    kind: 'answer',
    status: 422,
    headers: { 'x-echo': encodeURIComponent(secrets.token) },
    body: {
      code: 'ECHO',
      message: all.join(' and '),
      errors: { [secrets.token]: all, smtp_password: [secrets.literal], resource: all },
      secret: secrets.serverClientSecret,
      nested: [{ smtp_password: secrets.serverPassword }],
    },
  };
}

interface Server {
  echoes: boolean;
}

async function begin(way: string): Promise<TestProject & { readonly server: Server }> {
  const server: Server = { echoes: false };
  const config = `version: 1
server:
  base_url: \${IDOPS_BASE_URL}
  auth:
    ${ways[way]}
allow_env: [MARKED, MARKED_TOKEN, MARKED_ARGUMENT, MARKED_CLIENT_SECRET]
`;
  const made = await project(
    { ...files, 'idops.yaml': config },
    {
      tokens: {
        [secrets.token]: ['users:manage:all', 'clients:manage:all', 'identity-providers:manage:all'],
      },
      intercept: ({ path }) => {
        if (path === '/oauth/token') {
          const body = { access_token: secrets.token, token_type: 'bearer', expires_in: 600 };
          return { kind: 'answer', status: 200, body };
        }
        return server.echoes ? echo() : undefined;
      },
    },
  );
  const [backend] = made.sandbox.data.backends;
  if (backend !== undefined) {
    backend.ldap_master_password = secrets.serverPassword;
    backend.smtp_password = secrets.serverPassword;
  }
  for (const client of made.sandbox.data.clients) client.secret = secrets.serverClientSecret;
  return { ...made, server };
}

/** Searches all that commands printed and wrote, except manifests. */
async function expectNoSecrets({ files }: TestProject, runs: readonly Ran[]): Promise<void> {
  const left = Object.entries(await files()).filter(([path]) => !path.startsWith('manifests/'));
  const places = [
    ...runs.map(({ stdout, stderr }, index) => [`run ${index}`, `${stdout}\n${stderr}`] as const),
    ...left,
  ];
  const found = places.flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      // Each line of a multi-line secret is a secret.
      [secret, ...secret.split('\n')]
        .flatMap(forms)
        .filter((form) => text.includes(form))
        .map((form) => `${name} in ${place}: ${form}`),
    ),
  );
  expect(found).toEqual([]);
}

/** The commands that `--help` lists. */
async function commandsOf(it: TestProject): Promise<string[]> {
  const { stdout } = await it.idops('--help');
  const section = stdout.slice(stdout.indexOf('Commands:'));
  return [...section.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name);
}

const formatsKnown = new Map<string, string[]>();

async function formatsOf(it: TestProject, command: string): Promise<string[]> {
  const known = formatsKnown.get(command);
  if (known !== undefined) return known;
  const { stdout } = await it.idopsWith([...command.split(' '), '--help']);
  const words = stdout.replace(/\s+/g, ' ');
  const [, list = ''] =
    /--format <NAME\[=FILE\]> [^()]+ \(repeatable\) \(choices: ([a-z", ]+), default/.exec(words) ?? [];
  const formats = list.split(/[", ]+/).filter(Boolean);
  formatsKnown.set(command, formats);
  return formats;
}

/** All formats of a command in one run: one on standard output, the others in files. */
function everyFormat(formats: readonly string[], first: number, name: string): string[] {
  return formats.flatMap((format, index) => [
    '--format',
    index === first ? format : `${format}=${name}-${format}-${first}.txt`,
  ]);
}

/** Runs every command, and returns what they printed. */
async function runAll(it: TestProject, label: string): Promise<Ran[]> {
  const runs: Ran[] = [];
  const run = async (...args: string[]): Promise<Ran> => {
    const ran = await it.idopsWith([...args, '--debug'], { env });
    runs.push(ran);
    return ran;
  };
  const inFormats = async (command: string, ...args: string[]): Promise<void> => {
    const formats = await formatsOf(it, command);
    // Text and JSON once each on standard output, because each is written there in its own way.
    for (const first of [...formats.keys()].slice(0, 2)) {
      await run(...command.split(' '), ...args, ...everyFormat(formats, first, `${label}-${command}`));
    }
    if (formats.length === 0) await run(...command.split(' '), ...args);
  };
  const arguments_: { readonly [command: string]: () => Promise<unknown> } = {
    validate: () => inFormats('validate'),
    plan: async () => {
      await run('plan', '--out', `${label}-plan.json`, '--assert');
      await inFormats('plan');
    },
    apply: async () => {
      await inFormats('apply', '--yes', '--assert', '--allow-destructive', '99');
      await run('apply', `${label}-plan.json`);
    },
    runs: async () => {
      await inFormats('runs list');
      for (const name of journals(await it.files()).slice(-2)) {
        await inFormats('runs show', name.replace(/^.*\/|\.jsonl$/g, ''));
      }
    },
    undo: async () => {
      for (const name of journals(await it.files()).slice(-1)) {
        await inFormats('undo', name.replace(/^.*\/|\.jsonl$/g, ''), '--yes', '--force');
      }
    },
    'regenerate-did': () => inFormats('regenerate-did', ids.portal, '--yes'),
    init: () => run('init', `${label}-init`),
    pull: () => run('pull', '--out', `${label}-pull`),
    schema: () => run('schema', 'config'),
    // It runs until it is interrupted.
    watch: async () => {
      for (const [format, text] of [
        ['text', 'Z '],
        ['json', '"turn":2,'],
      ] as const) {
        const args = ['--apply', '--assert', '--allow-destructive', '99', '--format', format, '--debug'];
        const { child, ended, waitFor } = it.begin(['watch', '--interval', '1s', ...args], { env });
        await waitFor(text);
        child.kill('SIGTERM');
        runs.push(await ended);
      }
    },
    // It runs until it is interrupted, with its own data.
    sandbox: async () => {},
    help: () => run('help'),
  };
  const names = await commandsOf(it);
  expect(names.length).toBeGreaterThan(8);
  // A command that isn't listed above is run without arguments, in each of its formats.
  for (const name of names) await (arguments_[name] ?? (() => inFormats(name)))();
  expect(it.writes().length).toBeGreaterThan(4);
  expect(formatsKnown.get('plan')).toEqual(['text', 'json', 'markdown', 'html', 'github', 'gitlab']);
  return runs;
}

describe('every command with --debug in every format', () => {
  test('writes no secret if all succeeds', async () => {
    const it = await begin('token_command');
    const runs = await runAll(it, 'good');
    expect(it.sandbox.data.users[0]?.group).not.toBeNull();
    // The log contains the requests, and nothing more.
    const log = runs.map(({ stderr }) => stderr).join('\n');
    expect(log).toMatch(/^PATCH \/api\/organizations\/\S+ 200, \d+ ms$/m);
    await expectNoSecrets(it, runs);
  });

  test('writes no secret if the server echoes all, after an apply that can be shown and undone', async () => {
    const it = await begin('client_credentials');
    const before = await it.idopsWith(['apply', '--yes', '--debug'], { env });
    expect(before.code).toBe(0);
    it.server.echoes = true;
    const runs = await runAll(it, 'echo');
    const log = runs.map(({ stderr }) => stderr).join('\n');
    expect(log).toContain('(sensitive) and (sensitive)');
    expect(log).toMatch(/^POST \S+\/oauth\/token 200, \d+ ms$/m);
    await expectNoSecrets(it, [before, ...runs]);
  });
});

test('no message of a server that echoes the token shows it, with any way to authenticate', async () => {
  for (const way of Object.keys(ways)) {
    const it = await begin(way);
    it.server.echoes = true;
    const run = await it.idopsWith(['plan', '--debug'], { env });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('(sensitive)');
    await expectNoSecrets(it, [run]);
  }
});
