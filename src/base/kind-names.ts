/** The kinds of objects that the API has, in the order in which they are applied. */
export const kindNames = ['Organization', 'User', 'KeyPair', 'EmailTemplate', 'Client'] as const;

/** The name of a kind, as a manifest's `kind` says it. */
export type KindName = (typeof kindNames)[number];
