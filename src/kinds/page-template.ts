import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { compareText, lazy } from '../base/values.js';
import { withArticle } from '../base/words.js';
import { answers } from '../server/answers.js';
import type { Scope } from '../server/operations.js';
import { observeEach, readOne } from './discovery.js';
import { body } from './fields.js';
import type { Deletion, DiscoverContext, Identity, Kind, Live, ObserveContext } from './kind.js';
import { absentProblems } from './lifecycle.js';
import { ownedBy, ownerProblems } from './owned.js';
import { unknownToProfile } from './resource.js';
import { profileProblems } from './rules.js';
import { document, identifier, noFieldsIfAbsent, state, text, UUID } from './schema.js';
import { decideTemplate, findTemplates, shownTemplate, templateDeletion } from './template.js';
import type { ProfileTraits } from './traits.js';

const pageTypes = [
  ...['layout', 'new_session', 'choose_session', 'new_registration', 'edit_user', 'new_reset_password'],
  ...['edit_reset_password', 'new_confirmation_instructions', 'new_totp_registration'],
  ...['new_totp_authentication', 'new_webauthn_registration', 'new_webauthn_authentication'],
  ...['new_consent', 'credential_offer', 'cross_device_presentation'],
];
const errorTypes = ['400', '401', '403', '404', '500'];

/** Pages that only Boruta has. A PATCH customizes a page, and a DELETE restores the built-in one. */
interface Pages {
  readonly name: 'PageTemplate' | 'ErrorTemplate';
  readonly noun: string;
  readonly about: string;
  readonly path: string;
  readonly scope: Scope;
  readonly types: readonly string[];
  readonly type: z.ZodType;
  /** The owner of the pages; omitted if they belong to the whole server. */
  readonly owner?: ReturnType<typeof ownedBy> & { readonly shape: () => z.ZodRawShape };
}

function pages({ name, noun, about, path, scope, types, type, owner }: Pages): Kind {
  const { byName } = owner?.kind ?? {};
  const ownerParts = byName === undefined ? [] : [byName.id, ...byName.names];
  const identity = { type: { known: types, otherwise: `this server has no ${noun} of this type` } };
  const nonBlank = { content: 'to go back to the built-in page, declare "state: absent"' };
  const traits: ProfileTraits = { documented: {}, boruta: { limits: { identity, nonBlank } } };
  const schema = lazy(() =>
    document(
      name,
      about,
      {
        ...owner?.shape(),
        type: type.meta({ description: `The type of the ${noun}.`, examples: types.slice(0, 3) }),
        content: nullish(text(), 'The page, in HTML and Mustache.', { file: `pages/${types[1]}.html` }),
        state: state(`Absent: delete the ${noun}, so that the server uses its built-in one.`),
      },
      {
        ...noFieldsIfAbsent(['content']),
        ...(owner === undefined ? {} : { oneOf: ownerParts.map((part) => ({ required: [part] })) }),
      },
    ),
  );
  const within = byName?.id;
  const paramsOf = (identity: Identity) => ({
    ...(within === undefined ? {} : { [within]: identity[within] ?? '' }),
    template_type: identity.type ?? '',
  });
  const read = { title: `show ${withArticle(noun)}`, path: `${path}/:template_type`, scope };
  const show = async (identity: Identity, context: ObserveContext): Promise<Live> => {
    // Without an id, the provider was named and doesn't exist any more.
    const isOwned = within === undefined || identity[within] !== undefined;
    return shownTemplate(
      identity,
      isOwned ? await readOne(context, read, paramsOf(identity), answers.object) : null,
    );
  };
  const deletion: Deletion = {
    ...templateDeletion({
      noun,
      bodies: ['content'],
      request: (identity) => ({ operation: `delete${name}`, params: paramsOf(identity) }),
      becomes: () => 'built-in',
    }),
    prunesOnlyCreated: true,
  };
  return {
    name,
    noun,
    onlyProfile: 'boruta',
    schema,
    identity: [...ownerParts, 'type'],
    fields: { content: body },
    scope,
    traits,
    check: (declared, profile) => [
      ...declared.flatMap((one) => [
        ...unknownToProfile(one, noun, profile),
        ...(byName === undefined ? [] : ownerProblems(one, byName)),
        ...absentProblems(one, noun),
      ]),
      ...profileProblems(declared, profile, traits),
    ],
    addressPart: ({ type = '' }) => type,
    ...owner?.kind,
    readable: (profile) => profile.name === 'boruta',
    email: { txt: '', html: 'content', type: 'type', page: owner === undefined ? {} : { layout: 'layout' } },
    observe: (objects, context) =>
      observeEach(objects, async (identity) => {
        const live = await show(identity, context);
        const { [within ?? '']: id = '' } = identity;
        const list = context.hasList('identityProviders') ? await context.list('identityProviders') : null;
        const name = list?.byId(id)?.name;
        return typeof name === 'string' ? { ...live, names: { [id]: name } } : live;
      }),
    decide: (input) => decideTemplate(input, deletion),
    update({ present: { exists, identity }, desired }) {
      const request = {
        operation: `update${name}`,
        params: paramsOf(identity),
        body: desired,
        confirm: { from: {} },
      } as const;
      if (exists !== false) return { requests: [request], expected: desired };
      const reason = `the server answers 404 for it: it has no ${noun} of the type ${identity.type}, or not what it belongs to`;
      return { requests: [], expected: {}, reason };
    },
    deletion,
    discovery: {
      options: { type: 'type' },
      async find(context) {
        const all = await pagesOf(context, types, within);
        return {
          found: await findTemplates(all, (one) => show(one, context), 'the built-in page'),
          notes: [],
        };
      },
      ...(owner === undefined ? {} : { byName: owner.named }),
      fields: ['content'],
      files: { folder: 'pages', extensions: { content: 'html' } },
    },
  };
}

/** The pages of each provider, or of the server, of the types that options name, otherwise of all types. */
async function pagesOf({ list, filters }: DiscoverContext, types: readonly string[], within?: string) {
  const rows = within === undefined ? [] : ((await list('identityProviders'))?.rows() ?? []);
  const owners = within === undefined ? [{}] : rows.map(({ id }) => ({ [within]: String(id) }));
  const wanted =
    (filters.type ?? []).length === 0 ? types : types.filter((type) => filters.type?.includes(type));
  return owners.flatMap((owner) => wanted.toSorted(compareText).map((type) => ({ ...owner, type })));
}

const owned = ownedBy('identityProviders');

/** A page of an identity provider. */
export const pageTemplate: Kind = pages({
  name: 'PageTemplate',
  noun: 'page template',
  about: 'A page of an identity provider, in Mustache.',
  path: '/api/identity-providers/:identity_provider_id/templates',
  scope: 'identity-providers:manage:all',
  types: pageTypes,
  type: identifier(),
  owner: {
    ...owned,
    shape: () => ({
      identity_provider_id: optional(identifier(), 'The id of the identity provider whose page it is.', UUID),
      identity_provider: optional(
        identifier(),
        'The name or id of the identity provider, instead of identity_provider_id.',
        'Company accounts',
      ),
    }),
  },
});

/** A page that the server shows for an HTTP error. */
export const errorTemplate: Kind = pages({
  name: 'ErrorTemplate',
  noun: 'error template',
  about: 'A page that the server shows for an HTTP error, in Mustache.',
  path: '/api/configuration/error-templates',
  scope: 'configuration:manage:all',
  types: errorTypes,
  type: z.union([identifier(), z.int().transform(String)], { error: 'expected a status such as 404' }),
});
