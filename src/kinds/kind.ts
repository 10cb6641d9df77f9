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
  /** The identity, in which ids replace names. */
  readonly identity: Identity;
  /** A field that is absent is unknown. */
  readonly fields: Fields;
  /** Objects in the answer that the server ignores in updates; only for comparing. */
  readonly readOnly?: Fields;
  /** Names of other objects in the answer, by id. */
  readonly names?: { readonly [id: string]: string };
  /** Why the object can't be found. */
  readonly reason?: string;
  /** `; did you mean …?` after the trouble, or nothing. Searching all names takes long, so only a report of the trouble does it. */
  readonly suggestion?: () => string;
  /** Whether the server surely doesn't have it, so that it can be created. */
  readonly missing?: true;
}

export interface ObserveContext {
  readonly reader: Reader;
  readonly profile: Profile;
  /** Read each object on its own instead of from a list, if the server offers that. */
  readonly oneByOne: boolean;
  /** Whether a list was read already. */
  hasList(name: ListName): boolean;
  /** A list, read once; null if the server doesn't offer it. */
  list<N extends ListName>(name: N): Promise<NonNullable<References[N]> | null>;
  /** Limits concurrent reads. */
  readonly limit: <T>(read: () => Promise<T>) => Promise<T>;
}

/** What is known of an object: live if the server was read, otherwise recorded. */
export interface Present {
  /** Undefined if the server can't be asked. */
  readonly exists: boolean | undefined;
  readonly identity: Identity;
  readonly fields: Fields;
  /** Objects in the answer that the server ignores in updates. */
  readonly readOnly?: Fields;
  /** The live ones of `fields`; the others are recorded. */
  readonly live: Fields;
  /** The recorded number of its regeneration. */
  readonly generation?: number;
  /** The run whose regeneration has an unknown outcome. */
  readonly pendingRun?: string;
  /** Recorded fields that no document sets, such as a client's DID. */
  readonly record?: { readonly fields: Fields; readonly at: string; readonly run: string | null };
  /** Whether the object is what the server answered to the last recorded DELETE. */
  readonly matchesDeleteResponse: boolean;
}

export interface PlanInput {
  readonly declared: Declared;
  readonly present: Present;
  /** The whole wanted value of each declared field. */
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
  /** Whether a field is declared, so that names in it must be current; recorded names may be outdated. */
  readonly isDeclared: (field: string) => boolean;
  /** The place of a part of a field, for messages. */
  readonly locationOf: (...path: (string | number)[]) => string;
}

export interface Resolved {
  readonly fields: Fields;
  /** Why references can't be resolved. */
  readonly reasons: readonly string[];
  /** Fields of which lists of the server confirmed every name. */
  readonly confirmed: readonly string[];
  readonly warnings: readonly (PlanWarning & { readonly field: string })[];
}

/** The requests of an update, and the values that they send. */
export interface Update {
  /** Empty if another change of the plan has the effect. */
  readonly requests: readonly WriteRequest[];
  readonly expected: Fields;
  readonly warnings?: readonly PlanWarning[];
  /** Why it is blocked, and what to do. */
  readonly reason?: string | undefined;
}

/** A decision that isn't a comparison of fields. */
export interface Verdict {
  readonly action: Action;
  readonly fields?: readonly FieldChange[];
  readonly requests?: readonly WriteRequest[];
  readonly destructions?: readonly string[];
  readonly reason?: string;
  readonly warnings?: readonly PlanWarning[];
}

/** An object before an update, what the update sent, and the object now. */
export interface InterruptedUpdate {
  readonly before: Fields;
  readonly asked: Fields;
  readonly now: Fields;
}

export interface Naming {
  readonly address: Identity;
  /** The key in the state: ids, which a rename doesn't change. */
  readonly key: Identity;
  /** All identities that a target may use. */
  readonly all: readonly Identity[];
}

/** Creating objects. */
export interface Creation {
  /** Whether the server takes the id of a new object from its creator. */
  readonly acceptsId: boolean;
  /** The fields without which the server refuses a new object; of several in a list, one. */
  readonly required: readonly (string | readonly string[])[];
  /** Why an object with a declared id can't be created; omitted if it can. */
  readonly idRefusal?: string;
  /** Fields that only a creation sends: no answer has them, and they are never compared. */
  readonly createOnly?: readonly string[];
  /** The fields that the creation sends, if it can't send all, or why it can't be sent. */
  prepare(
    identity: Identity,
    fields: Fields,
    references: References,
  ): { readonly fields: Fields; readonly warnings?: readonly PlanWarning[]; readonly reason?: string };
  /** What the server gives a new object besides its own fields: privileged scopes and roles are guarded. */
  grants?(identity: Identity, references: References): Holding[];
  request(identity: Identity, fields: Fields): WriteRequest;
  /** What is sent after it, for fields that the request leaves out. */
  followUps?(id: string, fields: Fields): readonly WriteRequest[];
}

/** Deleting objects, and recognising built-in ones. */
export interface Deletion {
  /** The deletion, for `state: absent` and for pruning. */
  verdict(identity: Identity, fields: Fields, profile: Profile): Verdict;
  /** Whether pruning deletes only what idops created; otherwise what it applied. */
  readonly prunesOnlyCreated?: true;
  /** Whether pruning deletes them if the configuration doesn't say of which kinds. */
  readonly prunedByDefault?: true;
  /** Whether there is something to delete. */
  exists(live: Pick<Live, 'exists' | 'fields'>): boolean;
  /** Whether the object is built in, as after a deletion. */
  isBuiltIn(fields: Fields): boolean;
  /** The parts of an answer that tell whether it is the response of a DELETE. */
  fingerprint(answer: Fields): readonly string[];
  /** The fields that rewriting a deleted object restores. */
  fieldsToRestore(fields: Fields): Fields;
}

/** A field that is `true` for one object; the server takes it from the former one. These objects are changed one at a time. */
export interface Succession {
  readonly field: string;
  /** The live value beside the fields with the ids of its holders. */
  readonly holdersField: string;
  /** The ids of its holders when the fields were observed; undefined if unknown. */
  holders(fields: Fields): readonly string[] | undefined;
  /** The destruction, given the addresses of the former holders; undefined if unknown. */
  describeMove(former: readonly string[] | undefined): string;
  /** Why a holder can't give it up without a successor in the plan. */
  readonly withoutSuccessor: string;
  /** Why a holder keeps it if the successor failed. */
  readonly successorFailed: string;
}

/** A value that the server regenerates on request, and never restores. */
export interface Regeneration {
  /** The field of documents with its number. */
  readonly counter: string;
  /** What the object is, for messages. */
  readonly owner: string;
  /** The field of answers that shows it. */
  readonly field: string;
  /** The field of answers with the object's name. */
  readonly name: string;
  readonly noun: string;
  /** The value in sentences; by default as it is. */
  shorten?(value: string): string;
  /** The code of the warning that it isn't the recorded one. */
  readonly movedCode: ProblemCode;
  request(id: string): WriteRequest;
  /** What it destroys: `present` is what is known of the object, `shown` what the server shows now. */
  destruction(present: Fields, shown: Fields, references?: References): string;
  /** The message if the value is the same as before. */
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

/** The values of options (`backend`, `type`, `user`, `client`); none means all objects. */
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
  /** Its name for people. */
  readonly displayName: string | null;
  /** A remark for lists. */
  readonly remark?: string;
  readonly live: Live;
}

export interface DiscoveryResult {
  /** In a stable order. */
  readonly found: readonly FoundObject[];
  /** A sentence for each thing that can't be found, and what to do. */
  readonly notes: readonly string[];
  /** Why nothing was read. */
  readonly skipped?: string;
}

/** How `pull` and `list` find the objects of a kind, and what `pull` writes. */
export interface Discovery {
  /** The options that select some of them, and the part of the identity that each gives. */
  readonly options: { readonly [option: string]: string };
  /** The id by which a further option selects an object with these fields. */
  readonly parentFilter?: { readonly option: string; idOf(fields: Fields): Value | undefined };
  /** How a new document names an object in place of its id. */
  readonly byName?: {
    /** The lists that are needed, given what was found. */
    lists(found: readonly FoundObject[]): readonly ListName[];
    /** Names that find only this object; undefined if there are none. */
    identity(finding: FoundObject, references: References): Identity | undefined;
  };
  /** Called if the kind is readable. */
  find(context: DiscoverContext): Promise<DiscoveryResult>;
  /** The fields of new documents; by default all that the server doesn't ignore. */
  readonly fields?: readonly string[];
  /** Body files: their folder, and the extension by field. */
  readonly files?: { readonly folder: string; readonly extensions: { readonly [field: string]: string } };
}

/** How a document names its object if it leaves out the id. */
export interface ByName {
  /** The part of the identity that may be left out. */
  readonly id: string;
  /** The keys that name the object instead. */
  readonly names: readonly string[];
  /** The lists in which the names are looked up. */
  lists(identity: Identity): readonly ListName[];
  /** The identity with the id in place of the names, or why there is none. */
  find(identity: Identity, references: References): Identity | string;
  /** The identity of an object that the server surely doesn't have; undefined if it may have it. */
  missing?(identity: Identity, references: References): Identity | undefined;
}

/** The objects that a document about many is about. */
export interface SelectorResult {
  /** The condition under which each is covered; undefined for those that the document names. */
  readonly found: ReadonlyMap<string, Fields | undefined>;
  /** The named objects that can't be found, and why. */
  readonly notFound: readonly { readonly identity: Identity; readonly why: string }[];
  /** Why conditions can't be checked. */
  readonly reasons: readonly string[];
}

/** A document about many objects of a kind, which is expanded to one for each before anything is compared. */
export interface Bulk {
  /** Its `kind` in manifests. */
  readonly name: string;
  schema(): z.ZodType;
  /** Which objects a valid document is about. */
  selector(data: { readonly [key: string]: unknown }): Selector;
  /** The fields for each object, given those of the document. */
  fields(fields: Fields, data: { readonly [key: string]: unknown }): Fields;
  /** The lists that are needed to find them. */
  lists(covers: Selector): readonly ListName[];
  find(covers: Selector, references: References): SelectorResult;
  /** Whether a condition holds for an object with these fields. */
  matches(condition: Fields, fields: Fields): boolean;
}

/** Everything specific to a kind of object. */
export interface Kind {
  readonly name: KindName;
  /** For messages. */
  readonly noun: string;
  /** The only profile whose servers have objects of this kind; omitted if all do. */
  readonly onlyProfile?: ProfileName;
  /** The schema of a document, including `kind`; made when it is first needed. */
  schema(): z.ZodType;
  /** The keys of a document that identify the object; those in `fields` are managed too. */
  readonly identity: readonly string[];
  readonly fields: FieldTypes;
  /** Live values beside the fields that decide about a change. */
  readonly preconditions?: readonly string[];
  /** Whether manifests may still write a former name beside an id. */
  readonly keepsFormerNames?: true;
  /** Names that may be used in place of an id. */
  readonly byName?: ByName;
  readonly bulk?: Bulk;
  /** The parts of the identity that decide, given those that a document has; by default all. */
  identifyingParts?(has: (part: string) => boolean): readonly string[];
  /** What reading and writing need. */
  readonly scope: Scope;
  readonly traits: ProfileTraits;
  /** Fields of other objects in lists: the server deletes no object to which one of them refers. */
  readonly usedBy?: readonly { readonly list: ListName; readonly field: string }[];
  /** Problems across documents, and with the limits of a profile's server. */
  check(declared: readonly Declared[], profile: Profile): Problem[];
  /** The part of the address after the kind. */
  addressPart(identity: Identity): string;
  /** The name of an object for people, from its fields. */
  displayName?(fields: Fields): string | undefined;
  /** Names of other objects in an answer, by id. */
  referencedNames?(fields: Fields): { readonly [id: string]: string };
  /** The part of the identity with the id of the parent, such as a backend. */
  readonly parentId?: string;
  /** The addresses of an object, if they depend on the server's lists. */
  naming?(identity: Identity, references: References): Naming;
  /** Whether the server shows objects of this kind. */
  readable(profile: Profile): boolean;
  /** The list with all objects: its own, or one that references use too. Omitted if each object is read on its own. */
  readonly listedIn?: 'own' | ListName;
  /** Reads objects; called if the kind is readable. Every object gets an entry. */
  observe<T extends { readonly identity: Identity }>(
    objects: readonly T[],
    context: ObserveContext,
  ): Promise<ReadonlyMap<T, Live>>;
  /** Resolves references to other objects. */
  resolve?(fields: Fields, context: ResolveContext): Resolved;
  /** The lists that a document's references need. */
  referenceLists?(declared: Declared, profile: Profile): readonly ListName[];
  /** A decision that is not a comparison of fields: deleting, regenerating, adopting. */
  decide?(input: PlanInput): Verdict | undefined;
  /** The requests of an update. */
  update(input: PlanInput): Update;
  /** What an interrupted update took away; omitted if updates are atomic. */
  lostFields?(traces: InterruptedUpdate): Fields;
  /** The part of a loss whose references still exist. */
  restorable?(lost: Fields, references: References): Fields;
  /** What objects were given. */
  readonly access?: Access;
  /** The scopes and roles that the fields give to somebody: privileged ones are guarded. */
  grants?(fields: Fields, references: References): Holding[];
  /** What a change, or a deletion (`after` is null), takes from those who were given it: `safety.keep` counts them. */
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
