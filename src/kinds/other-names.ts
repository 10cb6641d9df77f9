/** What objects refer to or belong to, and no manifest declares. */
export const otherNames = ['Backend', 'Scope', 'Role'] as const;

/** The name of one of them. */
export type OtherName = (typeof otherNames)[number];
