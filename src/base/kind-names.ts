/** The kinds of objects, in the order in which they are applied. */
export const kindNames = [
  'Scope',
  'Role',
  'Organization',
  'Backend',
  'IdentityProvider',
  'Client',
  'User',
  'KeyPair',
  'EmailTemplate',
  'PageTemplate',
  'ErrorTemplate',
] as const;

/** The name of a kind, as a manifest's `kind` says it. */
export type KindName = (typeof kindNames)[number];
