import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noProgress } from '../../src/base/progress.js';
import { kinds } from '../../src/kinds/index.js';
import { loadManifests } from '../../src/manifests/load.js';
import { loadProject } from '../../src/project/index.js';
import { type NewFilesResult, pullNewFiles } from '../../src/pull/pull-new.js';
import { credentialTest } from '../../src/pull/write-value.js';
import type { SandboxProfile, SandboxSeed } from '../../src/sandbox/index.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { profiles } from '../../src/server/profiles.js';
import { withReader } from '../../src/session/connection.js';
import { type PullRequest, wishesOf } from '../../src/session/pull.js';
import { samples } from '../kinds/conformance/samples.js';
import { inWorkspace, type Workspace } from '../properties/workspace.js';

/** Texts from a server that could break manifests or mislead their readers. */
const hostile = fc.constantFrom(
  ...'${IDOPS_TOKEN}|$${a}$|$|{{ x }}|a: b # c|---\nkind: Client\n|\'"\n\t\\|\ufeffmark'.split('|'),
  ...'\u202e\u2028\u0085\u0007|no|1e3|~|../../x|💣\udc00|end\r\n|__proto__'.split('|'),
);
const texts = fc.oneof(hostile, fc.string({ unit: 'grapheme', maxLength: 12 }));
const numbers = fc.constantFrom(1, -0.5, 1e21, 2 ** 53);

/** A server with the sample objects of all kinds, and hostile texts in organizations and bodies. */
function servers(profile: SandboxProfile): fc.Arbitrary<SandboxSeed> {
  const parts = kinds.map(({ name }) => samples[name].server(profile));
  return fc
    .tuple(fc.tuple(...parts), fc.array(texts, { minLength: 8, maxLength: 8 }), numbers)
    .map(([rows, words, number]) => {
      const seed: SandboxSeed = Object.assign(loadSeed('demo'), ...rows);
      const word = (index: number): string => words[index] ?? '';
      const [first, second] = seed.organizations;
      if (first !== undefined && profile === 'documented') first.name = `${word(0)} one`;
      if (second !== undefined) second.label = word(1).trim() === '' ? null : word(1);
      for (const [index, template] of seed.templates.entries()) {
        template.txt_content = `${word(2 + index)}x`;
        template.html_content = `x${word(4 + index)}`;
      }
      const [user] = seed.users;
      if (user !== undefined) {
        user.metadata[word(6)] = { value: { [word(7)]: [number, null, word(1)] }, status: 'valid' };
        user.metadata.api_token = { value: `${word(0)}?`, status: 'valid', display: ['shown'] };
      }
      return seed;
    });
}

async function pulled(
  workspace: Workspace,
  profile: SandboxProfile,
  request: PullRequest,
): Promise<NewFilesResult> {
  const project = await loadProject({
    cwd: workspace.folder,
    variables: { IDOPS_BASE_URL: workspace.sandbox.url, IDOPS_TOKEN: workspace.sandbox.token },
  });
  const server = await project.server();
  const redactor = createRedactor();
  const { [profile]: known = server.profile } = profiles;
  const options = { redactor, signal: new AbortController().signal, concurrency: 10 };
  return await withReader(server, [], options, (reader) =>
    pullNewFiles(
      { ...wishesOf(request), known: [], hasCredential: credentialTest(redactor.holds) },
      { reader, profile: known, concurrency: 10, progress: noProgress, lists: {} },
    ),
  );
}

describe.each(['documented', 'boruta'] as const)('%s', (profile) => {
  it('whatever a server has, a pull into an empty folder is valid, and the next plan is empty', async () => {
    await fc.assert(
      fc.asyncProperty(servers(profile), fc.boolean(), async (seed, builtIn) => {
        await inWorkspace({ seed, profile }, async (workspace) => {
          const backends = seed.backends.map(({ id }) => id);
          const { files, toSet, documents } = await pulled(workspace, profile, {
            builtIn,
            asked: { backend: backends },
            kinds: kinds.map(({ name }) => name),
          });
          const count = (name: string) => documents.filter(({ kind }) => kind.name === name).length;
          expect(count('Organization')).toBe(seed.organizations.length);
          expect(count('User')).toBe(profile === 'boruta' ? seed.users.length : 0);
          expect(count('EmailTemplate')).toBeGreaterThanOrEqual(seed.templates.length);
          expect(new Set(files.map(({ path }) => path.toLowerCase())).size).toBe(files.length);
          for (const { path, text } of files) {
            mkdirSync(dirname(join(workspace.folder, 'manifests', path)), { recursive: true });
            writeFileSync(join(workspace.folder, 'manifests', path), text);
          }
          const secret = seed.users[0]?.metadata.api_token as { value: string } | undefined;
          const set = Object.fromEntries(
            toSet.map(({ name, path }) => [name, path.includes('.display') ? 'shown' : secret?.value]),
          );
          const project = await loadProject({ cwd: workspace.folder, variables: set });
          const { problems } = await loadManifests(project, { lenient: false });
          expect(problems.filter(({ code }) => code !== 'number-spelling')).toEqual([]);
          const plan = await workspace.session((session) => session.plan(), set);
          expect(plan.changes.filter(({ action }) => action !== 'unchanged')).toEqual([]);
          expect(workspace.sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
        });
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});
