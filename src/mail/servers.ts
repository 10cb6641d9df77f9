import { isMap, setMember } from '../base/values.js';
import { borutaPage } from './pages.js';
import { exampleOf, placeholdersOf } from './placeholders.js';
import { type Bound, Moment, Opaque, type Part, type Partials } from './template.js';

/** The data of a server's mails of one type. */
export interface MailOf {
  /** All names that the server fills in, with example values. */
  readonly data: { readonly [name: string]: Bound };
  /** The name without which a mail is of no use; omitted for a page. */
  readonly link?: string;
  /** What the server puts in place of the partials of a page. */
  readonly partials?: Partials;
}

const manyOf = (what: string) => new Opaque(`a list of ${what}`);

/** A Boruta user in mails. Structures can't be printed or accessed. */
const user = {
  id: '5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11',
  uid: '9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77',
  username: 'jane.doe@example.com',
  group: 'staff',
  account_type: 'internal',
  backend_id: '8d0a1f52-7c1e-4d8a-9a55-0c6b1d2e3f40',
  metadata: {},
  federated_metadata: {},
  confirmed_at: new Moment('2026-01-31 12:00:00.000000Z'),
  last_login_at: new Moment('2026-01-31 12:00:00.000000Z'),
  inserted_at: new Moment('2026-01-31 12:00:00Z'),
  updated_at: new Moment('2026-01-31 12:00:00Z'),
  backend: new Opaque('a structure'),
  user_tokens: manyOf('tokens'),
  __meta__: new Opaque('a structure'),
  organizations: manyOf('memberships'),
  roles: manyOf('roles'),
  authorized_scopes: manyOf('scopes'),
  consents: manyOf('consents'),
};

const borutaMails: { readonly [type: string]: MailOf } = {
  confirmation_instructions: { data: { user, url: 'https://example.com/confirm/1f2e' }, link: 'url' },
  reset_password_instructions: { data: { user, url: 'https://example.com/reset/1f2e' }, link: 'url' },
  tx_code: { data: { user, tx_code: '493172' }, link: 'tx_code' },
};

/** The data of a profile's mails or pages of a type, whose dialect is Mustachex; undefined if unknown. */
export function mailOf(profile: string, type: string): MailOf | undefined {
  if (profile !== 'boruta') return undefined;
  if (Object.hasOwn(borutaMails, type)) return borutaMails[type];
  return borutaPage(type);
}

/** Whether this is a page of the server and no mail. */
export function isPage(mail: MailOf | undefined): boolean {
  return mail !== undefined && mail.link === undefined;
}

/** The data with a user who has no optional values. */
export function ofBareUser(data: MailOf['data']): MailOf['data'] {
  return { ...data, user: { ...user, group: null, confirmed_at: null, last_login_at: null } };
}

/** The data, with an entry in the user's metadata for each key that a body uses. */
export function withMetadata(data: MailOf['data'], parts: readonly Part[]): MailOf['data'] {
  const found: { [field: string]: { [key: string]: Bound } } = { metadata: {}, federated_metadata: {} };
  for (const { name } of placeholdersOf(parts)) {
    const [, field = '', key = ''] = /(?:^|\.)(metadata|federated_metadata)\.([^.]+)/.exec(name) ?? [];
    const entries = found[field];
    if (entries !== undefined)
      setMember(entries, key, { value: exampleOf(key), status: 'valid', display: [key] });
  }
  const who = Object.hasOwn(data, 'current_user') ? 'current_user' : 'user';
  const { [who]: known } = data;
  return isMap(known) ? { ...data, [who]: { ...known, ...found } } : data;
}
