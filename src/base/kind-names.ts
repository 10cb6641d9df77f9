/** The kinds of objects, in the order in which they are applied. */
export const kindNames = [
  'Scope',
  'Role',
  'Organization',
  'Client',
  'User',
  'KeyPair',
  'EmailTemplate',
  'PageTemplate',
  'ErrorTemplate',
] as const;

/** The name of a kind, as a manifest's `kind` says it. */
export type KindName = (typeof kindNames)[number];

/** What objects refer to or belong to, and no manifest declares. */
export const otherNames = ['Backend'] as const;

/** The name of one of them. */
export type OtherName = (typeof otherNames)[number];
