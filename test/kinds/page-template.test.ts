import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { mailOf } from '../../src/mail/servers.js';
import type { Change } from '../../src/plan/plan.js';
import { applyAll } from '../approving.js';
import { inPlace, type Place } from '../properties/writing.js';
import type { Doc } from './generating/values.js';

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

const withServer = async <T>(work: (place: Place) => Promise<T>): Promise<T> =>
  await inPlace({ seed: 'demo', profile: 'boruta' }, work);
const plan = async ({ session }: Place) => await session((it) => it.plan());
const apply = async ({ writing }: Place) => await writing(async (it) => await applyAll(it, await it.plan()));

async function changeOf(place: Place, ...docs: Doc[]): Promise<Change | undefined> {
  place.declare(docs);
  const { changes } = await plan(place);
  return changes.find(({ action }) => action !== 'unchanged');
}

describe.each<[string, Doc, 'pageTemplates' | 'errorTemplates', string]>([
  ['a page of a provider', page, 'pageTemplates', `PageTemplate/${provider}/new_session`],
  ['an error page', notFound, 'errorTemplates', 'ErrorTemplate/404'],
])('%s', (_, document, list, address) => {
  it('is customized, kept, deleted and put back by an undo', async () => {
    await withServer(async (place) => {
      expect(await changeOf(place, document)).toMatchObject({ action: 'update', address, warnings: [] });
      expect((await apply(place)).result.results).toMatchObject([{ status: 'applied', unverified: [] }]);
      expect(place.sandbox.data[list]).toMatchObject([{ content: document.content }]);
      expect(await changeOf(place, document)).toBeUndefined();
      const { content: _, ...identity } = document;
      const gone = { ...identity, state: 'absent' } as Doc;
      expect(await changeOf(place, gone)).toMatchObject({
        action: 'delete',
        fields: [{ becomes: 'built-in' }],
      });
      const { result } = await apply(place);
      expect(place.sandbox.data[list]).toEqual([]);
      expect(await changeOf(place, gone)).toBeUndefined();
      await place.writing(async (it) => {
        const undo = await it.planUndo(String(result.run));
        await applyAll(it, undo.plan);
      });
      expect(place.sandbox.data[list]).toMatchObject([{ content: document.content }]);
    });
  });

  it('is pruned only if the configuration names its kind', async () => {
    await withServer(async (place) => {
      place.declare([document]);
      await apply(place);
      place.declare([{ kind: 'Organization', name: 'acme' }]);
      const prune = async () => (await place.session((it) => it.plan({ prune: true }))).changes;
      expect((await prune()).filter(({ action }) => action === 'delete')).toEqual([]);
      writeFileSync(
        join(place.folder, 'idops.yaml'),
        `version: 1\nserver: {profile: boruta}\nprune: [${document.kind}]\n`,
      );
      expect((await prune()).filter(({ action }) => action === 'delete')).toMatchObject([{ address }]);
    });
  });

  it('is not pruned if the server had it before idops changed it', async () => {
    await withServer(async (place) => {
      place.declare([document]);
      await apply(place);
      rmSync(join(place.folder, '.idops'), { recursive: true });
      place.declare([{ ...document, content: `${document.content}<p>More</p>` }]);
      await apply(place);
      place.declare([{ kind: 'Organization', name: 'acme' }]);
      writeFileSync(
        join(place.folder, 'idops.yaml'),
        `version: 1\nserver: {profile: boruta}\nprune: [${document.kind}]\n`,
      );
      const { changes } = await place.session((it) => it.plan({ prune: true }));
      expect(changes.map(({ action }) => action)).toEqual(['unchanged']);
    });
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
    await withServer(async (place) => {
      expect(await changeOf(place, document)).toMatchObject({
        action: 'blocked',
        reason: expect.stringMatching(reason),
      });
    });
  });

  it.each<[string, Doc, RegExp]>([
    ['of an unknown type', { ...page, type: 'login' }, /no page template of this type/],
    ['without content', { ...page, content: ' ' }, /only white space/],
    ['without a provider', { kind: 'PageTemplate', type: 'layout', content: 'x' }, /identity_provider/],
    ['of a status that has none', { ...notFound, type: '418' }, /no error template of this type/],
  ])('%s is refused', async (_, document, reason) => {
    await withServer(async (place) => {
      place.declare([document]);
      await expect(plan(place)).rejects.toThrow(reason);
    });
  });

  it('may give its status as a number', async () => {
    await withServer(async (place) => {
      expect(await changeOf(place, { ...notFound, type: 404 } as never)).toMatchObject({ action: 'update' });
    });
  });

  it('that a changed provider dropped is sent again after the 409', async () => {
    await withServer(async (place) => {
      place.declare([page]);
      await apply(place);
      // As after a PATCH of the provider with other templates.
      place.sandbox.data.pageTemplates.splice(0);
      const changed = { ...page, content: 'other' };
      place.declare([changed]);
      expect((await apply(place)).result.results).toMatchObject([{ status: 'applied', attempts: 2 }]);
      expect(place.sandbox.data.pageTemplates).toMatchObject([{ content: 'other' }]);
      expect(await changeOf(place, changed)).toBeUndefined();
    });
  });

  it('that somebody else deleted meanwhile counts as deleted', async () => {
    await withServer(async (place) => {
      place.declare([page]);
      await apply(place);
      const { content: _, ...identity } = page;
      place.declare([{ ...identity, state: 'absent' } as Doc]);
      const { result } = await place.writing(async (it) => {
        const planned = await it.plan();
        place.sandbox.data.pageTemplates.splice(0);
        return await applyAll(it, planned);
      });
      expect(result.results).toMatchObject([{ status: 'applied', httpStatus: 404, error: null }]);
    });
  });

  it('sends its content alone, since its type in the body would move it', async () => {
    await withServer(async (place) => {
      expect(await changeOf(place, page)).toMatchObject({
        requests: [{ body: { content: page.content } }],
      });
    });
  });
});

describe.each<[string, { readonly id?: string }]>([
  ['by name', {}],
  ['with an id', { id: '90000000-0001-4000-8000-000000000009' }],
])('a page of a provider that the same plan creates %s', (_, id) => {
  const owner: Doc = {
    kind: 'IdentityProvider',
    ...id,
    name: 'Partners',
    backend: 'Company directory',
    create: true,
  };
  const own: Doc = { ...page, identity_provider: 'Partners' };

  it('is written after it, and goes with it', async () => {
    await withServer(async (place) => {
      place.declare([owner, own]);
      const { changes } = await plan(place);
      expect(changes).toMatchObject([
        { action: 'create', kind: 'IdentityProvider' },
        { action: 'update', address: 'PageTemplate/Partners/new_session', reason: null, warnings: [] },
      ]);
      const { result } = await apply(place);
      expect(result.results.map(({ status }) => status)).toEqual(['applied', 'applied']);
      const { data } = place.sandbox;
      const made = data.identityProviders.find(({ name }) => name === 'Partners')?.id;
      expect(data.pageTemplates).toMatchObject([{ identity_provider_id: made, content: page.content }]);
      expect((await plan(place)).changes.filter(({ action }) => action !== 'unchanged')).toEqual([]);
      const { content: _content, ...named } = own;
      place.declare([
        { kind: 'IdentityProvider', name: 'Partners', state: 'absent' },
        { ...named, state: 'absent' },
      ]);
      expect((await apply(place)).result.results.map(({ status }) => status)).toEqual(['applied', 'applied']);
      expect(data.identityProviders.some(({ name }) => name === 'Partners')).toBe(false);
      expect((await plan(place)).changes.filter(({ action }) => action !== 'unchanged')).toEqual([]);
    });
  });

  it('is undone with it', async () => {
    await withServer(async (place) => {
      place.declare([owner, own]);
      const { result } = await apply(place);
      await place.writing(async (it) => {
        const undo = await it.planUndo(String(result.run));
        const undone = await applyAll(it, undo.plan);
        expect(undone.result.results.map(({ status }) => status)).toEqual(['applied', 'applied']);
      });
      expect(place.sandbox.data.pageTemplates).toEqual([]);
      expect(place.sandbox.data.identityProviders.some(({ name }) => name === 'Partners')).toBe(false);
    });
  });

  it('is sent however long the plan was looked at', async () => {
    await withServer(async (place) => {
      place.declare([owner, own]);
      await place.writing(async (it) => {
        const planned = await it.plan();
        const now = vi.spyOn(performance, 'now');
        const later = performance.now() + 60_000;
        now.mockImplementation(() => later);
        try {
          const { result } = await applyAll(it, planned);
          expect(result.results.map(({ status, error }) => [status, error])).toEqual([
            ['applied', null],
            ['applied', null],
          ]);
        } finally {
          now.mockRestore();
        }
      });
    });
  });
});

describe('the content of a page', () => {
  const found = (type: string, html: string) =>
    checkTemplate({ after: { html }, mail: mailOf('boruta', type) }).map(({ code }) => code);

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
