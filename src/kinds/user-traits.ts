import type { ProfileTraits, Traits } from './traits.js';

interface UserTraits extends Traits {
  /** Whether a scope of a user must carry a label, as the document says. */
  readonly scopeNeedsLabel: boolean;
  /** Whether the elements of a user's lists must carry ids, and a scope its name as label where it has none. */
  readonly elementsNeedIds: boolean;
  /** Whether a user has roles, so that manifests may declare them. */
  readonly hasRoles: boolean;
  /** Whether decimals in metadata are read as doubles, and may come back in another spelling. */
  readonly doubles: boolean;
}

export const userTraits: ProfileTraits<UserTraits> = {
  documented: { scopeNeedsLabel: true, elementsNeedIds: false, hasRoles: false, doubles: false },
  boruta: {
    scopeNeedsLabel: false,
    elementsNeedIds: true,
    hasRoles: true,
    doubles: true,
    reads: {
      one: { title: 'show a user', path: '/api/users/:user_id', scope: 'users:manage:all' },
      all: { title: 'list users', path: '/api/users', scope: 'users:manage:all', pageSize: 1000 },
    },
    whole: ['metadata', 'group', 'authorized_scopes', 'organizations', 'roles'],
    ignored: ['uid', 'username', 'totp_registered_at', 'federated_metadata', 'blocked', 'backend'],
    emptyIsNull: ['group'],
    nullBecomes: { metadata: {}, authorized_scopes: [], organizations: [], roles: [] },
    piecemeal: true,
    protects: true,
    limits: {
      // The id of a scope may be any text.
      ids: { authorized_scopes: 255, roles: null, organizations: null },
      characters: { group: 255 },
      uniqueWords: ['group'],
      elements: {
        metadata: { needs: ['value', 'status'], types: { status: 'text', display: 'texts' } },
      },
    },
    signs: { has: ['roles'], lacks: ['blocked'], losesSilently: true },
    unsafe: true,
  },
};
