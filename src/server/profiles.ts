/** What kind of server it is: the API document's own, or Boruta. */
export type ProfileName = 'documented' | 'boruta';

/** What servers of this API differ in as a whole; how they treat the objects of a kind is said there. */
export interface Profile {
  readonly name: ProfileName;
  /** What the server can't take or keep; null where nothing is known of it. */
  readonly limits: ServerLimits | null;
  /** What only this server's answers look like. */
  readonly signs: Signs | null;
}

export interface ServerLimits {
  /** Every id is a UUID in lower case, but for those that a kind says otherwise of. */
  readonly uuids: boolean;
  /** Bytes that a request's body may have. */
  readonly requestBytes: number;
}

/** How answers tell a server from others. */
interface Signs {
  /** What error answers have together: these members, `errors.resource` for one inside another, and this status. */
  readonly errors: readonly { readonly members: readonly string[]; readonly status?: number }[];
  /** The status of a GET of a path that doesn't exist. */
  readonly unknownPath: number;
}

const documented: Profile = { name: 'documented', limits: null, signs: null };

const boruta: Profile = {
  name: 'boruta',
  limits: { uuids: true, requestBytes: 8_000_000 },
  signs: {
    errors: [
      { members: ['code', 'message', 'errors'] },
      // The document has no 500.
      { members: ['code', 'message'], status: 500 },
    ],
    unknownPath: 406,
  },
};

export const profiles: { readonly [name: string]: Profile } = { documented, boruta };
