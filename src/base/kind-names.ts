/** The kinds of objects that the API has, in the order in which they are applied. */
export const kindNames = ['Organization', 'User', 'KeyPair', 'EmailTemplate', 'Client'] as const;

export type KindName = (typeof kindNames)[number];
