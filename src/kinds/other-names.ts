/** What objects refer to or belong to, and no manifest declares. */
export const otherNames = ['Backend', 'Scope', 'Role'] as const;

export type OtherName = (typeof otherNames)[number];
