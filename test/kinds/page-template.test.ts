import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { serverMail } from '../../src/mail/servers.js';
import type { Change } from '../../src/plan/plan.js';
import { type Doc, type Site, site, todo } from '../boruta/site.js';
import { afterwards } from '../cleanups.js';

const provider = '90000000-0000-4000-8000-000000000001';
const page: Doc = {
  kind: 'PageTemplate',
  identity_provider: 'Company accounts',
  type: 'new_session',
  content:
    '<h1>Sign in</h1> {{^valid?}}{{#errors}}{{ message }}{{/errors}}{{/valid?}}' +
    '<form action="{{ create_user_session_path }}"><input value="{{ _csrf_token }}"></form>',
};
const notFound: Doc = { kind: 'ErrorTemplate', type: '404', content: '<h1>Gone: {{ reason.message }}</h1>' };

/** The only change of the plan for a document. */
async function changeOf(at: Site, document: Doc): Promise<Change | undefined> {
  return (await at.plan(document)).changes[0];
}

const absent = ({ content: _, ...identity }: Doc): Doc => ({ ...identity, state: 'absent' });

describe.each<[string, Doc, 'pageTemplates' | 'errorTemplates', string]>([
  ['a page of a provider', page, 'pageTemplates', `PageTemplate/${provider}/new_session`],
  ['an error page', notFound, 'errorTemplates', 'ErrorTemplate/404'],
])('%s', (_, document, list, address) => {
  it('is customized, kept, deleted, and restored by an undo', async () => {
    const at = await site();
    const made = await at.apply(document);
    expect(made.plan.changes).toMatchObject([{ action: 'update', address, warnings: [] }]);
    expect(made.results).toMatchObject([{ status: 'applied', unverified: [] }]);
    expect(at.sandbox.data[list]).toMatchObject([{ content: document.content }]);
    expect(todo(await at.plan())).toEqual([]);
    const { plan, run } = await at.apply(absent(document));
    expect(plan.changes).toMatchObject([{ action: 'delete', fields: [{ becomes: 'built-in' }] }]);
    expect(at.sandbox.data[list]).toEqual([]);
    expect(todo(await at.plan())).toEqual([]);
    await at.undo(run);
    expect(at.sandbox.data[list]).toMatchObject([{ content: document.content }]);
  });

  const pruned = async (at: Site): Promise<string[]> => {
    await at.declare({ kind: 'Organization', name: 'acme' });
    return todo(await at.session((it) => it.plan({ prune: true })));
  };

  it.each([
    ['Role', []],
    [document.kind, [`delete ${address}`]],
  ])('that idops created is pruned only if the configuration names its kind: %s', async (kind, deleted) => {
    const at = await site({ settings: { prune: [kind] } });
    await at.apply(document);
    expect(await pruned(at)).toEqual(deleted);
  });

  it('is not pruned if the server had it before idops changed it', async () => {
    const at = await site({ settings: { prune: [document.kind] } });
    await at.apply(document);
    rmSync(join(at.folder, '.idops'), { recursive: true });
    await at.apply({ ...document, content: `${document.content}<p>More</p>` });
    expect(await pruned(at)).toEqual([]);
  });
});

describe('a page', () => {
  it.each<[string, Doc, RegExp]>([
    ['of an unknown provider', { ...page, identity_provider: 'Nobody' }, /no identity provider "Nobody"/],
    [
      'of a provider with an unknown id',
      { ...page, identity_provider: provider.replace('9', 'a') },
      /identity provider/,
    ],
  ])('%s is blocked', async (_, document, reason) => {
    expect(await changeOf(await site(), document)).toMatchObject({
      action: 'blocked',
      reason: expect.stringMatching(reason),
    });
  });

  it.each<[string, Doc, RegExp]>([
    ['of an unknown type', { ...page, type: 'login' }, /no page template of this type/],
    ['without content', { ...page, content: ' ' }, /only white space/],
    ['without a provider', { kind: 'PageTemplate', type: 'layout', content: 'x' }, /identity_provider/],
    ['of a status that has none', { ...notFound, type: '418' }, /no error template of this type/],
  ])('%s is refused', async (_, document, reason) => {
    const at = await site();
    await expect(at.plan(document)).rejects.toThrow(reason);
  });

  it('may give its status as a number', async () => {
    expect(await changeOf(await site(), { ...notFound, type: 404 })).toMatchObject({ action: 'update' });
  });

  it('that a changed provider dropped is sent again after the 409', async () => {
    const at = await site();
    await at.apply(page);
    // A PATCH of the provider with other templates has this effect.
    at.sandbox.data.pageTemplates.splice(0);
    const { results } = await at.apply({ ...page, content: 'other' });
    expect(results).toMatchObject([{ status: 'applied', attempts: 2 }]);
    expect(at.sandbox.data.pageTemplates).toMatchObject([{ content: 'other' }]);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('counts as deleted if somebody else deleted it', async () => {
    const at = await site();
    await at.apply(page);
    await at.declare(absent(page));
    const { results } = await at.applyAfter(() => at.sandbox.data.pageTemplates.splice(0), false);
    expect(results).toMatchObject([{ status: 'applied', httpStatus: 404, error: null }]);
  });

  it('sends only its content, since its type in the body would move it', async () => {
    expect(await changeOf(await site(), page)).toMatchObject({
      requests: [{ body: { content: page.content } }],
    });
  });
});

describe.each<[string, { readonly id?: string }]>([
  ['by name', {}],
  ['with an id', { id: '90000000-0001-4000-8000-000000000009' }],
])('a page of a provider that the same plan creates %s', (_, id) => {
  const partners = { kind: 'IdentityProvider', name: 'Partners' };
  const owner: Doc = { ...partners, ...id, backend: 'Company directory', create: true };
  const own: Doc = { ...page, identity_provider: 'Partners' };
  const both = ['applied', 'applied'];

  it('is written after it, and deleted with it', async () => {
    const at = await site();
    const { plan, statuses } = await at.apply(owner, own);
    expect(plan.changes).toMatchObject([
      { action: 'create', kind: 'IdentityProvider' },
      { action: 'update', address: 'PageTemplate/Partners/new_session', reason: null, warnings: [] },
    ]);
    expect(Object.values(statuses)).toEqual(both);
    const { data } = at.sandbox;
    const made = data.identityProviders.find(({ name }) => name === 'Partners')?.id;
    expect(data.pageTemplates).toMatchObject([{ identity_provider_id: made, content: page.content }]);
    expect(todo(await at.plan())).toEqual([]);
    const gone = await at.apply({ ...partners, state: 'absent' }, absent(own));
    expect(Object.values(gone.statuses)).toEqual(both);
    expect(data.identityProviders.some(({ name }) => name === 'Partners')).toBe(false);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('is undone with it', async () => {
    const at = await site();
    const { run } = await at.apply(owner, own);
    expect(Object.values((await at.undo(run)).statuses)).toEqual(both);
    expect(at.sandbox.data.pageTemplates).toEqual([]);
    expect(at.sandbox.data.identityProviders.some(({ name }) => name === 'Partners')).toBe(false);
  });

  it('is sent however long the plan was reviewed', async () => {
    const at = await site();
    await at.declare(owner, own);
    const { statuses } = await at.applyAfter(() => {
      const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
      afterwards(() => now.mockRestore());
    }, false);
    expect(Object.values(statuses)).toEqual(both);
  });
});

describe('the content of a page', () => {
  const found = (type: string, html: string) =>
    checkTemplate({ after: { html }, mail: serverMail('boruta', type) }).map(({ code }) => code);

  it.each<[string, string, readonly string[]]>([
    ['layout', '<main>{{> inner_content }}</main>', []],
    ['new_session', '{{^valid?}}{{#errors}}{{ message }}{{/errors}}{{/valid?}}<script>1</script>', []],
    ['new_session', '{{ current_user.username }}', ['unknown-placeholder']],
    ['edit_user', '{{ current_user.metadata.department.value }}', []],
    ['404', '{{ reason.message }}', []],
    ['404', '{{ reason.messag }}', ['unknown-placeholder']],
    ['new_consent', '{{#scopes}}{{ client.name }}', ['template-syntax']],
    ['layout', '<main>{{ inner_content }}</main>', ['missing-link', 'unknown-placeholder']],
    ['new_session', '{{> inner_content }}', ['unknown-placeholder']],
    ['new_session', '<form method="post"></form>', ['missing-token']],
    ['new_session', '<form method="post"><input value="{{ _csrf_token }}"></form>', []],
  ])('of %s: %s', (type, html, codes) => {
    expect(found(type, html)).toEqual(codes);
  });
});
