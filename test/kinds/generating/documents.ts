import fc from 'fast-check';
import type { Json } from '../../../src/base/values.js';
import {
  type Doc,
  flag,
  int32,
  moment,
  nullableText,
  object,
  objects,
  optionalMembers,
  text,
  upTo,
  word,
} from './values.js';

const roleScopes = fc.array(optionalMembers({ id: word, name: word, public: fc.boolean() }), {
  maxLength: 2,
});

/** Distinct roles, referred to by id, by name or by both. */
const roles = fc
  .uniqueArray(fc.nat(5), { maxLength: 3 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((role) =>
        fc
          .tuple(fc.nat(2), fc.option(roleScopes, { nil: undefined }))
          .map(
            ([by, scopes]): Json => ({
              ...(by === 1 ? {} : { id: `role-${role}` }),
              ...(by === 0 ? {} : { name: `role ${role}` }),
              ...(scopes === undefined ? {} : { scopes }),
            }),
          ),
      ),
    ),
  );

const scopes = fc
  .uniqueArray(fc.nat(6), { maxLength: 3 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((scope) =>
        fc
          .tuple(fc.boolean(), text, fc.option(fc.boolean(), { nil: undefined }))
          .map(
            ([id, label, open]): Json => ({
              ...(id ? { id: `scope-${scope}` } : {}),
              name: `scope:${scope}`,
              label,
              ...(open === undefined ? {} : { public: open }),
            }),
          ),
      ),
    ),
  );

const backendMembers = optionalMembers({
  name: nullableText,
  type: nullableText,
  is_default: flag,
  create_default_organization: flag,
  roles: fc.option(roles, { freq: 5 }),
  metadata_fields: fc.option(objects, { freq: 5 }),
  federated_servers: objects,
  verifiable_credentials: objects,
  verifiable_presentations: objects,
  password_hashing_alg: nullableText,
  password_hashing_opts: fc.option(object, { freq: 5 }),
  ldap_pool_size: fc.option(int32),
  ldap_host: nullableText,
  ldap_ou: nullableText,
  smtp_from: nullableText,
  smtp_relay: nullableText,
  smtp_ssl: flag,
  smtp_port: int32,
  features: fc.option(fc.array(text, { maxLength: 3 }), { freq: 5 }),
});

/** Few users have a secret, because hashing is slow. */
const passwords: fc.Arbitrary<{ [field: string]: Json }> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: optionalMembers({ smtp_password: nullableText, ldap_master_password: text }) },
);

/** An organization that documents refer to. */
interface Organization {
  readonly id: string;
  readonly name: string;
  /** The name that the manifests give it; undefined if they don't rename it. */
  readonly renamed?: string | undefined;
}

/** References to organizations by present or future name, or by id. */
function memberships(
  organizations: readonly Organization[],
  renamed: ReadonlySet<string>,
): fc.Arbitrary<Json> {
  return upTo(4, organizations).chain((chosen) =>
    fc.tuple(
      ...chosen.map((organization) =>
        fc.tuple(fc.nat(3), roles).map(([by, held]): Json => {
          const name = renamed.has(organization.id)
            ? (organization.renamed ?? organization.name)
            : organization.name;
          if (by === 0) return name;
          if (by === 1) return organization.id;
          return by === 2 ? { name, roles: held } : { id: organization.id, roles: held };
        }),
      ),
    ),
  );
}

/** A document about a user under the documented profile, in which users have no roles. */
export function userDoc(
  id: string,
  organizations: readonly Organization[],
  renamed: ReadonlySet<string>,
  whole: boolean,
  secrets = passwords,
): fc.Arbitrary<Doc> {
  const metadata = fc.option(object, { freq: 6 });
  return fc
    .tuple(
      optionalMembers({
        uid: nullableText,
        username: nullableText,
        totp_registered_at: fc.option(moment),
        metadata,
        federated_metadata: metadata,
        blocked: flag,
        group: nullableText,
        authorized_scopes: fc.option(scopes, { freq: 6 }),
        organizations: fc.option(memberships(organizations, renamed), { freq: 6 }),
      }),
      fc.option(fc.tuple(backendMembers, secrets), { nil: undefined, freq: 2 }),
    )
    .map(
      ([fields, backend]): Doc => ({
        kind: 'User',
        id,
        ...fields,
        ...(backend === undefined ? {} : { backend: { ...backend[0], ...backend[1] } }),
        ...(whole ? { whole: ['metadata', 'federated_metadata'] } : {}),
      }),
    );
}

type TemplateIdentity = { readonly backend_id: string; readonly type: string };

/** A document that deletes an email template. */
export function absent(identity: TemplateIdentity): Doc {
  return { kind: 'EmailTemplate', ...identity, state: 'absent' };
}

/** A document about an email template, or one that deletes it. */
export function templateDoc(
  identity: TemplateIdentity,
  body: fc.Arbitrary<string | null>,
): fc.Arbitrary<Doc> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(absent(identity)) },
    {
      weight: 3,
      arbitrary: optionalMembers({ txt_content: body, html_content: body }).map(
        (fields): Doc => ({ kind: 'EmailTemplate', ...identity, ...fields }),
      ),
    },
  );
}
