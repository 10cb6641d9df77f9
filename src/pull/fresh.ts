import type { Place } from '../base/problems.js';
import { type Fields, type Json, mapValues, reveal, same } from '../base/values.js';
import { addressOf } from '../kinds/address.js';
import { altered } from '../kinds/declared.js';
import type { Declared, Finding, Identity, Kind, Live } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import type { References } from '../kinds/references.js';
import { compare } from '../plan/compare.js';
import type { Profile } from '../server/profiles.js';
import { MAX_BYTES, SourceFile } from '../source/file.js';
import { resolve } from '../source/resolve.js';
import { parseYaml } from '../source/yaml.js';
import { escapeVariables, isKnownOrSaid, type ToSet, type Writing, writeField } from './literal.js';
import type { VariableNames } from './names.js';
import { documentText } from './yaml.js';

/** A document about an object that no manifest declares. */
export interface FreshDocument {
  readonly kind: Kind;
  readonly identity: Identity;
  readonly address: string;
  /** What tells a person which object it is. */
  readonly called: string | null;
  /** The document, without its bodies. */
  readonly members: { readonly [key: string]: Json };
  /** The texts that are to lie in files of their own, by field. */
  readonly bodies: { readonly [field: string]: string };
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

/** A document that is being made: what it says, field by field. */
interface Draft {
  readonly kind: Kind;
  readonly finding: Finding;
  readonly address: string;
  readonly raw: Map<string, Json>;
  readonly fields: Map<string, Fields[string]>;
  readonly bodies: Map<string, string>;
  readonly toSet: ToSet[];
  readonly left: string[];
}

/**
 * Documents about objects as they are: each says what `validate` takes and what a plan finds to be so. What can't be said
 * in a manifest is left out, in words. Pure.
 */
export function freshDocuments(
  found: readonly { readonly kind: Kind; readonly finding: Finding }[],
  existing: readonly Declared[],
  options: FreshOptions,
): Fresh {
  const drafts = found.map(({ kind, finding }) => draftOf(kind, finding, options));
  const sound = drafts.filter((draft) => isSound(draft, options));
  const valid = withoutRefused(sound, existing, options.profile);
  for (const draft of valid) withoutDiffering(draft, options);
  return {
    documents: valid.map((draft) => ({
      kind: draft.kind,
      identity: draft.finding.identity,
      address: draft.address,
      called: draft.finding.called,
      members: { ...namedRaw(draft), ...Object.fromEntries(draft.raw) },
      bodies: Object.fromEntries(draft.bodies),
      toSet: draft.toSet.filter(({ path }) => draft.raw.has(/^\w*/.exec(path)?.[0] ?? '')),
    })),
    left: drafts.flatMap(({ address, left }) => left.map((reason) => ({ address, reason }))),
  };
}

function draftOf(kind: Kind, finding: Finding, { profile, names, holds, references }: FreshOptions): Draft {
  const { identity, live } = finding;
  const { ignored = [], limits } = kind.traits[profile.name];
  const { writes, files } = kind.discovery ?? {};
  const named = addressOf(kind.name, kind.naming?.(identity, references).address ?? identity);
  // Files and variables are called after it.
  const address = isKnownOrSaid(named, { holds }) ? addressOf(kind.name, identity) : named;
  const draft: Draft = {
    kind,
    finding,
    address,
    raw: new Map(),
    fields: new Map(),
    bodies: new Map(),
    toSet: [],
    left: [],
  };
  const writing: Writing = {
    address,
    names,
    holds,
    open: mapValues(limits?.elements ?? {}, ({ types }) => Object.keys(types)),
    toSet: draft.toSet,
    left: draft.left,
  };
  for (const [field, type] of Object.entries(kind.fields)) {
    const value = live.fields[field];
    const isWritten = writes === undefined ? !Object.hasOwn(identity, field) : writes.includes(field);
    if (value === undefined || !isWritten || ignored.includes(field)) continue;
    if (files?.endings[field] !== undefined && typeof value === 'string') {
      const trouble = isKnownOrSaid(value, { holds })
        ? 'has a credential in it, which no file may hold'
        : value.length > MAX_BYTES / 4 && Buffer.byteLength(value) > MAX_BYTES
          ? 'is larger than 16 MiB, which no file may be'
          : undefined;
      if (trouble !== undefined) {
        draft.left.push(`${field} ${trouble}`);
        continue;
      }
      draft.fields.set(field, value);
      draft.bodies.set(field, value);
      continue;
    }
    const written = writeField(type, field, value, writing);
    if (written === undefined) continue;
    draft.raw.set(field, written.raw);
    draft.fields.set(field, written.value);
  }
  return draft;
}

/** What a document may have beside its fields: a comment, and the paths of its bodies. */
const ROOM = 16 * 1024;

/** Whether a document can say which object is meant. What else it can't say is taken out of it. */
function isSound(draft: Draft, { holds, profile }: FreshOptions): boolean {
  const { kind, finding } = draft;
  if (idTrouble(finding.identity, profile) !== undefined) {
    draft.left.push(
      `its id is none that a manifest can have with the profile ${profile.name}, so that nothing is written down of it`,
    );
    return false;
  }
  const named = { kind: kind.name, ...finding.identity };
  const isUsable = kind.schema.safeParse(named).success && isReadBack(namedRaw(draft));
  if (!isUsable || Object.values(finding.identity).some((id) => isKnownOrSaid(id, { holds }))) {
    draft.left.push("its id can't stand in a manifest, so that nothing is written down of it");
    return false;
  }
  // One by one where something is wrong with it as a whole.
  const whole = { ...named, ...mapValues(Object.fromEntries(draft.fields), reveal) };
  const written = { ...namedRaw(draft), ...Object.fromEntries(draft.raw) };
  if (Buffer.byteLength(documentText(written, null)) > MAX_BYTES - ROOM) {
    draft.left.push('is larger than 16 MiB, which no manifest may be, so that nothing is written down of it');
    return false;
  }
  if (kind.schema.safeParse(whole).success && isReadBack(written)) return true;
  for (const [field, value] of draft.fields) {
    const one = { ...named, [field]: reveal(value) };
    const raw = draft.raw.get(field);
    if (kind.schema.safeParse(one).success && (raw === undefined || isReadBack({ [field]: raw }))) continue;
    draft.left.push(`${field} can't stand in a manifest as the server has it`);
    drop(draft, field);
  }
  return true;
}

/** Whether what is written comes back as it was. */
export function isReadBack(members: { readonly [key: string]: Json }): boolean {
  const file = new SourceFile({ file: '' }, documentText(members, null));
  const { documents, problems } = parseYaml(file);
  const [document] = documents;
  if (problems.length > 0 || document === undefined || documents.length > 1) return false;
  return same(resolve(document.root, file, null).value, { ...members });
}

/** Takes out what `validate` has something to say about, be it about one document or about several together. */
function withoutRefused(
  drafts: readonly Draft[],
  existing: readonly Declared[],
  profile: Profile,
): readonly Draft[] {
  const refused = new Set<Draft>();
  for (const kind of new Set(drafts.map((draft) => draft.kind))) {
    const others = existing.filter((document) => document.kind === kind.name);
    // A document that stands somewhere is told by its place, a new one by its number.
    for (let again = true; again; ) {
      again = false;
      const own = drafts.filter((draft) => draft.kind === kind && !refused.has(draft));
      const numbered = own.map((draft, number) => declaredOf(draft, number));
      for (const { message, places, severity } of kind.check([...others, ...numbered], profile)) {
        for (const { file, line, text } of places) {
          const draft = file === FRESH ? own[line] : undefined;
          if (draft === undefined) continue;
          const field = text ?? '';
          if (draft.fields.has(field)) {
            draft.left.push(`${field}: ${message}`);
            drop(draft, field);
          } else if (severity === 'error' && !kind.fields[field] && !refused.has(draft)) {
            draft.left.push(`${message}, so that nothing is written down of it`);
            refused.add(draft);
          } else continue;
          again = true;
        }
      }
    }
  }
  return drafts.filter((draft) => !refused.has(draft));
}

/** Takes out what a plan would change, or could not tell. */
function withoutDiffering(draft: Draft, options: FreshOptions): void {
  const { finding } = draft;
  const trouble = (declared: Declared): string | undefined => troubleOf(declared, finding.live, options);
  if (trouble(declaredOf(draft, 0)) === undefined) return;
  for (const field of [...draft.fields.keys()]) {
    const declared = declaredOf(draft, 0);
    const value = declared.fields[field];
    const found =
      value === undefined ? undefined : trouble(altered(declared, { fields: { [field]: value } }));
    if (found === undefined) continue;
    draft.left.push(`${field}: ${found}`);
    drop(draft, field);
  }
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

/** In the place of the file that a document doesn't have yet. */
const FRESH = '\0fresh';

function declaredOf({ kind, finding, fields }: Draft, number: number): Declared {
  const at = (field?: string): Place => ({
    file: FRESH,
    line: number,
    column: 1,
    length: 1,
    ...(field === undefined ? {} : { text: field }),
  });
  const said = Object.fromEntries(fields);
  const names = kind.identity.flatMap((part) => (typeof said[part] === 'string' ? [[part, said[part]]] : []));
  return {
    kind: kind.name,
    identity: { ...Object.fromEntries(names), ...finding.identity },
    fields: said,
    absent: false,
    whole: [],
    place: at(),
    declaredAt: { file: FRESH, line: number },
    placeOf: (field) => at(field === undefined ? undefined : String(field)),
    placeWithin: (field) => at(field),
  };
}

function drop(draft: Draft, field: string): void {
  draft.fields.delete(field);
  draft.raw.delete(field);
  draft.bodies.delete(field);
}

function namedRaw({ kind, finding }: Draft): { [key: string]: Json } {
  return { kind: kind.name, ...mapValues({ ...finding.identity }, escapeVariables) };
}

/** A document with its bodies as they are given, each at the place of its field. */
export function membersWith(
  { kind, members, bodies }: Pick<FreshDocument, 'kind' | 'members' | 'bodies'>,
  bodyOf: (field: string, text: string) => Json,
): { [key: string]: Json } {
  const named = Object.entries(members).filter(([key]) => kind.fields[key] === undefined);
  const fields = Object.keys(kind.fields).flatMap((field): [string, Json][] => {
    const text = Object.hasOwn(bodies, field) ? bodies[field] : undefined;
    if (text !== undefined) return [[field, bodyOf(field, text)]];
    const member = Object.hasOwn(members, field) ? members[field] : undefined;
    return member === undefined ? [] : [[field, member]];
  });
  return Object.fromEntries([...named, ...fields]);
}
