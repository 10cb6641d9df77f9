import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/base/values.js';
import type { SandboxSeed } from '../../../src/sandbox/index.js';
import { config, journals, project, type Ran, type TestProject } from '../../e2e/running.js';
import { bytesOf } from '../../marks.js';
import { filesFor } from '../../properties/workspace.js';
import { forms } from '../../security/forms.js';
import type { Doc } from '../generating/values.js';
import { type Case, cases, sampleScenarios } from './cases.js';
import { type SecretField, samples } from './samples.js';

/** Secrets that nothing else contains by chance. */
const secrets = {
  variable: `marked-variable"${bytesOf('variable', 9).toString('base64')}+/ö`,
  literal: `marked-literal"${bytesOf('literal', 9).toString('base64')}+/ö`,
  server: `marked-server"${bytesOf('server', 9).toString('base64')}+/ö`,
};
/** Replaced by a variable after the documents are written, because writing them escapes `$`. */
const placeholder = 'the-variable-stands-here';

/** The document with secrets in the given fields. */
function withSecrets(doc: Doc, fields: readonly SecretField[]): Doc {
  const put = (into: Json | undefined, [name, ...rest]: readonly string[], secret: string): Json => {
    if (name === undefined) return secret;
    if (Array.isArray(into))
      return into.map((item, index) => (String(index) === name ? put(item, rest, secret) : item));
    const members = new Map(into === undefined || into === null ? [] : Object.entries(into));
    return Object.fromEntries(members.set(name, put(members.get(name), rest, secret)));
  };
  const members = new Map(Object.entries(doc));
  for (const { path, always } of fields) {
    const [field, ...rest] = path;
    members.set(field, put(members.get(field), rest, always ? secrets.literal : placeholder));
  }
  return { ...Object.fromEntries(members), kind: doc.kind };
}

/** The server's data with recognizable passwords and secrets. */
function marked<T>(value: T): T {
  if (Array.isArray(value)) return value.map(marked) as T;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) =>
    /(?:secret|password)$/.test(name) && typeof member === 'string'
      ? [name, secrets.server]
      : [name, marked(member)],
  );
  return Object.fromEntries(members);
}

function manifests(docs: readonly Doc[]): { [path: string]: string } {
  const written = [...filesFor(docs)];
  return Object.fromEntries(written.map(([path, text]) => [path, text.replaceAll(placeholder, '${MARKED}')]));
}

/** Runs a command in all given formats: the first on standard output, the others in files. */
async function inFormats(at: TestProject, args: readonly string[], formats: readonly string[]): Promise<Ran> {
  const options = formats.flatMap((format, index) => [
    '--format',
    index === 0 ? format : `${format}=${args.join('-').replace(/[^a-z]/g, '')}-${format}.txt`,
  ]);
  return await at.idopsWith([...args, ...options, '--debug'], { env: { MARKED: secrets.variable } });
}

const everyFormat = ['text', 'json', 'markdown', 'html', 'github'];

/** Plans, applies and shows the run; returns the output of each command. */
async function runs(at: TestProject): Promise<Ran[]> {
  const ran = [
    await inFormats(at, ['plan', '--out', 'plan.json'], everyFormat),
    await inFormats(at, ['apply', '--yes', '--assert'], everyFormat.toReversed()),
    await inFormats(at, ['runs', 'list'], ['text', 'json']),
  ];
  for (const name of journals(await at.files())) {
    const run = name.replace(/^.*\/|\.jsonl$/g, '');
    ran.push(await inFormats(at, ['runs', 'show', run], ['json', 'text']));
  }
  return ran;
}

async function start({ profile }: Case, seed: SandboxSeed, docs: readonly Doc[]): Promise<TestProject> {
  const server = config.replace('server:\n', `server:\n  profile: ${profile.name}\n`);
  return await project(
    {
      'idops.yaml': `${server}allow_env: [MARKED]\nsafety: {max_destructive: 100}\nchecks: {missing-link: off, template-syntax: off}\n`,
      ...manifests(docs),
    },
    { seed: marked(seed), profile: profile.name },
  );
}

describe.each(cases)('$kind.name, $profile.name', (on) => {
  it('a secret of a manifest or of the server is neither printed nor stored', async () => {
    const fields = samples[on.kind.name].secrets(on.profile.name);
    for (const { seed, first, second } of sampleScenarios(on, 1)) {
      const at = await start(on, seed, first);
      const before = await inFormats(at, ['apply', '--yes'], everyFormat);
      await at.write(manifests(second.map((doc, index) => (index === 0 ? withSecrets(doc, fields) : doc))));
      const ran = [before, ...(await runs(at))];
      expect(ran.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual(ran.map(() => [0, '']));
      // The test is meaningful only if every secret was sent.
      const sent = JSON.stringify(at.sandbox.requests.map(({ body }) => body));
      for (const { always } of fields)
        expect(sent).toContain(JSON.stringify(always ? secrets.literal : secrets.variable).slice(1, -1));
      const kept = Object.entries(await at.files()).filter(([path]) => !path.startsWith('manifests/'));
      expect(kept.length).toBeGreaterThan(6);
      const places = [...ran.map(({ stdout, stderr }) => ['output', stdout + stderr] as const), ...kept];
      const found = places.flatMap(([place, text]) =>
        Object.entries(secrets).flatMap(([name, secret]) =>
          forms(secret)
            .filter((form) => text.includes(form))
            .map((form) => `${name} in ${place}: ${form}`),
        ),
      );
      expect(found).toEqual([]);
    }
  });
});
