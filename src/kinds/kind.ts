import type { z } from 'zod';
import type { KindName } from '../base/kind-names.js';
import type { Problem, ProblemCode } from '../base/problems.js';
import type { Fields, Value } from '../base/values.js';
import type { Scope, WriteRequest } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import type { Action, FieldChange, PlanWarning } from './change.js';
import type { Declared, Identity, Selector } from './declared.js';
import type { FieldTypes } from './fields.js';
import type { Access, Holding } from './holdings.js';
import type { ListName, References } from './references.js';
import type { ProfileTraits } from './traits.js';

export type { Declared, Identity, Selector } from './declared.js';
export type { KindName };

/** The server's answer about an object. */
export interface Live {
  readonly exists: boolean;
  /** The identity, with ids instead of names. */
  readonly identity: Identity;
  /** A field that is absent is unknown. */
  readonly fields: Fields;
  /** Objects in the answer that the server ignores in updates. They are compared and never sent. */
  readonly readOnly?: Fields;
  /** Names of other objects in the answer, by id. */
  readonly names?: { readonly [id: string]: string };
  /** Why the object was not found. */
  readonly reason?: string;
  /** `; did you mean …?` for the end of the reason, or nothing. Computed only if the reason is shown, since it searches all names. */
  readonly suggestion?: () => string;
  /** True if the server certainly doesn't have the object, so it can be created. */
  readonly missing?: true;
}

export interface ObserveContext {
  readonly reader: Reader;
  readonly profile: Profile;
  /** Whether to read each object with its own request if the server can, instead of from a list. */
  readonly oneByOne: boolean;
  /** Whether the list was already requested. */
  hasList(name: ListName): boolean;
  /** A list, read once; null if the server doesn't offer it. */
  list<N extends ListName>(name: N): Promise<NonNullable<References[N]> | null>;
  /** Limits concurrent reads. */
  readonly limit: <T>(read: () => Promise<T>) => Promise<T>;
}

/** What is known about an object: from the server if it can be read, otherwise from the state. */
export interface Present {
  /** Undefined if the profile can't read the object. */
  readonly exists: boolean | undefined;
  readonly identity: Identity;
  readonly fields: Fields;
  /** Objects in the answer that the server ignores in updates. */
  readonly readOnly?: Fields;
  /** The part of `fields` that the server showed; the rest is from the state. */
  readonly live: Fields;
  /** The recorded regeneration number, such as `did_generation`. */
  readonly generation?: number;
  /** The run whose regeneration has an unknown outcome. */
  readonly pendingRun?: string;
  /** Recorded fields that no document sets, such as a client's DID. */
  readonly record?: { readonly fields: Fields; readonly at: string; readonly run: string | null };
  /** Whether the object equals the server's response to the last recorded DELETE. */
  readonly matchesDeleteResponse: boolean;
}

export interface PlanInput {
  readonly declared: Declared;
  readonly present: Present;
  /** The complete desired value of each declared field. */
  readonly desired: Fields;
  /** The declared fields whose present value differs or is unknown. */
  readonly changed: ReadonlySet<string>;
  readonly profile: Profile;
  readonly references: References;
}

export interface ResolveContext {
  readonly references: References;
  readonly profile: Profile;
  /** The known fields of the object. */
  readonly present: Fields;
  /** Whether a field is declared. Names in it must be current; names from the state may be outdated. */
  readonly isDeclared: (field: string) => boolean;
  /** The file and line of a part of a field, for messages. */
  readonly locationOf: (...path: (string | number)[]) => string;
}

export interface Resolved {
  readonly fields: Fields;
  /** Why references can't be resolved. */
  readonly reasons: readonly string[];
  /** The fields in which the server's lists confirmed every name. */
  readonly confirmed: readonly string[];
  readonly warnings: readonly (PlanWarning & { readonly field: string })[];
}

/** The requests of an update and the values that they send. */
export interface Update {
  /** Empty if another change in the plan has the same effect. */
  readonly requests: readonly WriteRequest[];
  readonly expected: Fields;
  readonly warnings?: readonly PlanWarning[];
  /** Why it is blocked, and what to do. */
  readonly reason?: string | undefined;
}

/** A decision that doesn't come from comparing fields. */
export interface Verdict {
  readonly action: Action;
  readonly fields?: readonly FieldChange[];
  readonly requests?: readonly WriteRequest[];
  readonly destructions?: readonly string[];
  readonly reason?: string;
  readonly warnings?: readonly PlanWarning[];
}

/** An object before an interrupted update, the fields that the update sent, and the object now. */
export interface InterruptedUpdate {
  readonly before: Fields;
  readonly asked: Fields;
  readonly now: Fields;
}

/** The addresses of an object. */
export interface Naming {
  readonly address: Identity;
  /** The key in the state. It has the id, which a rename doesn't change. */
  readonly key: Identity;
  /** Every identity that `--target` may use. */
  readonly all: readonly Identity[];
}

/** How objects of a kind are created. */
export interface Creation {
  /** Whether the server accepts an id for a new object. */
  readonly acceptsId: boolean;
  /** The fields that a new object needs. A list is a choice: one of its fields is enough. */
  readonly required: readonly (string | readonly string[])[];
  /** Why an object that declares an id can't be created; omitted if it can. */
  readonly idRefusal?: string;
  /** Fields that only a creation sends. No answer shows them, so they are never compared. */
  readonly createOnly?: readonly string[];
  /** The fields that the creation sends, or the reason why it can't be sent. */
  prepare(
    identity: Identity,
    fields: Fields,
    references: References,
  ): { readonly fields: Fields; readonly warnings?: readonly PlanWarning[]; readonly reason?: string };
  /** The scopes and roles that the server adds to a new object. The limit of privileged changes counts them. */
  grants?(identity: Identity, references: References): Holding[];
  request(identity: Identity, fields: Fields): WriteRequest;
  /** Requests after the creation, for fields that its request can't set. */
  followUps?(id: string, fields: Fields): readonly WriteRequest[];
}

/** How objects of a kind are deleted, and how built-in ones are recognised. */
export interface Deletion {
  /** The deletion, for `state: absent` and for pruning. */
  verdict(identity: Identity, fields: Fields, profile: Profile): Verdict;
  /** Whether pruning deletes only objects that idops created, not all that it applied. */
  readonly prunesOnlyCreated?: true;
  /** Whether pruning deletes this kind if the configuration doesn't list kinds. */
  readonly prunedByDefault?: true;
  /** Whether there is something to delete. */
  exists(live: Pick<Live, 'exists' | 'fields'>): boolean;
  /** Whether the object is the server's built-in one, as after a deletion. `other` is another answer to the same request, if known. */
  isBuiltIn(fields: Fields, other?: Fields): boolean;
  /** The parts of an answer that are hashed to recognise the response to a DELETE. */
  fingerprint(answer: Fields): readonly string[];
  /** The fields to send when a deleted object is restored. */
  fieldsToRestore(fields: Fields): Fields;
}

/** A field that is `true` for one object at a time, such as `is_default`. Objects of such a kind are changed one at a time. */
export interface Succession {
  readonly field: string;
  /** The additional live value with the ids of its holders. */
  readonly holdersField: string;
  /** The ids of the holders in observed fields; undefined if unknown. */
  holders(fields: Fields): readonly string[] | undefined;
  /** Describes the move as a destruction. `former` has the addresses of the former holders; undefined if unknown. */
  describeMove(former: readonly string[] | undefined): string;
  /** Why a holder can't lose the field if no other object in the plan gets it. */
  readonly withoutSuccessor: string;
  /** Why a holder keeps the field after the change of its successor failed. */
  readonly successorFailed: string;
}

/** A value that the server can regenerate and never restores, such as a client's DID. */
export interface Regeneration {
  /** The field of a document that counts regenerations. */
  readonly counter: string;
  /** What the object is, for messages. */
  readonly owner: string;
  /** The field of an answer with the value. */
  readonly field: string;
  /** The field of an answer with the object's name. */
  readonly name: string;
  readonly noun: string;
  /** The value as messages show it; by default unchanged. */
  shorten?(value: string): string;
  /** The code of the warning that the value differs from the recorded one. */
  readonly movedCode: ProblemCode;
  request(id: string): WriteRequest;
  /** What a regeneration destroys. `present` has the known fields, `shown` those that the server shows now. */
  destruction(present: Fields, shown: Fields, references?: References): string;
  /** The message if the value didn't change. */
  unchangedMessage(value: string): string;
}

/** The names of the fields with the bodies of an email or a page, and the part of the identity with its type. */
export interface Email {
  /** Empty for a page. */
  readonly txt: string;
  readonly html: string;
  readonly type: string;
  /** For pages: the type of the page around the others. */
  readonly page?: { readonly layout?: string };
}

/** The values of the options `backend`, `type`, `user` and `client`. An option without values selects all objects. */
export interface DiscoveryFilters {
  readonly [option: string]: readonly string[] | undefined;
}

export interface KnownObject {
  readonly kind: KindName;
  readonly identity: Identity;
}

export interface DiscoverContext extends ObserveContext {
  readonly filters: DiscoveryFilters;
  readonly known: readonly KnownObject[];
}

export interface FoundObject {
  readonly identity: Identity;
  /** The name that people see; null if unknown. */
  readonly displayName: string | null;
  /** A remark that `list` shows. */
  readonly remark?: string;
  readonly live: Live;
}

export interface DiscoveryResult {
  /** In a stable order. */
  readonly found: readonly FoundObject[];
  /** What can't be found, and what to do: a sentence each. */
  readonly notes: readonly string[];
  /** Why nothing was read. */
  readonly skipped?: string;
}

/** How `pull` and `list` find the objects of a kind, and what `pull` writes. */
export interface Discovery {
  /** The options that select objects, each with the part of the identity that it sets. */
  readonly options: { readonly [option: string]: string };
  /** An option that selects objects by an id in their fields, such as the backend of a user. */
  readonly parentFilter?: { readonly option: string; idOf(fields: Fields): Value | undefined };
  /** How a new document names an object instead of by its id. */
  readonly byName?: {
    /** The lists that are needed for the objects found. */
    lists(found: readonly FoundObject[]): readonly ListName[];
    /** Names that match only this object; undefined if there are none. */
    identity(finding: FoundObject, references: References): Identity | undefined;
  };
  /** Called if the kind is readable. */
  find(context: DiscoverContext): Promise<DiscoveryResult>;
  /** The fields that `pull` writes; by default all that the server doesn't ignore. */
  readonly fields?: readonly string[];
  /** Body files: their folder, and the extension by field. */
  readonly files?: { readonly folder: string; readonly extensions: { readonly [field: string]: string } };
}

/** How a document without an id names its object. */
export interface ByName {
  /** The part of the identity that a name can replace. */
  readonly id: string;
  /** The keys that name the object instead. */
  readonly names: readonly string[];
  /** The lists in which the names are looked up. */
  lists(identity: Identity): readonly ListName[];
  /** The identity with the id instead of names, or why it can't be found. */
  find(identity: Identity, references: References): Identity | string;
  /** The identity of an object that the server certainly doesn't have; undefined if it may have it. */
  missing?(identity: Identity, references: References): Identity | undefined;
}

/** The objects that a bulk document selects. */
export interface SelectorResult {
  /** By id: the condition that the object meets; undefined for an object that the document names. */
  readonly found: ReadonlyMap<string, Fields | undefined>;
  /** The named objects that weren't found, and why. */
  readonly notFound: readonly { readonly identity: Identity; readonly why: string }[];
  /** Why conditions can't be checked. */
  readonly reasons: readonly string[];
}

/** A bulk document, such as `Users`. It is expanded to one document for each object before anything is compared. */
export interface Bulk {
  /** Its `kind` in manifests. */
  readonly name: string;
  schema(): z.ZodType;
  /** The selector of a valid document. */
  selector(data: { readonly [key: string]: unknown }): Selector;
  /** The fields of each object's document. */
  fields(fields: Fields, data: { readonly [key: string]: unknown }): Fields;
  /** The lists that are needed to find them. */
  lists(selector: Selector): readonly ListName[];
  find(selector: Selector, references: References): SelectorResult;
  /** Whether an object with these fields meets a condition. */
  matches(condition: Fields, fields: Fields): boolean;
}

/** Everything specific to a kind of object. */
export interface Kind {
  readonly name: KindName;
  /** For messages. */
  readonly noun: string;
  /** The only profile whose servers have objects of this kind; omitted if all do. */
  readonly onlyProfile?: ProfileName;
  /** The schema of a document, including `kind`. Built when it is first needed. */
  schema(): z.ZodType;
  /** The keys of a document that identify the object; those in `fields` are managed too. */
  readonly identity: readonly string[];
  readonly fields: FieldTypes;
  /** Undeclared live values on which a change depends: if one changes, the plan is stale. */
  readonly preconditions?: readonly string[];
  /** Whether manifests may still write a former name beside an id. */
  readonly keepsFormerNames?: true;
  /** Names that may be used in place of an id. */
  readonly byName?: ByName;
  readonly bulk?: Bulk;
  /** The parts of the identity that identify the object, given those that a document has; by default all. */
  identifyingParts?(has: (part: string) => boolean): readonly string[];
  /** The scope that reads and writes need. */
  readonly scope: Scope;
  readonly traits: ProfileTraits;
  /** The fields of other objects that can refer to an object. The server refuses to delete it while one does. */
  readonly usedBy?: readonly { readonly list: ListName; readonly field: string }[];
  /** Problems between documents, and with the limits of the profile's server. */
  check(declared: readonly Declared[], profile: Profile): Problem[];
  /** The part of the address after the kind. */
  addressPart(identity: Identity): string;
  /** The name of an object for people, from its fields. */
  displayName?(fields: Fields): string | undefined;
  /** Names of other objects in an answer, by id. */
  referencedNames?(fields: Fields): { readonly [id: string]: string };
  /** The part of the identity with the id of the owner, such as a backend. */
  readonly parentId?: string;
  /** The addresses of an object, if they depend on the server's lists. */
  naming?(identity: Identity, references: References): Naming;
  /** Whether the server shows objects of this kind. */
  readable(profile: Profile): boolean;
  /** The list in which `observe` finds the objects; `own` if it reads a list itself. Omitted if it reads each object with a request. */
  readonly listedIn?: 'own' | ListName;
  /** Whether the server refuses the name of another object of the kind. */
  readonly uniqueNames?: true;
  /** Reads objects; called if the kind is readable. Returns an entry for each object, or none if the server lacks the list. */
  observe<T extends { readonly identity: Identity }>(
    objects: readonly T[],
    context: ObserveContext,
  ): Promise<ReadonlyMap<T, Live>>;
  /** Resolves references to other objects. */
  resolve?(fields: Fields, context: ResolveContext): Resolved;
  /** The lists in which the members of sets are looked up, by field. */
  readonly setLists?: { readonly [field: string]: ListName };
  /** The lists in which a document's references are looked up. */
  referenceLists?(declared: Declared, profile: Profile): readonly ListName[];
  /** A decision that is not a comparison of fields: deleting, regenerating, adopting. */
  decide?(input: PlanInput): Verdict | undefined;
  /** The requests of an update. */
  update(input: PlanInput): Update;
  /** What an interrupted update removed; omitted if updates are atomic. */
  lostFields?(traces: InterruptedUpdate): Fields;
  /** The part of a loss whose references still exist. */
  restorable?(lost: Fields, references: References): Fields;
  /** The access that objects have. */
  readonly access?: Access;
  /** The scopes and roles that the fields grant. The limit of privileged changes counts them. */
  grants?(fields: Fields, references: References): Holding[];
  /** What a change takes from everyone who has it, for `safety.keep`. `after` is null for a deletion. */
  revokes?(before: Fields, after: Fields | null): Holding[];
  /** Omitted if the server's objects can't be created. */
  readonly creation?: Creation;
  readonly deletion?: Deletion;
  readonly regeneration?: Regeneration;
  readonly succession?: Succession;
  readonly email?: Email;
  readonly discovery?: Discovery;
  /** A sentence for each thing that an update would destroy. */
  destructions?(fields: readonly FieldChange[]): string[];
}
