import { isUuid } from '../base/identifiers.js';
import {
  assign,
  type Fields,
  isMap,
  type Json,
  mapValues,
  reveal,
  same,
  type Value,
} from '../base/values.js';
import { isBlank } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, FoundObject, Identity, Kind, Live } from '../kinds/kind.js';
import { unusableId } from '../kinds/limits.js';
import type { References } from '../kinds/references.js';
import { storedFields } from '../kinds/rules.js';
import { compare } from '../plan/compare.js';
import type { Seen } from '../plan/plan.js';
import { addresses, placeholderDocument } from '../plan/subjects.js';
import type { Profile } from '../server/profiles.js';
import type { DiscoveredAll } from './discover.js';
import { isManifestSize, writtenDocuments } from './edit.js';
import {
  escapeVariables,
  hasCredential,
  type VariableNames,
  type VariableToSet,
  type WriteContext,
  type Written,
  writeAt,
} from './literal.js';
import { documentText } from './yaml.js';

interface DraftField extends Written {
  /** Whether it is a text for a file of its own. */
  readonly isBody: boolean;
}

/** A document for an object that no manifest declares. */
export interface FreshDocument extends FoundObject {
  readonly kind: Kind;
  /** Its identity as the document names it: by names or by ids. */
  readonly named: Identity;
  readonly address: string;
  readonly said: ReadonlyMap<string, DraftField>;
  readonly toSet: readonly VariableToSet[];
}

/** A part that no document can declare, and why. */
export interface LeftOut {
  readonly address: string;
  readonly reason: string;
}

/** The profile and the lists of a server. */
export interface ServerLists {
  readonly profile: Profile;
  readonly references: References;
}

export interface FreshOptions extends ServerLists {
  readonly names: VariableNames;
  readonly holds: (text: string) => boolean;
  /** How new documents and members refer to objects: by names if these are unique. */
  readonly by: 'name' | 'id';
}

interface Draft extends FreshDocument {
  readonly said: Map<string, DraftField>;
  readonly left: string[];
}

/**
 * Documents that declare objects as they are: each is valid, and a plan right after it is empty. Fields that no manifest can declare are
 * left out, with the reason. Pure.
 */
export function freshDocuments(found: DiscoveredAll['found'], options: FreshOptions) {
  const drafts = found.map(({ kind, finding }) => draftOf(kind, finding, options));
  return {
    documents: drafts
      .filter((draft) => dropUnwritable(draft, options))
      .map((draft) => ({
        ...draft,
        toSet: draft.toSet.filter(({ path }) => draft.said.has(/^\w*/.exec(path)?.[0] ?? '')),
      })),
    leftOut: drafts.flatMap(({ address, left }) => left.map((reason) => ({ address, reason }))),
  };
}

function draftOf(kind: Kind, finding: FoundObject, options: FreshOptions): Draft {
  const { identity, live } = finding;
  const named = namesFor(kind, finding, options);
  const { ignored = [] } = kind.traits[options.profile.name];
  const { fields, files } = kind.discovery ?? {};
  const address = displayAddress(kind, identity, options);
  const writing = writingOf(kind, address, options);
  const { toSet, left } = writing;
  const said = new Map<string, DraftField>();
  for (const [field, type] of Object.entries(kind.fields)) {
    const value = live.fields[field];
    // A name in place of an id is no field.
    const isName = named !== identity && kind.byName?.names.includes(field) === true && field in named;
    const isOwn = !isName && !Object.hasOwn(identity, field);
    const isWritten = fields === undefined ? isOwn : fields.includes(field);
    if (value === undefined || !isWritten || ignored.includes(field)) continue;
    if (files?.extensions[field] !== undefined && typeof value === 'string') {
      if (hasCredential(value, options)) {
        left.push(`${field} has a credential in it, which no file may hold`);
      } else said.set(field, { raw: escapeVariables(value), value, isBody: true });
      continue;
    }
    const written = writeAt([field], type, value, writing);
    if (written !== undefined) said.set(field, { ...written, isBody: false });
  }
  return { ...finding, kind, named, address, said, toSet, left };
}

/** The names by which a document finds an object if it can have them, otherwise its ids. */
function namesFor(kind: Kind, finding: FoundObject, options: FreshOptions): Identity {
  const { identity } = finding;
  if (options.by === 'id') return identity;
  const named = kind.discovery?.byName?.identity(finding, options.references);
  const isUsable =
    named !== undefined &&
    Object.values(named).every((name) => isUsableName(name, options)) &&
    kind.schema().safeParse({ kind: kind.name, ...named }).success;
  return isUsable ? named : identity;
}

/** Whether a document can have a name in place of an id. */
export function isUsableName(name: string, { holds }: Pick<FreshOptions, 'holds'>): boolean {
  return !isBlank(name) && !isUuid(name) && !name.includes('${') && !hasCredential(name, { holds });
}

/** The id of an element of a set, if need be looked up by its name. */
export function idOf(kind: Kind, field: string, element: Value, present: Fields, server: ServerLists) {
  const { references, profile } = server;
  if (isMap(element) && typeof element.id === 'string') return element.id;
  const isReference = kind.fields[field]?.type === 'reference';
  const resolved = kind.resolve?.(
    { [field]: isReference ? element : [element] },
    { references, profile, present, isDeclared: () => true, locationOf: () => '' },
  );
  if (resolved === undefined || resolved.reasons.length > 0) return undefined;
  const list = resolved.fields[field];
  const found = Array.isArray(list) ? list[0] : list;
  return found !== undefined && isMap(found) && typeof found.id === 'string' ? found.id : undefined;
}

/** The address by name, or by id if the name contains a credential. */
export function displayAddress(kind: Kind, identity: Identity, { references, holds }: FreshOptions): string {
  const named = addressOf(kind.name, kind.naming?.(identity, references).address ?? identity);
  return hasCredential(named, { holds }) ? addressOf(kind.name, identity) : named;
}

export function writingOf(kind: Kind, address: string, options: FreshOptions): WriteContext {
  const { profile, names, holds, by } = options;
  const { elements = {} } = kind.traits[profile.name].limits ?? {};
  const open = mapValues(elements, ({ types }) => Object.keys(types));
  const nameOf: WriteContext['nameOf'] = (field, { id, name }) => {
    if (by === 'id' || typeof id !== 'string' || typeof name !== 'string') return undefined;
    return isUsableName(name, options) && idOf(kind, field, name, {}, options) === id ? name : undefined;
  };
  return { address, names, holds, open, nameOf, toSet: [], left: [] };
}

/** Removes fields that a document can't declare; false if it can't even identify the object. */
function dropUnwritable(draft: Draft, options: FreshOptions): boolean {
  const { identity, live, said, left } = draft;
  const { holds, profile } = options;
  if (unusableId(identity, profile) !== undefined) {
    left.push(`not written: with the profile ${profile.name} no manifest can have its id`);
    return false;
  }
  const isSecret = Object.values(identity).some((id) => hasCredential(id, { holds }));
  if (isSecret || refusalOf({ ...draft, said: new Map() }, profile) !== undefined) {
    left.push('not written: no manifest can have its id');
    return false;
  }
  const wrongWith = (fields: Draft['said']): string | undefined => {
    const one = { ...draft, said: fields };
    const trouble = refusalOf(one, profile) ?? troubleOf(declaredOf(one), live, options);
    return trouble === undefined || trouble === UNWRITABLE ? trouble : `: ${trouble}`;
  };
  if (wrongWith(said) === undefined) return true;
  const written: Draft['said'] = new Map();
  for (const [field, value] of [...said]) {
    // It may not fit the fields before it.
    const wrong = wrongWith(new Map([...written, [field, value]]));
    if (wrong === undefined) written.set(field, value);
    else {
      left.push(`${field}${wrong}`);
      said.delete(field);
    }
  }
  return true;
}

const UNWRITABLE = " can't be declared with the server's value";

/** Why a document doesn't read back as written, or the first error of `validate`. */
function refusalOf(draft: Draft, profile: Profile): string | undefined {
  const { kind, named, said } = draft;
  const values = [...said].map(([field, { value }]) => [field, reveal(value)]);
  const whole = { kind: kind.name, ...named, ...Object.fromEntries(values) };
  const isSound = kind.schema().safeParse(whole).success && isReadBack(membersOf(draft, ({ raw }) => raw));
  if (!isSound) return UNWRITABLE;
  return kind.check([declaredOf(draft)], profile).find(({ severity }) => severity === 'error')?.message;
}

/** Whether a document reads back as written, from a file of the allowed size. */
export function isReadBack(members: { readonly [key: string]: Json }): boolean {
  const text = documentText(members, null);
  return isManifestSize(text) && same(writtenDocuments(text) ?? null, [{ ...members }]);
}

/** Why a plan would change or block the object; undefined if it wouldn't. */
export function troubleOf(declared: Declared, live: Live, server: ServerLists): string | undefined {
  const { references, profile } = server;
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
  return reason ?? 'a plan would change it, whatever the document says';
}

function declaredOf({ kind, identity, said }: Pick<FreshDocument, 'kind' | 'identity' | 'said'>): Declared {
  const fields = Object.fromEntries([...said].map(([field, { value }]) => [field, value]));
  const names = kind.identity.flatMap((part) =>
    typeof fields[part] === 'string' ? [[part, fields[part]]] : [],
  );
  return placeholderDocument(kind.name, { ...Object.fromEntries(names), ...identity }, { fields });
}

export function membersOf(
  { kind, named, said }: Pick<FreshDocument, 'kind' | 'named' | 'said'>,
  written: (said: DraftField, field: string) => Json,
): { [key: string]: Json } {
  const ids = mapValues({ ...named }, escapeVariables);
  const fields = [...said].map(([field, one]) => [field, written(one, field)]);
  return { kind: kind.name, ...ids, ...Object.fromEntries(fields) };
}

/** The server's values of the fields that a document declares. */
export function seenOf(declared: Declared, live: Live, { references, profile }: ServerLists): Seen {
  const { kind, identity } = declared;
  const expected = storedFields(declared.fields, kindOf(kind).traits[profile.name]);
  return {
    key: addresses(declared, live, references).key,
    kind,
    identity: assign(identity, live.identity),
    expected,
    managed: Object.keys(expected),
    fields: live.fields,
  };
}

/** The same for a new document, without maps that it declares only in part: the rest of them belongs in no file. */
export function seenOfNew(one: FreshDocument, options: ServerLists): Seen {
  const seen = seenOf(declaredOf(one), one.live, options);
  const whole = Object.entries(seen.fields).filter(([field, value]) => {
    const declared = seen.expected[field] ?? null;
    return (
      !isMap(value) || !isMap(declared) || Object.keys(value).every((key) => Object.hasOwn(declared, key))
    );
  });
  return { ...seen, fields: Object.fromEntries(whole) };
}
