import { expect, it } from 'vitest';
import { organization } from '../../src/kinds/organization.js';
import { type FreshDocument, freshDocuments } from '../../src/pull/fresh.js';
import { filesOf } from '../../src/pull/layout.js';
import { VariableNames } from '../../src/pull/names.js';
import { profiles } from '../../src/server/profiles.js';
import { MAX_BYTES } from '../../src/yaml/file.js';

it('as many files as it takes have the documents of a kind, none larger than a manifest may be', () => {
  const documents = ['a', 'b', 'c'].map((id): FreshDocument => {
    const raw = 'é'.repeat(3_000_000);
    const said = new Map([['label', { raw, value: raw, isBody: false }]]);
    const address = `Organization/${id}`;
    const identity = { id };
    const live = { exists: true, identity, fields: {} };
    return { kind: organization, identity, address, called: null, live, said, toSet: [] };
  });
  const files = filesOf(documents, () => false);
  expect(files.map(({ path }) => path)).toEqual([
    'organizations.yaml',
    'organizations-2.yaml',
    'organizations-3.yaml',
  ]);
  for (const { text } of files) expect(Buffer.byteLength(text)).toBeLessThan(MAX_BYTES);
});

const { documented } = profiles;
if (documented === undefined) throw new Error('there is no such profile');

it('a field that no manifest is large enough for is left out, in words', () => {
  const identity = { id: 'a' };
  const live = { exists: true, identity, fields: { id: 'a', name: 'a', label: 'é'.repeat(9_000_000) } };
  const { documents, left } = freshDocuments(
    [{ kind: organization, finding: { identity, called: null, live } }],
    { profile: documented, names: new VariableNames(), holds: () => false, references: {} as never },
  );
  expect(documents.map(({ said }) => [...said.keys()])).toEqual([['name']]);
  expect(left.map(({ reason }) => reason)).toEqual(["label can't stand in a manifest as the server has it"]);
});
