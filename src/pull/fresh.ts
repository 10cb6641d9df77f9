import type { Place } from '../base/problems.js';
import { type Json, mapValues, reveal, same } from '../base/values.js';
import { altered } from '../kinds/declared.js';
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
  readonly live: Live;
  readonly said: Map<string, SaidField>;
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

/** Whether a document can say which object is meant. What else it can't say is taken out of it. */
function isSound({ kind, identity, said, left }: Draft, { holds, profile }: FreshOptions): boolean {
  if (idTrouble(identity, profile) !== undefined) {
    left.push(
      `its id is none that a manifest can have with the profile ${profile.name}, so that nothing is written down of it`,
    );
    return false;
  }
  const isUsable = (fields: readonly (readonly [string, SaidField])[]): boolean => {
    const values = fields.map(([field, { value }]) => [field, reveal(value)]);
    const whole = { kind: kind.name, ...identity, ...Object.fromEntries(values) };
    return (
      kind.schema.safeParse(whole).success &&
      isReadBack(membersOf({ kind, identity, said: new Map(fields) }, ({ raw }) => raw))
    );
  };
  if (!isUsable([]) || Object.values(identity).some((id) => isKnownOrSaid(id, { holds }))) {
    left.push("its id can't stand in a manifest, so that nothing is written down of it");
    return false;
  }
  // One by one if something is wrong with it as a whole.
  if (isUsable([...said])) return true;
  for (const entry of [...said]) {
    if (isUsable([entry])) continue;
    left.push(`${entry[0]} can't stand in a manifest as the server has it`);
    said.delete(entry[0]);
  }
  return true;
}

/** Whether what is written comes back as it was, from a file of the size that one may have. */
export function isReadBack(members: { readonly [key: string]: Json }): boolean {
  const text = documentText(members, null);
  return fitsManifest(text) && same(writtenDocuments(text) ?? null, [{ ...members }]);
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
          if (draft.said.delete(field)) draft.left.push(`${field}: ${message}`);
          else if (severity === 'error' && !kind.fields[field] && !refused.has(draft)) {
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
  const declared = declaredOf(draft, 0);
  if (troubleOf(declared, draft.live, options) === undefined) return;
  for (const [field, { value }] of [...draft.said]) {
    const found = troubleOf(altered(declared, { fields: { [field]: value } }), draft.live, options);
    if (found === undefined) continue;
    draft.left.push(`${field}: ${found}`);
    draft.said.delete(field);
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

function declaredOf({ kind, identity, said }: Draft, number: number): Declared {
  const at = (field?: string): Place => ({
    file: FRESH,
    line: number,
    column: 1,
    length: 1,
    ...(field === undefined ? {} : { text: field }),
  });
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
    place: at(),
    declaredAt: { file: FRESH, line: number },
    placeOf: (field) => at(field === undefined ? undefined : String(field)),
    placeWithin: (field) => at(field),
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
