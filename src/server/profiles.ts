/** The type of the server: as documented, or Boruta. */
export type ProfileName = 'documented' | 'boruta';

/** The differences of a server. Those that concern one kind are in its traits. */
export interface Profile {
  readonly name: ProfileName;
  /** Whether objects can be created and deleted. */
  readonly creates: boolean;
  /** Null if unknown. */
  readonly limits: ServerLimits | null;
  /** How to recognise it by its answers; null if that is impossible. */
  readonly signs: Signs | null;
}

export interface ServerLimits {
  /** Ids are lower-case UUIDs, unless a kind's traits say otherwise. */
  readonly uuids: boolean;
  readonly requestBytes: number;
}

interface Signs {
  /** Members of error answers (`errors.resource` for a nested one), and their status. */
  readonly errors: readonly { readonly members: readonly string[]; readonly status?: number }[];
  /** The status of a GET of a path that doesn't exist. */
  readonly unknownPath: number;
}

const documented: Profile = { name: 'documented', creates: false, limits: null, signs: null };

const boruta: Profile = {
  name: 'boruta',
  creates: true,
  limits: { uuids: true, requestBytes: 8_000_000 },
  signs: {
    errors: [
      { members: ['code', 'message', 'errors'] },
      // The documented API has no 500.
      { members: ['code', 'message'], status: 500 },
    ],
    unknownPath: 406,
  },
};

export const profiles: { readonly [name: string]: Profile } = { documented, boruta };
