import { expect, test } from 'vitest';
import { type Asking, boruta, ids, type Told } from './asking.js';

const patch = ({ ask }: Asking, organization: unknown): Promise<Told> =>
  ask('PATCH', `/api/organizations/${ids.acme}`, { organization });

test('the page size is 500 whatever is asked', async () => {
  const { ask } = await boruta();
  const told = await ask('GET', '/api/organizations?page_size=2&per_page=2&limit=2');
  expect(told.body).toMatchObject({ page_size: 500, total_entries: 4, total_pages: 1 });
  expect(told.body.data).toHaveLength(4);
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
  const told = await ask('GET', `/api/organizations?page=${page}`);
  expect(told.body.page_number).toBe(1);
  expect(told.body.data).toHaveLength(3);
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
  const asking = await boruta();
  await patch(asking, { name: 'acme', label: 'ACME' });
  const told = await asking.ask('GET', '/api/organizations');
  expect(told.body.data).toMatchObject([
    { name: 'globex' },
    { name: 'initech' },
    { name: 'umbrella' },
    { name: 'acme' },
  ]);
});

test('a row that moves between two page requests is seen twice, and another one never', async () => {
  const asking = await boruta({ pageSize: 2 });
  const first = await asking.ask('GET', '/api/organizations?page=1');
  await patch(asking, { name: 'acme' });
  const second = await asking.ask('GET', '/api/organizations?page=2');
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
  const asking = await boruta();
  const told = await patch(asking, organization);
  expect(told.body.data).toEqual({ id: ids.acme, ...wanted });
  expect(asking.sandbox.data.organizations.at(-1)).toEqual(told.body.data);
});

test.each([[{ label: 'ACME' }], [{ name: null }]])('a body without name is 422: %j', async (organization) => {
  const { withoutEffect } = await boruta();
  const told = await withoutEffect(422, 'PATCH', `/api/organizations/${ids.acme}`, { organization });
  expect(told.body.errors).toEqual({ name: [expect.any(String)] });
});

test.each(['name', 'label'])('a %s of 256 characters or more gives 500', async (field) => {
  const asking = await boruta();
  const organization = { name: 'acme', [field]: 'é'.repeat(256) };
  await asking.withoutEffect(500, 'PATCH', `/api/organizations/${ids.acme}`, { organization });
  const fits = '😀'.repeat(255);
  expect((await patch(asking, { name: 'acme', [field]: fits })).body.data?.[field]).toBe(fits);
});
