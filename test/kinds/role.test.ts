import { expect, test } from 'vitest';
import { type Doc, site, todo } from '../boruta/site.js';

test.each<[string, Doc]>([
  ['a scope of a role', { kind: 'Role', name: 'clerk', scopes: [{}] }],
  ['a scope that is added to a role', { kind: 'Role', name: 'clerk', scopes: { add: [{}] } }],
  ['a role of a backend', { kind: 'Backend', name: 'Company directory', roles: [{}] }],
  [
    'the identity provider of a client',
    { kind: 'Client', id: '60000000-0000-4000-8000-000000000001', identity_provider: {} },
  ],
])('%s without an id and a name is refused', async (_, document) => {
  const at = await site();
  const failure = await at.plan(document).then(todo, (refused: unknown) => refused);
  expect(failure).toMatchObject({
    problems: [{ message: expect.stringContaining('needs an "id" or a "name"') }],
  });
});
