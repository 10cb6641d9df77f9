import fc from 'fast-check';
import type { SandboxBackend, SandboxRole, SandboxSeed, SandboxUser } from '../../src/sandbox/index.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { templateDoc, userDoc } from '../kinds/generating/documents.js';
import {
  bodyText,
  type Doc,
  nullableText,
  optionalMembers,
  text,
  upTo,
  word,
} from '../kinds/generating/values.js';

/** A server, and two manifests to apply one after the other. */
export interface Scenario {
  readonly seed: SandboxSeed;
  readonly manifests: readonly (readonly Doc[])[];
}

interface Organization {
  readonly id: string;
  readonly name: string;
  readonly label: string | null;
  /** The name that the manifests give it; undefined if they don't rename it. */
  readonly renamed: string | undefined;
}

const organizationList = fc
  .array(fc.tuple(word, fc.option(text), fc.option(word, { nil: undefined }), word), { maxLength: 7 })
  .map((list) =>
    list.map(
      ([name, label, renamed, id], index): Organization => ({
        id: `${id}/org ${index}`,
        name: `${index} ${name}`,
        label,
        renamed: renamed === undefined ? undefined : `new ${index} ${renamed}`,
      }),
    ),
  );

function organizationDoc({ id, renamed, name }: Organization): fc.Arbitrary<Doc> {
  return fc.tuple(fc.boolean(), optionalMembers({ label: nullableText })).map(([byId, fields]) => {
    if (renamed !== undefined) return { kind: 'Organization', id, name: renamed, ...fields };
    return byId ? { kind: 'Organization', id, ...fields } : { kind: 'Organization', name, ...fields };
  });
}

function keyPairDocs(count: number): fc.Arbitrary<Doc[]> {
  const pairs = Array.from({ length: count }, (_, index) => `key ${index}`);
  return fc.tuple(fc.subarray(pairs), fc.nat(), fc.boolean()).chain(([chosen, pick, moves]) =>
    fc.tuple(
      ...chosen.map((id, index) => {
        const isDefault = moves ? { is_default: fc.constant(index === pick % chosen.length) } : {};
        return optionalMembers({ public_key: nullableText, ...isDefault }).map((fields): Doc => {
          const next = moves && index === pick % chosen.length ? { is_default: true } : {};
          return { kind: 'KeyPair', id, ...fields, ...next };
        });
      }),
    ),
  );
}

function templateDocs(backends: number): fc.Arbitrary<Doc[]> {
  const all = Array.from({ length: backends }, (_, index) => `backend ${index}`).flatMap((backend_id) =>
    ['reset', 'tx_code', 'ünüsual type?'].map((type) => ({ backend_id, type })),
  );
  return upTo(4, all).chain((chosen) =>
    fc.tuple(...chosen.map((identity) => templateDoc(identity, bodyText))),
  );
}

function seedOf(
  organizations: readonly Organization[],
  users: readonly string[],
  keyPairs: number,
  templates: readonly (readonly [string, string])[],
): SandboxSeed {
  const role: SandboxRole = { id: 'role-0', name: 'role 0', scopes: [{ id: 's', name: 's', public: true }] };
  const { users: demoUsers, backends: demoBackends } = loadSeed('demo');
  const [user, backend] = [demoUsers, demoBackends].map(([first]) => first) as [SandboxUser, SandboxBackend];
  return {
    organizations: organizations.map(({ id, name, label }) => ({ id, name, label })),
    users: users.map((id, index) => ({
      ...user,
      id,
      metadata: { kept: { value: index } },
      authorized_scopes: [{ id: 'scope-9', name: 'scope:9', label: 'Nine', public: true }],
      organizations: organizations.slice(0, 1).map(({ id: member }) => ({ id: member, roles: [role] })),
      roles: [],
      backend_id: `backend ${index}`,
    })),
    backends: users.map((_, index) => ({
      ...backend,
      id: `backend ${index}`,
      name: `Backend ${index}`,
      is_default: index === 0,
      roles: [role],
    })),
    templates: templates.map(([txt_content, html_content], index) => ({
      id: `template ${index}`,
      backend_id: `backend ${index}`,
      type: index === 0 ? 'reset' : 'tx_code',
      txt_content,
      html_content,
    })),
    keyPairs: Array.from({ length: keyPairs }, (_, index) => ({
      id: `key ${index}`,
      public_key: `public ${index}`,
      is_default: index === 0,
    })),
    clients: [],
    scopes: [],
    roles: [role],
  };
}

/** A manifest. In the second one, metadata may be merged into what the first one recorded. */
function manifest(
  organizations: readonly Organization[],
  users: readonly string[],
  keyPairs: number,
  clients: number,
  index: number,
  previous: readonly Doc[],
): fc.Arbitrary<Doc[]> {
  const isKnown = (id: string): boolean => previous.some((doc) => doc.kind === 'User' && doc.id === id);
  return fc
    .tuple(
      fc.subarray([...organizations]),
      fc.subarray([...users]),
      fc.subarray(Array.from({ length: clients }, (_, it) => it)),
      fc.boolean(),
    )
    .chain(([chosen, chosenUsers, chosenClients, whole]) => {
      const renamed = new Set(
        [...previous, ...chosen.filter((it) => it.renamed !== undefined)].flatMap((it) =>
          'kind' in it && it.kind !== 'Organization' ? [] : [String(it.id)],
        ),
      );
      return fc
        .tuple(
          fc.tuple(...chosen.map((it) => organizationDoc(it))),
          fc.tuple(
            ...chosenUsers.map((id) =>
              userDoc(id, organizations, renamed, index === 0 || whole || !isKnown(id)),
            ),
          ),
          keyPairDocs(keyPairs),
          templateDocs(users.length),
          fc.tuple(
            ...chosenClients.map((it) =>
              fc
                .nat(3)
                .map(
                  (more): Doc => ({ kind: 'Client', id: `client ${it}`, did_generation: index * 4 + more }),
                ),
            ),
          ),
        )
        .map((docs) => docs.flat());
    });
}

/** Any server of the documented profile, and two manifests that no rule blocks. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .tuple(
    organizationList,
    fc.array(word, { maxLength: 3 }).map((list) => list.map((it, index) => `${it}?/user ${index}`)),
    fc.nat(3),
    fc.nat(2),
    fc.array(fc.tuple(text, text), { maxLength: 2 }),
  )
  .chain(([organizations, users, keyPairs, clients, templates]) =>
    manifest(organizations, users, keyPairs, clients, 0, []).chain((first) =>
      manifest(organizations, users, keyPairs, clients, 1, first).map(
        (second): Scenario => ({
          seed: {
            ...seedOf(organizations, users, keyPairs, templates.slice(0, users.length)),
            clients: loadSeed('demo')
              .clients.slice(0, clients)
              .map((client, it) => ({ ...client, id: `client ${it}` })),
          },
          manifests: [first, second],
        }),
      ),
    ),
  );

/** How documents are written: in which order, files and style. */
export interface Layout {
  readonly order: readonly number[];
  readonly files: readonly number[];
  readonly style: 'line' | 'flow' | 'block';
  readonly bodiesInFiles: boolean;
  readonly crlf: boolean;
}

export const layout: fc.Arbitrary<Layout> = fc.record({
  order: fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }),
  files: fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
  style: fc.constantFrom('line', 'flow', 'block'),
  bodiesInFiles: fc.boolean(),
  crlf: fc.boolean(),
});
