import type { z } from 'zod';
import type { KindName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Page, Parser } from '../server/answers.js';
import type { Scope, WriteRequest } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import type { ExtraRead } from '../server/reads.js';
import type { Action, FieldChange, PlanWarning } from './change.js';
import type { Declared, Identity } from './declared.js';
import type { FieldTypes } from './fields.js';
import type { ListName, References } from './references.js';
import type { ProfileTraits } from './traits.js';

export type { Declared, Identity } from './declared.js';
export type { KindName };

/** What the server says of one object. */
export interface Live {
  readonly exists: boolean;
  /** The identity with what was found out, such as the id that a name stands for. */
  readonly identity: Identity;
  /** What the answer carried; a field that isn't there is unknown. */
  readonly fields: Fields;
  /** What it carried of objects that the profile's server ignores in an update; for comparing alone. */
  readonly beside?: Fields;
  /** What the server calls it, where that is in none of the fields. */
  readonly called?: string;
  /** The names of other things that the answer told, by their ids. */
  readonly names?: { readonly [id: string]: string };
  /** Why the object can't be told apart or found. */
  readonly trouble?: string;
}

export interface ObserveContext {
  readonly reader: Reader;
  readonly profile: Profile;
  /** Whether an object of a list is to be read by itself, if the server shows it so. */
  readonly alone: boolean;
  /** A list, read once however many ask for it; null where the server doesn't offer it. */
  list<N extends ListName>(name: N): Promise<NonNullable<References[N]> | null>;
  /** Runs a read when its turn comes. */
  readonly limit: <T>(read: () => Promise<T>) => Promise<T>;
}

/** What is known of the present: live where the server was read, else from the record. */
export interface Present {
  /** False where the server says that there is no such object; undefined where it can't be asked. */
  readonly exists: boolean | undefined;
  readonly identity: Identity;
  readonly fields: Fields;
  /** Those of `fields` that the server has just shown; the others are as they were recorded. */
  readonly shown: Fields;
  /** The recorded `did_generation` of a client. */
  readonly generation?: number;
  /** The run whose regeneration has no known outcome. */
  readonly pendingRun?: string;
  /** What the record says of fields that no document sets, such as a client's DID; since when, and by which run. */
  readonly record?: { readonly fields: Fields; readonly at: string; readonly run: string | null };
  /** Whether the object is just as the server answered to the last recorded DELETE. */
  readonly asDeleted: boolean;
}

export interface PlanInput {
  readonly declared: Declared;
  readonly present: Present;
  /** The whole value of each declared field that is to hold. */
  readonly desired: Fields;
  /** The declared fields whose present value differs or isn't known. */
  readonly changed: ReadonlySet<string>;
  readonly profile: Profile;
  /** The lists that were read. */
  readonly references: References;
}

/** What references are resolved with. */
export interface ResolveContext {
  readonly references: References;
  readonly profile: Profile;
  /** The object as it is known to be now. */
  readonly present: Fields;
  /** Whether a field says what is wanted, so that a name in it has to be the server's: a record's may be an old one. */
  readonly wished: (field: string) => boolean;
}

/** Fields whose references were resolved. */
export interface Resolved {
  readonly fields: Fields;
  /** Why some can't be. */
  readonly troubles: readonly string[];
  /** The fields in which lists of the server confirmed every name. */
  readonly confirmed: readonly string[];
  /** What is to be said of some, and the field that each is in. */
  readonly warnings: readonly (PlanWarning & { readonly field: string })[];
}

/** The requests of an update, and all that they ask for or send along. */
export interface Update {
  /** Empty where something else in the plan brings it about. */
  readonly requests: readonly WriteRequest[];
  readonly expected: Fields;
  readonly warnings?: readonly PlanWarning[];
  /** Why it can't be done as things are, and what to do. */
  readonly trouble?: string;
}

/** A decision that doesn't come from comparing fields. */
export interface Verdict {
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly requests: readonly WriteRequest[];
  readonly destructions: readonly string[];
  readonly reason?: string;
  readonly warnings?: readonly PlanWarning[];
}

/** An object before an update, what the update asked for or sent along, and what is there now. */
export interface Traces {
  readonly before: Fields;
  readonly asked: Fields;
  readonly now: Fields;
}

/** Which parts of what identifies an object stand in its addresses. */
export interface Naming {
  readonly address: Identity;
  /** Ids alone, which a rename doesn't change: the state records the object under them. */
  readonly key: Identity;
  /** Everything that a target may call it. */
  readonly all: readonly Identity[];
}

/** How objects of a kind are deleted, and how one shows itself that nobody wrote. */
export interface Deletion {
  /** What deleting means, for a document that says so and for an object that is pruned. */
  verdict(identity: Identity, fields: Fields, profile: Profile): Verdict;
  /** Whether there is something to delete. */
  exists(live: Pick<Live, 'exists' | 'fields'>): boolean;
  /** Whether these fields are those of a built-in one, which comes back where one is deleted. */
  isBuiltIn(fields: Fields): boolean;
  /** What of an answer tells whether it is the one that a DELETE answered with. */
  traces(answer: Fields): readonly string[];
  /** Of the fields of one that was deleted those that writing it anew puts back. */
  restored(fields: Fields): Fields;
}

/** A field of which one object of the kind has `true`, and which the server takes from the former one. */
export interface Succession {
  readonly field: string;
  /** The ids of those that had it when these fields were observed; undefined where that isn't known. */
  holders(fields: Fields): readonly string[] | undefined;
  /** What an object that gets it takes from the former holders, given by their addresses; undefined where they aren't known. */
  moves(former: readonly string[] | undefined): string;
  /** Why one can't give it up where no other of the plan takes it. */
  readonly withoutSuccessor: string;
  /** Why one that is to give it up is left as it is where the other couldn't take it. */
  readonly failed: string;
}

/** What the server makes anew for an object, each time it is asked to, and never puts back. */
export interface Regeneration {
  /** The field of the answers that shows it. */
  readonly field: string;
  /** The field of the answers that says what the object is called. */
  readonly name: string;
  /** As a sentence names it. */
  readonly noun: string;
  /** What regenerating means; `present` is what is known of the object, `shown` what the server shows now. */
  verdict(identity: Identity, present: Fields, shown: Fields): Verdict;
  /** What to say where it came out as it was before. */
  same(value: string): string;
}

/** The bodies of an email, each the name of a field, and the part of the identity that is its type. */
export interface Email {
  readonly txt: string;
  readonly html: string;
  readonly type: string;
}

/** What was asked for, by the name of the option: `backend`, `type`, `user`, `client`. None means all that can be found. */
export interface Asked {
  readonly [option: string]: readonly string[] | undefined;
}

/** An object that manifests or the state name. */
export interface Known {
  readonly kind: KindName;
  readonly identity: Identity;
}

export interface DiscoverContext extends ObserveContext {
  readonly asked: Asked;
  readonly known: readonly Known[];
  /** The rows of a list that the document doesn't have, read once however many ask for it; null where there is none. */
  rows(noun: string, read: ExtraRead, parse: Parser<Page<Fields>>): Promise<readonly Fields[] | null>;
}

/** An object that the server has. */
export interface Finding {
  readonly identity: Identity;
  /** What tells a person which one it is; null where nothing does. */
  readonly called: string | null;
  /** What else is worth a word in a list. */
  readonly remark?: string;
  readonly live: Live;
}

export interface Discovered {
  /** In an order that is the same each time. */
  readonly found: readonly Finding[];
  /** What could not be found or asked for, and what to do, a sentence each. */
  readonly notes: readonly string[];
  /** Why nothing at all was asked for. */
  readonly unasked?: string;
}

/** How the objects of a kind are found on a server, and what is written down of one. */
export interface Discovery {
  /** The options that ask for some of them alone, and the part of the identity that each gives. */
  readonly options: { readonly [option: string]: string };
  /** Finds those that the profile's server shows; called where the kind is readable. */
  find(context: DiscoverContext): Promise<Discovered>;
  /** The fields of a document that is written anew; all that the server doesn't ignore where it isn't given. */
  readonly writes?: readonly string[];
  /** The texts that lie in files of their own: the folder of all of them, and the ending of each field's. */
  readonly files?: { readonly folder: string; readonly endings: { readonly [field: string]: string } };
}

/** All that is peculiar to a kind of object. */
export interface Kind {
  readonly name: KindName;
  /** As a sentence names one of them. */
  readonly noun: string;
  /** A manifest document of this kind, with its `kind`. */
  readonly schema: z.ZodType;
  /** The keys of a document that identify the object. Those also in `fields` are managed besides. */
  readonly identity: readonly string[];
  /** The managed fields, and how each is compared. */
  readonly fields: FieldTypes;
  /** What a live object has beside its fields that decides about a change. */
  readonly decisive?: readonly string[];
  /** Of the identity's parts those that decide, given which of them a document has; all of them where it is left out. */
  deciding?(has: (part: string) => boolean): readonly string[];
  readonly scopes: { readonly read: Scope; readonly write: Scope };
  /** What the servers of each profile make of it. */
  readonly traits: ProfileTraits;
  /** One at a time instead of several at once. */
  readonly sequential?: true;
  /** Texts that are equal for two documents of the same object, as far as documents alone can tell. */
  identities(declared: Declared): string[];
  /** Rules across documents and about what a profile's server takes; every problem, each with its place. */
  check(declared: readonly Declared[], profile: Profile): Problem[];
  /** The part of the address after the kind. */
  addressPart(identity: Identity): string;
  /** What a person knows an object with these fields by; left out where nothing in them says it. */
  called?(fields: Fields): string | undefined;
  /** The names of other things that an answer with these fields tells, by their ids. */
  names?(fields: Fields): { readonly [id: string]: string };
  /** The part of the identity that is the id of something whose name tells objects apart, where the server told it. */
  readonly within?: string;
  /** What the server's lists have to say of what an object is called; left out where its identity alone tells. */
  naming?(identity: Identity, references: References): Naming;
  /** Whether the server can be asked for objects of this kind. */
  readable(profile: Profile): boolean;
  /**
   * The list that answers for all objects at once: its own, or one in which references are looked up as well. Left out where
   * each object is read by itself.
   */
  readonly listed?: 'own' | ListName;
  /** Asks the server; called where `readable` says so. Every object given gets an entry. */
  observe<T extends { readonly identity: Identity }>(
    objects: readonly T[],
    context: ObserveContext,
  ): Promise<ReadonlyMap<T, Live>>;
  /** Replaces references to other things by what they stand for; says why where that can't be done. */
  resolve?(fields: Fields, context: ResolveContext): Resolved;
  /** The lists that a document's references are looked up in. */
  refersTo?(declared: Declared, profile: Profile): readonly ListName[];
  /** A decision that is not a comparison of fields: deleting, regenerating, adopting. */
  decide?(input: PlanInput): Verdict | undefined;
  /** The requests of an update. */
  update(input: PlanInput): Update;
  /**
   * What an update that was cut off took away without being asked to; nothing where it isn't there, since the server
   * does all of an update or nothing.
   */
  lost?(traces: Traces): Fields;
  /** Of what was lost that which refers to nothing that the server has no longer, as far as its lists tell. */
  restorable?(lost: Fields, references: References): Fields;
  readonly deletion?: Deletion;
  readonly regeneration?: Regeneration;
  readonly succession?: Succession;
  readonly email?: Email;
  /** How they are found on a server, to be listed and written down; left out where nothing can find them. */
  readonly discovery?: Discovery;
  /** What an update would lose, a sentence each. */
  destructions(fields: readonly FieldChange[]): string[];
}
