import type { Place } from '../base/problems.js';
import { type Json, mapValues, reveal, same } from '../base/values.js';
import { addressOf } from '../kinds/index.js';
import type { Declared, Finding, Identity, Kind, Live } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import type { References } from '../kinds/references.js';
import { compare } from '../plan/compare.js';
import type { Profile } from '../server/profiles.js';
import { fitsManifest, writtenDocuments } from './edit.js';
import {
  escapeVariables,
  isKnownOrSaid,
  type ToSet,
  type Writing,
  type Written,
  writeField,
} from './literal.js';
import type { VariableNames } from './names.js';
import { documentText } from './yaml.js';

/** What a document says of a field. */
interface SaidField extends Written {
  /** Whether it is a text that is to lie in a file of its own. */
  readonly isBody: boolean;
}

/** A document about an object that no manifest declares. */
export interface FreshDocument {
  readonly kind: Kind;
  readonly identity: Identity;
  readonly address: string;
  /** What tells a person which object it is. */
  readonly called: string | null;
  /** What the server has of it. */
  readonly live: Live;
  readonly said: ReadonlyMap<string, SaidField>;
  readonly toSet: readonly ToSet[];
}

/** What could not be written down, and why. */
export interface LeftOut {
  readonly address: string;
  readonly reason: string;
}

export interface Fresh {
  readonly documents: readonly FreshDocument[];
  readonly left: readonly LeftOut[];
}

export interface FreshOptions {
  readonly profile: Profile;
  readonly names: VariableNames;
  readonly holds: (text: string) => boolean;
  /** What is called by its address in messages; lists of the server tell names from ids. */
  readonly references: References;
}

/** A document that is being made. */
interface Draft extends FreshDocument {
  readonly said: Map<string, SaidField>;
  readonly left: string[];
}

/**
 * Documents about objects as they are: each says what `validate` takes and what a plan finds to be so. What can't be said
 * in a manifest is left out, in words. Pure.
 */
export function freshDocuments(
  found: readonly { readonly kind: Kind; readonly finding: Finding }[],
  options: FreshOptions,
): Fresh {
  const drafts = found.map(({ kind, finding }) => draftOf(kind, finding, options));
  return {
    documents: drafts
      .filter((draft) => keepSayable(draft, options))
      .map((draft) => ({
        ...draft,
        toSet: draft.toSet.filter(({ path }) => draft.said.has(/^\w*/.exec(path)?.[0] ?? '')),
      })),
    left: drafts.flatMap(({ address, left }) => left.map((reason) => ({ address, reason }))),
  };
}

function draftOf(kind: Kind, { identity, live, called }: Finding, options: FreshOptions): Draft {
  const { ignored = [] } = kind.traits[options.profile.name];
  const { writes, files } = kind.discovery ?? {};
  // Variables are called after it.
  const address = calledIn(kind, identity, options);
  const writing = writingOf(kind, address, options);
  const { toSet, left } = writing;
  const said = new Map<string, SaidField>();
  for (const [field, type] of Object.entries(kind.fields)) {
    const value = live.fields[field];
    const isWritten = writes === undefined ? !Object.hasOwn(identity, field) : writes.includes(field);
    if (value === undefined || !isWritten || ignored.includes(field)) continue;
    if (files?.endings[field] !== undefined && typeof value === 'string') {
      if (isKnownOrSaid(value, options)) {
        left.push(`${field} has a credential in it, which no file may hold`);
      } else said.set(field, { raw: escapeVariables(value), value, isBody: true });
      continue;
    }
    const written = writeField(type, field, value, writing);
    if (written !== undefined) said.set(field, { ...written, isBody: false });
  }
  return { kind, identity, live, called, address, said, toSet, left };
}

/** What an object is called in messages: by its name, unless that has a credential in it. */
export function calledIn(kind: Kind, identity: Identity, { references, holds }: FreshOptions): string {
  const named = addressOf(kind.name, kind.naming?.(identity, references).address ?? identity);
  return isKnownOrSaid(named, { holds }) ? addressOf(kind.name, identity) : named;
}

/** What writing the values of an object takes. */
export function writingOf(kind: Kind, address: string, { profile, names, holds }: FreshOptions): Writing {
  const { elements = {} } = kind.traits[profile.name].limits ?? {};
  const open = mapValues(elements, ({ types }) => Object.keys(types));
  return { address, names, holds, open, toSet: [], left: [] };
}

/** Takes out of a document what it can't say; false where it can't even say which object is meant. */
function keepSayable(draft: Draft, options: FreshOptions): boolean {
  const { identity, live, said, left } = draft;
  const { holds, profile } = options;
  if (idTrouble(identity, profile) !== undefined) {
    left.push(
      `its id is none that a manifest can have with the profile ${profile.name}, so that nothing is written down of it`,
    );
    return false;
  }
  const hasCredential = Object.values(identity).some((id) => isKnownOrSaid(id, { holds }));
  if (hasCredential || refusalOf({ ...draft, said: new Map() }, profile) !== undefined) {
    left.push("its id can't stand in a manifest, so that nothing is written down of it");
    return false;
  }
  const wrongWith = (fields: Draft['said']): string | undefined => {
    const one = { ...draft, said: fields };
    const trouble = refusalOf(one, profile) ?? troubleOf(declaredOf(one), live, options);
    return trouble === undefined || trouble === UNSAYABLE ? trouble : `: ${trouble}`;
  };
  // One by one if something is wrong with it as a whole.
  if (wrongWith(said) === undefined) return true;
  for (const [field, value] of [...said]) {
    const wrong = wrongWith(new Map([[field, value]]));
    if (wrong === undefined) continue;
    left.push(`${field}${wrong}`);
    said.delete(field);
  }
  return true;
}

const UNSAYABLE = " can't stand in a manifest as the server has it";

/** Why a document can't be read back as it is meant, or what `validate` has to say of it. */
function refusalOf(draft: Draft, profile: Profile): string | undefined {
  const { kind, identity, said } = draft;
  const values = [...said].map(([field, { value }]) => [field, reveal(value)]);
  const whole = { kind: kind.name, ...identity, ...Object.fromEntries(values) };
  const isSound = kind.schema.safeParse(whole).success && isReadBack(membersOf(draft, ({ raw }) => raw));
  if (!isSound) return UNSAYABLE;
  return kind.check([declaredOf(draft)], profile).find(({ severity }) => severity === 'error')?.message;
}

/** Whether what is written comes back as it was, from a file of the size that one may have. */
export function isReadBack(members: { readonly [key: string]: Json }): boolean {
  const text = documentText(members, null);
  return fitsManifest(text) && same(writtenDocuments(text) ?? null, [{ ...members }]);
}

/** What a plan would say of a document about an object as it is; undefined where nothing is to be done. */
export function troubleOf(
  declared: Declared,
  live: Live,
  { references, profile }: Pick<FreshOptions, 'references' | 'profile'>,
): string | undefined {
  const { action, reason } = compare({
    declared,
    live,
    recorded: undefined,
    references,
    profile,
    assert: false,
    address: '',
    key: '',
  });
  if (action === 'unchanged' || action === 'adopt') return undefined;
  return reason ?? 'a plan would change it, whatever is written down';
}

/** What a new document declares. */
export function declaredOf({ kind, identity, said }: Omit<FreshDocument, 'toSet'>): Declared {
  // It has no place yet, and what is wrong with it is told by its field.
  const place: Place = { file: '', line: 1, column: 1, length: 1 };
  const fields = Object.fromEntries([...said].map(([field, { value }]) => [field, value]));
  const names = kind.identity.flatMap((part) =>
    typeof fields[part] === 'string' ? [[part, fields[part]]] : [],
  );
  return {
    kind: kind.name,
    identity: { ...Object.fromEntries(names), ...identity },
    fields,
    absent: false,
    whole: [],
    ignored: [],
    place,
    declaredAt: place,
    placeOf: () => place,
    placeWithin: () => place,
  };
}

/** The members of a document, with each field as `written` has it. */
export function membersOf(
  { kind, identity, said }: Pick<FreshDocument, 'kind' | 'identity' | 'said'>,
  written: (said: SaidField, field: string) => Json,
): { [key: string]: Json } {
  const named = mapValues({ ...identity }, escapeVariables);
  const fields = [...said].map(([field, one]) => [field, written(one, field)]);
  return { kind: kind.name, ...named, ...Object.fromEntries(fields) };
}
