import fc from 'fast-check';
import { expect, it } from 'vitest';
import { organization } from '../../src/kinds/organization.js';
import { layOutFiles, safeFileName } from '../../src/pull/layout.js';
import { createDocuments, type NewDocument } from '../../src/pull/new-documents.js';
import { VariableNames } from '../../src/pull/write-value.js';
import { profiles } from '../../src/server/profiles.js';
import { MAX_BYTES } from '../../src/yaml/source-file.js';

it('the documents of a kind fill as many files as needed, none larger than a manifest may be', () => {
  const documents = ['a', 'b', 'c'].map((id): NewDocument => {
    const raw = 'é'.repeat(3_000_000);
    const fields = new Map([['label', { raw, value: raw, isBody: false }]]);
    const address = `Organization/${id}`;
    const identity = { id };
    const live = { exists: true, identity, fields: {} };
    return {
      kind: organization,
      identity,
      writtenIdentity: identity,
      address,
      displayName: null,
      live,
      fields,
      toSet: [],
    };
  });
  const files = layOutFiles(documents, () => false);
  const names = ['organizations.yaml', 'organizations-2.yaml', 'organizations-3.yaml'];
  expect(files.map(({ path }) => path)).toEqual(names);
  for (const { text } of files) expect(Buffer.byteLength(text)).toBeLessThan(MAX_BYTES);
});

const { documented } = profiles;
if (documented === undefined) throw new Error('there is no such profile');

it('a field that is too large for any manifest is left out with a note', () => {
  const identity = { id: 'a' };
  const live = { exists: true, identity, fields: { id: 'a', name: 'a', label: 'é'.repeat(9_000_000) } };
  const finding = { identity, displayName: null, live };
  const { documents, leftOut } = createDocuments([{ kind: organization, finding }], {
    profile: documented,
    names: new VariableNames(),
    hasCredential: () => false,
    references: {} as never,
    by: 'id',
  });
  expect(documents.map(({ fields }) => [...fields.keys()])).toEqual([['name']]);
  expect(leftOut.map(({ reason }) => reason)).toEqual(["label can't be declared with the server's value"]);
});

const hostile = [...'../x|..|.||CON|con|con.txt|a/b|a\\b|a:b|A|a|a.|ä|~|\0|-'.split('|'), 'x'.repeat(300)];

it('an id becomes one safe path segment, different for each id on any file system', () => {
  const ids = fc.uniqueArray(
    fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 5 })),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(ids, (some) => {
      const names = some.map(safeFileName);
      expect(new Set(names.map((name) => name.toLowerCase().normalize())).size).toBe(some.length);
      for (const name of names) {
        expect(name).toMatch(/^[a-z0-9_~][a-z0-9_.~-]{0,79}$/);
        expect(name).not.toMatch(/^(?:con|nul|aux|prn)(?:\.|$)|\.$/);
      }
    }),
    { numRuns: 100 },
  );
  expect(safeFileName('20000000-0000-4000-8000-000000000001')).toBe('20000000-0000-4000-8000-000000000001');
  // An id that looks like an escaped name is escaped again.
  expect(safeFileName(safeFileName('CON'))).not.toBe(safeFileName('CON'));
});
