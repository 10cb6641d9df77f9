import { isPathParameter, isUuid } from '../base/identifiers.js';
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
import { mergeAbout } from '../plan/expand.js';
import type { ObjectRef } from '../plan/observe.js';
import type { Seen } from '../plan/plan.js';
import { addresses, placeholderDocument } from '../plan/subjects.js';
import type { Profile } from '../server/profiles.js';
import type { DiscoveredAll } from './discover.js';
import { isManifestSize, writtenDocuments } from './edit.js';
import {
  escapeVariables,
  type VariableNames,
  type VariableToSet,
  type WriteContext,
  type WrittenValue,
  writeValue,
} from './write-value.js';
import { documentText } from './yaml.js';

interface DraftField extends WrittenValue {
  /** Whether the text is written to a body file. */
  readonly isBody: boolean;
}

/** A new document for an object that no manifest declares. */
export interface NewDocument extends FoundObject {
  readonly kind: Kind;
  /** The identity as the document has it: names or ids. */
  readonly writtenIdentity: Identity;
  readonly address: string;
  readonly fields: ReadonlyMap<string, DraftField>;
  readonly toSet: readonly VariableToSet[];
}

/** A part that no document can declare, and why. */
export interface LeftOut {
  readonly address: string;
  readonly reason: string;
}

/** The profile of a server, and the lists that its objects refer to. */
export interface ServerLists {
  readonly profile: Profile;
  readonly references: References;
}

export interface NewDocumentOptions extends ServerLists {
  readonly names: VariableNames;
  readonly hasCredential: (text: string) => boolean;
  /** Whether new documents and members refer to objects by id, or by name if the name is unique. */
  readonly by: 'name' | 'id';
}

interface Draft extends NewDocument {
  /** Documents about several objects that cover this one. */
  readonly covering: readonly Declared[];
  readonly fields: Map<string, DraftField>;
  readonly unwritable: string[];
}

/**
 * Creates documents that declare objects as they are: each document is valid, and a plan right after it is empty, apart from what
 * the documents of `coveringOf` change. Returns each field that a document can't declare in `leftOut`, with the reason. Pure.
 */
export function createDocuments(
  found: DiscoveredAll['found'],
  options: NewDocumentOptions,
  coveringOf: (object: ObjectRef) => readonly Declared[] = () => [],
) {
  const drafts = found.map(({ kind, finding }) => ({
    ...createDraft(kind, finding, options),
    covering: coveringOf({ kind: kind.name, identity: finding.identity }),
  }));
  return {
    documents: drafts
      .filter((draft) => dropUnwritable(draft, options))
      .map((draft) => ({
        ...draft,
        toSet: draft.toSet.filter(({ path }) => draft.fields.has(/^\w*/.exec(path)?.[0] ?? '')),
      })),
    leftOut: drafts.flatMap(({ address, unwritable }) => unwritable.map((reason) => ({ address, reason }))),
  };
}

function createDraft(kind: Kind, finding: FoundObject, options: NewDocumentOptions) {
  const { identity, live } = finding;
  const writtenIdentity = writtenIdentityOf(kind, finding, options);
  const { ignored = [] } = kind.traits[options.profile.name];
  const { fields: discoveredFields, files } = kind.discovery ?? {};
  const address = displayAddress(kind, identity, options);
  const context = createWriteContext(kind, address, options);
  const { toSet, unwritable } = context;
  const fields = new Map<string, DraftField>();
  for (const [field, type] of Object.entries(kind.fields)) {
    const value = live.fields[field];
    // A name that replaces an id isn't a field.
    const isName =
      writtenIdentity !== identity && kind.byName?.names.includes(field) === true && field in writtenIdentity;
    const isOwn = !isName && !Object.hasOwn(identity, field);
    const isWritten = discoveredFields === undefined ? isOwn : discoveredFields.includes(field);
    if (value === undefined || !isWritten || ignored.includes(field)) continue;
    const isBody = files?.extensions[field] !== undefined && typeof value === 'string';
    if (isBody && options.hasCredential(value)) {
      unwritable.push(`${field} contains a credential, which must not be written to a file`);
      continue;
    }
    const written = isBody
      ? { raw: escapeVariables(value), value }
      : writeValue([field], type, value, context);
    if (written !== undefined) fields.set(field, { ...written, isBody });
  }
  return { ...finding, kind, writtenIdentity, address, fields, toSet, unwritable };
}

/** The names that identify the object in a document if it can use them, otherwise its ids. */
function writtenIdentityOf(kind: Kind, finding: FoundObject, options: NewDocumentOptions): Identity {
  const { identity } = finding;
  if (options.by === 'id') return identity;
  const named = kind.discovery?.byName?.identity(finding, options.references);
  const isUsable =
    named !== undefined &&
    Object.values(named).every((name) => isUsableName(name, options.hasCredential)) &&
    kind.schema().safeParse({ kind: kind.name, ...named }).success;
  return isUsable ? named : identity;
}

/** Whether a document can use a name instead of an id. */
export function isUsableName(name: string, hasCredential: NewDocumentOptions['hasCredential']): boolean {
  return (
    isPathParameter(name) && !isBlank(name) && !isUuid(name) && !name.includes('${') && !hasCredential(name)
  );
}

/** The id of an element of a set, looked up by its name if necessary; undefined if it isn't found. */
export function elementId(kind: Kind, field: string, element: Value, present: Fields, server: ServerLists) {
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

/** An address with the name, or with the id if the name contains a credential. */
export function displayAddress(
  kind: Kind,
  identity: Identity,
  { references, hasCredential }: NewDocumentOptions,
): string {
  const named = addressOf(kind.name, kind.naming?.(identity, references).address ?? identity);
  return hasCredential(named) ? addressOf(kind.name, identity) : named;
}

/** The context for writing the values of an object. */
export function createWriteContext(kind: Kind, address: string, options: NewDocumentOptions): WriteContext {
  const { profile, names, hasCredential, by } = options;
  const { elements = {} } = kind.traits[profile.name].limits ?? {};
  const publicMembers = mapValues(elements, ({ types }) => Object.keys(types));
  const nameOf: WriteContext['nameOf'] = (field, { id, name }) => {
    if (by === 'id' || typeof id !== 'string' || typeof name !== 'string') return undefined;
    return isUsableName(name, options.hasCredential) && elementId(kind, field, name, {}, options) === id
      ? name
      : undefined;
  };
  return { address, names, hasCredential, publicMembers, nameOf, toSet: [], unwritable: [] };
}

/** Removes fields that a document can't declare; returns false if no document can identify the object. */
function dropUnwritable(draft: Draft, options: NewDocumentOptions): boolean {
  const { identity, covering, live, fields, unwritable } = draft;
  const { hasCredential, profile } = options;
  if (unusableId(identity, profile) !== undefined) {
    unwritable.push(`not written: with the profile ${profile.name} no manifest can have its id`);
    return false;
  }
  const containsSecret = Object.values(identity).some((id) => hasCredential(id));
  if (containsSecret || validationError({ ...draft, fields: new Map() }, profile) !== undefined) {
    unwritable.push('not written: no manifest can have its id');
    return false;
  }
  const problemWith = (some: Draft['fields']): string | undefined => {
    const candidate = { ...draft, fields: some };
    const declared = declaredOf(candidate);
    const problem =
      validationError(candidate, profile) ??
      whyPlanDiffers(declared, live, options) ??
      contradictionWith(covering, declared, live, options);
    return problem === undefined || problem === UNWRITABLE ? problem : `: ${problem}`;
  };
  if (problemWith(fields) === undefined) return true;
  const writable: Draft['fields'] = new Map();
  for (const [field, value] of [...fields]) {
    // With the fields before it, since they may conflict.
    const problem = problemWith(new Map([...writable, [field, value]]));
    if (problem === undefined) writable.set(field, value);
    else {
      unwritable.push(`${field}${problem}`);
      fields.delete(field);
    }
  }
  return true;
}

const UNWRITABLE = " can't be declared with the server's value";

/** Why a document doesn't read back as written, otherwise the first error of `validate`. */
function validationError(draft: Draft, profile: Profile): string | undefined {
  const { kind, writtenIdentity, fields } = draft;
  const values = [...fields].map(([field, { value }]) => [field, reveal(value)]);
  const whole = { kind: kind.name, ...writtenIdentity, ...Object.fromEntries(values) };
  const isSound = kind.schema().safeParse(whole).success && readsBack(membersOf(draft, ({ raw }) => raw));
  if (!isSound) return UNWRITABLE;
  return kind.check([declaredOf(draft)], profile).find(({ severity }) => severity === 'error')?.message;
}

/** Whether a document reads back as written, and is small enough for a manifest. */
export function readsBack(members: { readonly [key: string]: Json }): boolean {
  const text = documentText(members, null);
  return isManifestSize(text) && same(writtenDocuments(text) ?? null, [{ ...members }]);
}

function planOf(declared: Declared, live: Live, { references, profile }: ServerLists) {
  return compare({
    declared,
    live,
    recorded: undefined,
    references,
    profile,
    assert: false,
    address: '',
    key: '',
  });
}

/** A message if a document about several objects contradicts this one. */
function contradictionWith(
  covering: readonly Declared[],
  declared: Declared,
  live: Live,
  server: ServerLists,
): string | undefined {
  for (const one of covering) {
    const shared = Object.entries(one.fields).filter(([field]) => Object.hasOwn(declared.fields, field));
    const [[field = ''] = []] = shared;
    const both = [declared, { ...one, fields: Object.fromEntries(shared) }];
    if (planOf(mergeAbout(declared.identity, both, server.references), live, server).action !== 'blocked')
      continue;
    const { file, line } = one.places.of(field);
    return `the document at ${file}:${line} declares another value`;
  }
  return undefined;
}

/** Why a plan would change or block the object; undefined if it wouldn't. */
export function whyPlanDiffers(declared: Declared, live: Live, server: ServerLists): string | undefined {
  const { action, reason } = planOf(declared, live, server);
  if (action === 'unchanged' || action === 'adopt') return undefined;
  return reason ?? 'a plan would change it, whatever the document says';
}

function declaredOf({ kind, identity, fields }: Pick<NewDocument, 'kind' | 'identity' | 'fields'>): Declared {
  const values = Object.fromEntries([...fields].map(([field, { value }]) => [field, value]));
  const names = kind.identity.flatMap((part) =>
    typeof values[part] === 'string' ? [[part, values[part]]] : [],
  );
  return placeholderDocument(kind.name, { ...Object.fromEntries(names), ...identity }, { fields: values });
}

/** The members of a document; `write` returns the value of a field. */
export function membersOf(
  { kind, writtenIdentity, fields }: Pick<NewDocument, 'kind' | 'writtenIdentity' | 'fields'>,
  write: (value: DraftField, field: string) => Json,
): { [key: string]: Json } {
  const ids = mapValues({ ...writtenIdentity }, escapeVariables);
  const members = [...fields].map(([field, value]) => [field, write(value, field)]);
  return { kind: kind.name, ...ids, ...Object.fromEntries(members) };
}

/** What the state records about an object that matches its document. */
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

/** What the state records about the object of a new document, without maps that it declares only in part, since the rest may be secret. */
export function seenOfNew(document: NewDocument, options: ServerLists): Seen {
  const seen = seenOf(declaredOf(document), document.live, options);
  const complete = Object.entries(seen.fields).filter(([field, value]) => {
    const declared = seen.expected[field] ?? null;
    return (
      !isMap(value) || !isMap(declared) || Object.keys(value).every((key) => Object.hasOwn(declared, key))
    );
  });
  return { ...seen, fields: Object.fromEntries(complete) };
}
