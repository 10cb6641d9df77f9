import { isMap, setMember } from '../base/values.js';
import { borutaPage } from './pages.js';
import { exampleValue, placeholdersOf } from './placeholders.js';
import { Opaque, OpaqueTime, type Part, type Partials, type TemplateValue } from './template.js';

/** What a server fills into its mails or pages of one type. */
export interface ServerMail {
  /** The names that the server fills in, with example values. */
  readonly data: { readonly [name: string]: TemplateValue };
  /** The name of the link or code that a mail is for; undefined for a page. */
  readonly link?: string;
  /** What the server replaces the partials of a page with. */
  readonly partials?: Partials;
}

const opaqueList = (what: string) => new Opaque(`a list of ${what}`);

/** A user in Boruta's mails. Templates can neither print nor access structures. */
const user = {
  id: '5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11',
  uid: '9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77',
  username: 'jane.doe@example.com',
  group: 'staff',
  account_type: 'internal',
  backend_id: '8d0a1f52-7c1e-4d8a-9a55-0c6b1d2e3f40',
  metadata: {},
  federated_metadata: {},
  confirmed_at: new OpaqueTime('2026-01-31 12:00:00.000000Z'),
  last_login_at: new OpaqueTime('2026-01-31 12:00:00.000000Z'),
  inserted_at: new OpaqueTime('2026-01-31 12:00:00Z'),
  updated_at: new OpaqueTime('2026-01-31 12:00:00Z'),
  backend: new Opaque('a structure'),
  user_tokens: opaqueList('tokens'),
  __meta__: new Opaque('a structure'),
  organizations: opaqueList('memberships'),
  roles: opaqueList('roles'),
  authorized_scopes: opaqueList('scopes'),
  consents: opaqueList('consents'),
};

const borutaMails: { readonly [type: string]: ServerMail } = {
  confirmation_instructions: { data: { user, url: 'https://example.com/confirm/1f2e' }, link: 'url' },
  reset_password_instructions: { data: { user, url: 'https://example.com/reset/1f2e' }, link: 'url' },
  tx_code: { data: { user, tx_code: '493172' }, link: 'tx_code' },
};

/** What the profile's server fills into mails or pages of a type; undefined if unknown. Their dialect is Mustachex. */
export function serverMail(profile: string, type: string): ServerMail | undefined {
  if (profile !== 'boruta') return undefined;
  if (Object.hasOwn(borutaMails, type)) return borutaMails[type];
  return borutaPage(type);
}

/** Whether this is a page instead of a mail. */
export function isPage(mail: ServerMail | undefined): boolean {
  return mail !== undefined && mail.link === undefined;
}

/** The data for a user without optional values. */
export function withMinimalUser(data: ServerMail['data']): ServerMail['data'] {
  return { ...data, user: { ...user, group: null, confirmed_at: null, last_login_at: null } };
}

/** The data with the metadata keys of the user that a body uses. */
export function withUsedMetadata(data: ServerMail['data'], parts: readonly Part[]): ServerMail['data'] {
  const found: { [field: string]: { [key: string]: TemplateValue } } = {
    metadata: {},
    federated_metadata: {},
  };
  for (const { name } of placeholdersOf(parts)) {
    const [, field = '', key = ''] = /(?:^|\.)(metadata|federated_metadata)\.([^.]+)/.exec(name) ?? [];
    const entries = found[field];
    if (entries !== undefined)
      setMember(entries, key, { value: exampleValue(key), status: 'valid', display: [key] });
  }
  const who = Object.hasOwn(data, 'current_user') ? 'current_user' : 'user';
  const { [who]: known } = data;
  return isMap(known) ? { ...data, [who]: { ...known, ...found } } : data;
}
