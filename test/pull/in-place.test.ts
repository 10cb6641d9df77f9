import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCollection, isNode, isPair, parseAllDocuments, visit } from 'yaml';
import { loadManifests } from '../../src/manifests/load.js';
import { loadProject } from '../../src/project/index.js';
import { pull } from '../../src/session/pull.js';
import { cases } from '../kinds/conformance/cases.js';
import { layout } from '../properties/scenario.js';
import { inWorkspace } from '../properties/workspace.js';

describe.each(cases.filter(({ kind, profile }) => kind.readable(profile)))(
  '$kind.name, $profile.name',
  ({ kind, profile, scenarios }) => {
    it("documents, however they are written, get the server's values, and no other field", async () => {
      await fc.assert(
        fc.asyncProperty(scenarios, layout, async ({ seed, first }, written) => {
          await inWorkspace({ seed, profile: profile.name }, async (workspace) => {
            workspace.declare(first, written);
            if (written.style === 'block') comment(join(workspace.folder, 'manifests'));
            const variables = { IDOPS_BASE_URL: workspace.sandbox.url, IDOPS_TOKEN: workspace.sandbox.token };
            const load = () => loadProject({ cwd: workspace.folder, variables });
            const declared = async () => {
              const loaded = await loadManifests(await load(), { lenient: false, profile });
              expect(loaded.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
              const fields = (one: { written(): unknown }) => Object.keys(Object(one.written())).sort();
              return new Map(loaded.sources.map(({ path, documents }) => [path, documents.map(fields)]));
            };
            const before = await declared();
            const pulling = await pull(await load(), {}, { kinds: [kind.name], asked: {}, force: true });
            await pulling.write();
            const after = await declared();
            // Each document has the same fields as before, and new documents are at the end.
            for (const [path, fields] of before) {
              expect(after.get(path)?.slice(0, fields.length)).toEqual(fields);
            }
            const plan = await workspace.session((session) => session.plan());
            const changes = plan.changes.filter(({ action }) => action !== 'unchanged' && action !== 'adopt');
            const why =
              /has only its built-in text|has no such email template|says "state: absent"|only white space|has a NUL character in it/;
            expect(pulling.notPulled.filter(({ message }) => !why.test(message))).toEqual([]);
            expect(changes.length).toBeLessThanOrEqual(pulling.notPulled.length);
            const again = await pull(await load(), {}, { kinds: [kind.name], asked: {} });
            expect(again.files.filter(({ action }) => action !== 'unchanged')).toEqual([]);
            expect(workspace.sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
          });
        }),
        { numRuns: 5, endOnFailure: true },
      );
    });
  },
);

/** Adds a comment above each member of maps and lists in manifests, except in JSON. */
function comment(folder: string): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.yaml'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    const documents = parseAllDocuments(text);
    if (!Array.isArray(documents)) continue;
    for (const document of documents) {
      visit(document, {
        Collection(_, node) {
          if (node.flow) return;
          for (const item of node.items) {
            const head = isPair(item) ? item.key : item;
            if (isNode(head) && !isCollection(head)) head.commentBefore = ' about it';
          }
        },
      });
    }
    const made = documents.map((document) => document.toString({ lineWidth: 0 })).join('---\n');
    const meant = (one: string): string =>
      JSON.stringify([...parseAllDocuments(one)].map((document) => document.toJS()));
    if (meant(made) === meant(text)) writeFileSync(join(folder, name), made);
  }
}
