import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
