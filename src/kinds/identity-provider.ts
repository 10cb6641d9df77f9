import * as z from 'zod';
import { optional } from '../base/members.js';
import { error } from '../base/problems.js';
import { idOf } from './by-name.js';
import { type FieldTypes, reference, value } from './fields.js';
import type { Kind } from './kind.js';
import { resource } from './resource.js';
import { identifier, UUID } from './schema.js';

/** The flags, and what each enables. */
const flags: { readonly [field: string]: string } = {
  check_password: 'Whether users sign in with their password. Default on the server: true.',
  choose_session: 'Whether users choose among their sessions. Default on the server: true.',
  totpable: 'Whether users can set up one-time passwords.',
  enforce_totp: 'Whether users must sign in with a one-time password.',
  webauthnable: 'Whether users can register a passkey or a security key.',
  enforce_webauthn: 'Whether users must sign in with a passkey or a security key.',
  registrable: 'Whether anybody can register.',
  user_editable: 'Whether users can edit their data.',
  consentable: 'Whether users are asked for consent to scopes.',
  confirmable: 'Whether users must confirm their email address.',
};

const fields: FieldTypes = {
  name: value,
  backend: reference,
  backend_id: value,
  ...Object.fromEntries(Object.keys(flags).map((name) => [name, value])),
};

/** An identity provider: how clients have users sign in. */
export const identityProvider: Kind = resource(
  {
    name: 'IdentityProvider',
    noun: 'identity provider',
    about: 'An identity provider: how users of a backend sign in to clients.',
    list: 'identityProviders',
    path: '/api/identity-providers',
    param: 'identity_provider_id',
    scope: 'identity-providers:manage:all',
    fields,
    shape: () => ({
      backend: optional(identifier(), 'The backend with its users, by name or id.', 'Staff directory'),
      backend_id: optional(identifier(), 'The id of the backend, instead of backend.', UUID),
      ...Object.fromEntries(
        Object.entries(flags).map(([name, about]) => [name, optional(z.boolean(), about, true)]),
      ),
    }),
    traits: { protectsObjects: 'one', limits: { characters: { name: 255 }, nonBlank: { name: null } } },
    creation: { required: [['backend', 'backend_id']] },
    references: { backend: 'backends' },
    body: ({ backend, ...rest }) => {
      const id = idOf(backend);
      return id === undefined ? rest : { ...rest, backend_id: id };
    },
    problems: (declared) =>
      declared
        .filter(({ fields: { backend, backend_id } }) => backend !== undefined && backend_id !== undefined)
        .map(({ places }) => {
          const message = 'an IdentityProvider has either "backend" or "backend_id"';
          const both = [places.of('backend'), places.of('backend_id')];
          return error('wrong-value', message, both, 'remove one of the two');
        }),
    deletes: ' with its page templates',
  },
  { uniqueNames: true },
);
