import { expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const patch = ({ ask }: SandboxApi, organization: unknown): Promise<Answer> =>
  ask('PATCH', `/api/organizations/${ids.acme}`, { organization });

test('the page size is 500 whatever is asked', async () => {
  const { ask } = await boruta();
  const answer = await ask('GET', '/api/organizations?page_size=2&per_page=2&limit=2');
  expect(answer.body).toMatchObject({ page_size: 500, total_entries: 4, total_pages: 1 });
  expect(answer.body.data).toHaveLength(4);
});

test('a page beyond the last returns the last one again, with its own page_number', async () => {
  const { ask } = await boruta({ pageSize: 3 });
  const last = await ask('GET', '/api/organizations?page=2');
  expect(last.body).toMatchObject({ data: [{ name: 'umbrella' }], page_number: 2, total_pages: 2 });
  expect((await ask('GET', '/api/organizations?page=3')).body).toEqual(last.body);
  expect((await ask('GET', '/api/organizations?page=4000000000')).body).toEqual(last.body);
});

test.each(['0', '-1', 'two', ''])('page 0, -1 or text is page 1: %j', async (page) => {
  const { ask } = await boruta({ pageSize: 3 });
  const answer = await ask('GET', `/api/organizations?page=${page}`);
  expect(answer.body.page_number).toBe(1);
  expect(answer.body.data).toHaveLength(3);
});

test('an empty server has one empty page', async () => {
  const { ask } = await boruta({ seed: 'empty' });
  expect((await ask('GET', '/api/organizations?page=7')).body).toEqual({
    data: [],
    page_number: 1,
    page_size: 500,
    total_pages: 1,
    total_entries: 0,
  });
});

test('rows have no order: a PATCH moves its row', async () => {
  const api = await boruta();
  await patch(api, { name: 'acme', label: 'ACME' });
  const answer = await api.ask('GET', '/api/organizations');
  expect(answer.body.data).toMatchObject([
    { name: 'globex' },
    { name: 'initech' },
    { name: 'umbrella' },
    { name: 'acme' },
  ]);
});

test('a row that moves between two page requests is seen twice, and another one never', async () => {
  const api = await boruta({ pageSize: 2 });
  const first = await api.ask('GET', '/api/organizations?page=1');
  await patch(api, { name: 'acme' });
  const second = await api.ask('GET', '/api/organizations?page=2');
  expect(first.body.data).toMatchObject([{ name: 'acme' }, { name: 'globex' }]);
  expect(second.body.data).toMatchObject([{ name: 'umbrella' }, { name: 'acme' }]);
});

test.each(['q=acme', 'q=', 'page=1&q=a'])('any q gives 500: %s', async (query) => {
  const { ask } = await boruta();
  expect((await ask('GET', `/api/organizations?${query}`)).status).toBe(500);
});

test.each([
  ['replaces: a body without label sets it to null', { name: 'acme' }, { name: 'acme', label: null }],
  ['allows duplicate names', { name: 'globex' }, { name: 'globex', label: null }],
  [
    'ignores unknown fields',
    { id: ids.nobody, name: 'a', label: 'A', color: 'red' },
    { name: 'a', label: 'A' },
  ],
])('PATCH %s', async (_, organization, wanted) => {
  const api = await boruta();
  const answer = await patch(api, organization);
  expect(answer.body.data).toEqual({ id: ids.acme, ...wanted });
  expect(api.sandbox.data.organizations.at(-1)).toEqual(answer.body.data);
});

test.each([[{ label: 'ACME' }], [{ name: null }]])('a body without name is 422: %j', async (organization) => {
  const { withoutEffect } = await boruta();
  const answer = await withoutEffect(422, 'PATCH', `/api/organizations/${ids.acme}`, { organization });
  expect(answer.body.errors).toEqual({ name: [expect.any(String)] });
});

test.each(['name', 'label'])('a %s of 256 characters or more gives 500', async (field) => {
  const api = await boruta();
  const organization = { name: 'acme', [field]: 'é'.repeat(256) };
  await api.withoutEffect(500, 'PATCH', `/api/organizations/${ids.acme}`, { organization });
  const fits = '😀'.repeat(255);
  expect((await patch(api, { name: 'acme', [field]: fits })).body.data?.[field]).toBe(fits);
});
