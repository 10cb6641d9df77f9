import { expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, type SandboxApi, templatePath } from './api.js';

const customised = templatePath('tx_code');
const untouched = templatePath('confirmation_instructions');
const bodies = { txt_content: 'a', html_content: 'b' };
/** A second backend. */
const elsewhere = '20000000-0000-4000-8000-000000000002';

test.each(['GET', 'PATCH', 'DELETE'])('%s of a template of another type is 404', async (method) => {
  const { ask } = await boruta();
  const body = method === 'PATCH' ? { template: bodies } : undefined;
  expect((await ask(method, templatePath('welcome'), body)).status).toBe(404);
});

test('a template never customised answers 200 with the built-in text and id: null', async () => {
  const { ask } = await boruta();
  expect((await ask('GET', untouched)).body.data).toEqual({
    id: null,
    txt_content: expect.stringContaining('{{ user.username }}'),
    html_content: expect.stringContaining('<html>'),
    type: 'confirmation_instructions',
    backend_id: ids.backend,
  });
});

test('DELETE of a customised one answers 200 with the built-in text', async () => {
  const { ask } = await boruta();
  const before = await ask('GET', customised);
  const deleted = await ask('DELETE', customised);
  expect(deleted.body.data?.id).toBeNull();
  expect(deleted.body.data?.txt_content).not.toBe(before.body.data?.txt_content);
  expect((await ask('GET', customised)).body).toEqual(deleted.body);
});

test('DELETE of a never customised one gives 404', async () => {
  const { ask } = await boruta();
  expect((await ask('DELETE', untouched)).status).toBe(404);
  await ask('DELETE', customised);
  expect((await ask('DELETE', customised)).status).toBe(404);
});

test.each(['txt_content', 'html_content'])(
  'in a PATCH a half that is omitted goes back to the built-in text: %s',
  async (half) => {
    const { ask } = await boruta();
    const other = half === 'txt_content' ? 'html_content' : 'txt_content';
    const answer = await ask('PATCH', customised, { template: { [other]: 'new' } });
    expect(answer.body.data?.[other]).toBe('new');
    const builtIn = await ask('DELETE', customised);
    expect(answer.body.data?.[half]).toBe(builtIn.body.data?.[half]);
  },
);

test('a PATCH of the stored bodies loses both halves, but keeps the id', async () => {
  const { ask } = await boruta();
  const before = await ask('GET', customised);
  const answer = await ask('PATCH', customised, { template: before.body.data });
  const builtIn = await ask('DELETE', customised);
  expect(answer.body.data).toEqual({ ...builtIn.body.data, id: ids.txCode });
});

test('two changed halves in one PATCH are kept to the byte', async () => {
  const { ask } = await boruta();
  const template = {
    txt_content: '\r\n  {{{ x }}}\t\u00a0e\u0301 é 😀\u2028\n\n\n',
    html_content: '\ufeff<P>&nbsp;<!-- a -->\r',
  };
  const answer = await ask('PATCH', customised, { template });
  expect(answer.body.data).toMatchObject({ id: ids.txCode, ...template });
  expect((await ask('GET', customised)).body).toEqual(answer.body);
});

test.each([
  ['txt_content', ''],
  ['txt_content', null],
  ['html_content', ''],
  ['html_content', null],
  ['type', 'nothing'],
  ['type', ''],
  ['type', null],
  ['backend_id', 5],
  ['backend_id', null],
])('a PATCH with this is 422: %s %j', async (field, value) => {
  const { withoutEffect } = await boruta();
  const answer = await withoutEffect(422, 'PATCH', customised, { template: { ...bodies, [field]: value } });
  expect(answer.body.errors).toHaveProperty(field);
});

test('a type in the body that differs from the path wins', async () => {
  const { ask } = await boruta();
  const before = await ask('GET', customised);
  const template = { ...bodies, type: 'confirmation_instructions' };
  const answer = await ask('PATCH', customised, { template });
  expect(answer.body.data).toMatchObject(template);
  expect((await ask('GET', untouched)).body).toEqual(answer.body);
  // The template moved, and kept its id.
  expect(answer.body.data?.id).toEqual(before.body.data?.id);
  expect((await ask('GET', customised)).body.data?.id).toBeNull();
});

/** A sandbox with a second backend. */
async function withTwo(): Promise<SandboxApi> {
  const api = await boruta();
  const { backends } = api.sandbox.snapshot();
  api.sandbox.data.backends.push(...backends.map((one) => ({ ...one, id: elsewhere })));
  return api;
}

test('a backend_id in the body moves the template there', async () => {
  const { ask } = await withTwo();
  const before = await ask('GET', customised);
  const template = { ...bodies, backend_id: elsewhere.toUpperCase() };
  const answer = await ask('PATCH', customised, { template });
  expect(answer.body.data).toEqual({ ...before.body.data, ...bodies, backend_id: elsewhere });
  expect((await ask('GET', templatePath('tx_code', elsewhere))).body).toEqual(answer.body);
  expect((await ask('GET', customised)).body.data?.id).toBeNull();
});

test('a type or a backend_id in the body that meets an existing template gives 500', async () => {
  const { ask, withoutEffect } = await withTwo();
  expect((await ask('PATCH', templatePath('tx_code', elsewhere), { template: bodies })).status).toBe(200);
  for (const place of [{ backend_id: elsewhere }, { type: 'reset_password_instructions' }]) {
    await withoutEffect(500, 'PATCH', customised, { template: { ...bodies, ...place } });
  }
});

test.each([
  ['a stored one, for an unknown backend', customised, ids.nobody],
  ['a stored one, for what is no UUID', customised, 'no uuid'],
  ['one that was never customised, for another backend', untouched, elsewhere],
])('a backend_id in the body of %s gives 500', async (_, path, backend_id) => {
  const { withoutEffect } = await withTwo();
  await withoutEffect(500, 'PATCH', path, { template: { ...bodies, backend_id } });
});

test.each([
  ['\u00a0\u2003\n', 422],
  ['a\0', 400],
])('a PATCH after a DELETE can be refused, which loses both halves: %j', async (text, status) => {
  const { ask } = await boruta();
  await ask('DELETE', customised);
  const template = { ...bodies, txt_content: text };
  expect((await ask('PATCH', customised, { template })).status).toBe(status);
  expect((await ask('GET', customised)).body.data?.id).toBeNull();
});
