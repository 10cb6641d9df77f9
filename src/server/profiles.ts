import type { KindName } from '../base/kind-names.js';
import type { Json } from '../base/values.js';
import type { ExtraRead } from './reads.js';

/** What kind of server it is: the API document's own, or Boruta. */
export type ProfileName = 'documented' | 'boruta';

/** What servers of this API differ in, as data: nothing else asks which server it is. */
export interface Profile {
  readonly name: ProfileName;
  /** The reads that the server offers beyond the document; a kind without one is known by its record alone. */
  readonly reads: {
    /** One user, by `user_id`. */
    readonly user?: ExtraRead;
    /** All key pairs. */
    readonly keyPairs?: ExtraRead;
    /** One key pair, by `key_pair_id`. */
    readonly keyPair?: ExtraRead;
    /** One client, by `client_id`. */
    readonly client?: ExtraRead;
    /** All scopes, with their names and labels. */
    readonly scopes?: ExtraRead;
    /** All roles, with their names. */
    readonly roles?: ExtraRead;
  };
  readonly users: {
    /** Whether a scope of a user must carry a label, as the document says. */
    readonly scopeNeedsLabel: boolean;
    /** Whether the elements of a user's lists must carry ids, and a scope its name as label where it has none. */
    readonly elementsNeedIds: boolean;
    /** Whether a user has roles, so that manifests may declare them. */
    readonly hasRoles: boolean;
  };
  readonly templates: {
    /** Whether a half that an update leaves out, or leaves as it is, goes back to the built-in text. */
    readonly halvesFallBack: boolean;
    /**
     * Whether every backend has a built-in text of every type: it takes the place of a template that is deleted, and a
     * GET that finds nothing means that there is no such backend or type.
     */
    readonly allBuiltIn: boolean;
  };
  readonly keyPairs: {
    /** Whether the server itself takes the default away from the former one, which must not be told `false`. */
    readonly movesDefault: boolean;
  };
  /** The fields that an update resets where they aren't sent, so that all of them are sent each time. */
  readonly whole: { readonly [kind in KindName]?: readonly string[] };
  /** The fields that the server takes and does nothing with: never sent, never compared. */
  readonly ignored: { readonly [kind in KindName]?: readonly string[] };
  /** The fields in which an empty text, or one of white space alone, becomes null. */
  readonly emptyIsNull: { readonly [kind in KindName]?: readonly string[] };
  /** What null becomes in a field. */
  readonly nullBecomes: { readonly [kind in KindName]?: { readonly [field: string]: Json } };
  /** The kinds whose updates are several writes, so that a refused one may have done harm. */
  readonly piecemeal: readonly KindName[];
  /** The kinds of which single objects may be protected, so that a 403 says nothing about the others. */
  readonly protects: readonly KindName[];
  /** What the server can't take or keep; null where nothing is known of it. */
  readonly limits: Limits | null;
  /** What only this server's answers look like. */
  readonly signs: Signs | null;
}

export interface Limits {
  /** Every id but that of a scope is a UUID, in lower case. */
  readonly uuids: boolean;
  /** Characters that these texts may have. */
  readonly characters: { readonly [kind in KindName]?: { readonly [field: string]: number } };
  /** Texts that can't be empty, white space alone or null. */
  readonly filled: { readonly [kind in KindName]?: readonly string[] };
  /** Of the texts that become null where they are empty, those that are refused then. */
  readonly notEmpty: { readonly [kind in KindName]?: readonly string[] };
  /** Texts that are words with single spaces between them, in which no word may be twice. */
  readonly uniqueWords: { readonly [kind in KindName]?: readonly string[] };
  /** The members that each element of these maps must have, and what members must be that it may have. */
  readonly elements: {
    readonly [kind in KindName]?: {
      readonly [field: string]: {
        readonly needs: readonly string[];
        readonly types: { readonly [member: string]: MemberType };
      };
    };
  };
  /** Characters that the id of a scope may have, which is any text. */
  readonly scopeIdCharacters: number;
  readonly templateTypes: readonly string[];
  /** Bytes that a request's body may have. */
  readonly requestBytes: number;
}

/** A text, or a list of them. */
export type MemberType = 'text' | 'texts';

/** How answers tell a server from others. */
interface Signs {
  /** In the answer about an object of a kind: what it has, what it lacks, what is null. */
  readonly answers: {
    readonly [kind in KindName]?: {
      readonly has?: readonly string[];
      readonly lacks?: readonly string[];
      readonly null?: readonly string[];
      /** Whether a field that was sent as it was may come back otherwise. */
      readonly resets?: true;
      /** Whether updating objects of this kind as the document has it loses what wasn't sent. */
      readonly losesSilently?: true;
    };
  };
  /** What error answers have together: these members, `errors.resource` for one inside another, and this status. */
  readonly errors: readonly { readonly members: readonly string[]; readonly status?: number }[];
  /** The status of a GET of a path that doesn't exist. */
  readonly unknownPath: number;
  /** The kinds that must not be written as the document has it, since that may lose what isn't mentioned. */
  readonly unsafe: readonly KindName[];
}

const documented: Profile = {
  name: 'documented',
  reads: {},
  users: { scopeNeedsLabel: true, elementsNeedIds: false, hasRoles: false },
  templates: { halvesFallBack: false, allBuiltIn: false },
  keyPairs: { movesDefault: false },
  whole: {},
  ignored: {},
  emptyIsNull: {},
  nullBecomes: {},
  piecemeal: [],
  protects: [],
  limits: null,
  signs: null,
};

const boruta: Profile = {
  name: 'boruta',
  reads: {
    user: { title: 'show a user', path: '/api/users/:user_id', scope: 'users:manage:all' },
    keyPairs: { title: 'list key pairs', path: '/api/key-pairs', scope: 'clients:manage:all' },
    keyPair: {
      title: 'show a key pair',
      path: '/api/key-pairs/:key_pair_id',
      scope: 'clients:manage:all',
    },
    client: { title: 'show a client', path: '/api/clients/:client_id', scope: 'clients:manage:all' },
    scopes: { title: 'list scopes', path: '/api/scopes', scope: 'users:manage:all' },
    roles: { title: 'list roles', path: '/api/roles', scope: 'users:manage:all' },
  },
  users: { scopeNeedsLabel: false, elementsNeedIds: true, hasRoles: true },
  templates: { halvesFallBack: true, allBuiltIn: true },
  keyPairs: { movesDefault: true },
  whole: {
    Organization: ['name', 'label'],
    User: ['metadata', 'group', 'authorized_scopes', 'organizations', 'roles'],
    EmailTemplate: ['txt_content', 'html_content'],
  },
  ignored: {
    User: ['uid', 'username', 'totp_registered_at', 'federated_metadata', 'blocked', 'backend'],
    KeyPair: ['public_key'],
    // A template that is written anew gets an id of its own.
    EmailTemplate: ['id'],
  },
  emptyIsNull: { Organization: ['label'], User: ['group'] },
  nullBecomes: {
    User: { metadata: {}, authorized_scopes: [], organizations: [], roles: [] },
    KeyPair: { is_default: false },
  },
  piecemeal: ['User'],
  protects: ['User'],
  limits: {
    uuids: true,
    characters: { Organization: { name: 255, label: 255 }, User: { group: 255 } },
    filled: { Organization: ['name'], EmailTemplate: ['txt_content', 'html_content'] },
    notEmpty: { Organization: ['label'] },
    uniqueWords: { User: ['group'] },
    elements: {
      User: { metadata: { needs: ['value', 'status'], types: { status: 'text', display: 'texts' } } },
    },
    scopeIdCharacters: 255,
    templateTypes: ['confirmation_instructions', 'reset_password_instructions', 'tx_code'],
    requestBytes: 8_000_000,
  },
  signs: {
    answers: {
      User: { has: ['roles'], lacks: ['blocked'], losesSilently: true },
      EmailTemplate: { null: ['id'], resets: true },
    },
    errors: [
      { members: ['code', 'message', 'errors'] },
      // The document has no 500.
      { members: ['code', 'message'], status: 500 },
    ],
    unknownPath: 406,
    unsafe: ['User', 'KeyPair', 'EmailTemplate', 'Client'],
  },
};

export const profiles: { readonly [name: string]: Profile } = { documented, boruta };
