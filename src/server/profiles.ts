export type ProfileName = 'documented' | 'boruta';

/** What servers of this API differ in, as data: nothing else asks which server it is. */
export interface Profile {
  readonly name: ProfileName;
  readonly users: {
    /** Whether a scope of a user must carry a label, as the document says. */
    readonly scopeNeedsLabel: boolean;
  };
}

export const profiles: { readonly [name: string]: Profile } = {
  documented: { name: 'documented', users: { scopeNeedsLabel: true } },
};
