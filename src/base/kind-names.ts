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

/** The name of a kind: the value of `kind` in a manifest. */
export type KindName = (typeof kindNames)[number];
