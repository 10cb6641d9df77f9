import { error, type Place, type Problem } from '../base/problems.js';
import { isMap, type Json, mapValues, same, type Value } from '../base/values.js';
import { addressOf } from '../kinds/address.js';
import { altered } from '../kinds/declared.js';
import { value as plain } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live } from '../kinds/kind.js';
import { ignoredFields } from '../kinds/rules.js';
import { type FreshOptions, troubleOf } from './fresh.js';
import { isKnownOrSaid, type ToSet } from './literal.js';
import { mergeField } from './merge.js';

/** A document of a manifest, as it is written and as it is understood. */
export interface Present {
  readonly declared: Declared;
  readonly written: Json;
}

/** A new text for a body that lies in a file of its own. */
export interface BodyEdit {
  readonly field: string;
  /** As the document writes it, relative to its manifest. */
  readonly path: string;
  readonly text: string;
  /** What its file had when it was read. */
  readonly before: string;
  readonly place: Place;
}

/** What it takes that a document says what the server has. */
export interface Update {
  /** What the object is called. */
  readonly address: string;
  /** What the document is to say of its fields, as it is to be written. */
  readonly fields: { readonly [field: string]: Json };
  readonly bodies: readonly BodyEdit[];
  /** The document as it is understood then. */
  readonly declared: Declared;
  readonly toSet: readonly ToSet[];
  /** What can't be brought about in place. */
  readonly left: readonly Problem[];
}

export interface UpdateOptions extends FreshOptions {
  readonly builtIn: boolean;
  /** Why a text can't be put into the file that a document names; undefined where it can. */
  readonly bodyTrouble: (path: string, text: string) => string | undefined;
}

/** What of a document has to be changed so that a plan finds nothing to do. Pure. */
export function updateOf(present: Present, live: Live, options: UpdateOptions): Update {
  const { declared, written } = present;
  const kind = kindOf(declared.kind);
  const known = { ...declared.identity, ...live.identity };
  const named = addressOf(kind.name, kind.naming?.(known, options.references).address ?? declared.identity);
  const address = isKnownOrSaid(named, options) ? addressOf(kind.name, known) : named;
  const nothing: Update = { address, fields: {}, bodies: [], declared, toSet: [], left: [] };
  const left = (message: string, place: Place, hint?: string): Problem =>
    error('not-pulled', `${address}: ${message}`, [place], hint);
  if (declared.absent) {
    if (kind.deletion?.exists(live) !== true) return nothing;
    const message = `the document says "state: absent", and the server has the ${kind.noun}`;
    const hint = 'remove the document and pull again to keep what the server has, or apply to delete it';
    return { ...nothing, left: [left(message, declared.place, hint)] };
  }
  if (!live.exists) {
    const message = live.trouble ?? `the server has no such ${kind.noun}`;
    return { ...nothing, left: [left(message, declared.place)] };
  }
  if (troubleOf(declared, live, options) === undefined) return nothing;
  if (!options.builtIn && kind.deletion?.isBuiltIn(live.fields) === true) {
    const message = `the server has its built-in text of this ${kind.noun}, which nobody customised`;
    const hint =
      'apply to customise it; declare "state: absent", or pull with --all-templates, to have what the server has';
    return { ...nothing, left: [left(message, declared.place, hint)] };
  }
  if (!isMap(written)) return nothing;
  return new Updating(kind, address, declared, written as { [field: string]: Json }, live, options).update(
    left,
  );
}

class Updating {
  readonly #kind: Kind;
  readonly #address: string;
  readonly #declared: Declared;
  readonly #written: { readonly [field: string]: Json };
  readonly #live: Live;
  readonly #options: UpdateOptions;

  constructor(
    kind: Kind,
    address: string,
    declared: Declared,
    written: { readonly [field: string]: Json },
    live: Live,
    options: UpdateOptions,
  ) {
    this.#kind = kind;
    this.#address = address;
    this.#declared = declared;
    this.#written = written;
    this.#live = live;
    this.#options = options;
  }

  update(left: (message: string, place: Place, hint?: string) => Problem): Update {
    const fields: { [field: string]: Json } = {};
    const bodies: BodyEdit[] = [];
    const toSet: ToSet[] = [];
    const problems: Problem[] = [];
    const values: { [field: string]: Value } = { ...this.#declared.fields };
    const { profile } = this.#options;
    const ignored = ignoredFields(this.#declared.fields, this.#kind.traits[profile.name]);
    for (const [field, said] of Object.entries(this.#declared.fields)) {
      if (ignored.includes(field) || this.#trouble(field, said) === undefined) continue;
      const place = this.#declared.placeOf(field);
      const now = this.#live.fields[field];
      if (now === undefined) {
        problems.push(left(`the server doesn't show ${field}`, place));
        continue;
      }
      const one = this.#merged(field, said, now);
      const raw = this.#written[field] ?? null;
      const trouble = one.kept.length > 0 ? undefined : this.#trouble(field, one.value);
      for (const reason of trouble === undefined ? one.kept : [trouble]) problems.push(left(reason, place));
      if (trouble !== undefined) continue;
      if (!same(one.raw, raw)) fields[field] = one.raw;
      values[field] = one.value;
      bodies.push(...one.bodies.map((body) => ({ ...body, field, place })));
      toSet.push(...one.toSet);
    }
    if (Object.keys(fields).length + bodies.length + problems.length === 0) {
      const trouble = troubleOf(this.#declared, this.#live, this.#options);
      if (trouble !== undefined) problems.push(left(trouble, this.#declared.place));
    }
    const declared = altered(this.#declared, { fields: values });
    return { address: this.#address, fields, bodies, declared, toSet, left: problems };
  }

  #merged(field: string, said: Value, now: Value) {
    const { profile, names, holds, bodyTrouble } = this.#options;
    const bodies: { path: string; text: string; before: string }[] = [];
    const toSet: ToSet[] = [];
    const kept: string[] = [];
    const merged = mergeField(
      this.#kind.fields[field] ?? plain,
      { raw: this.#written[field] ?? null, value: said },
      now,
      {
        field,
        whole: this.#declared.whole.includes(field),
        writing: {
          address: this.#address,
          names,
          holds,
          open: mapValues(this.#kind.traits[profile.name].limits?.elements ?? {}, ({ types }) =>
            Object.keys(types),
          ),
          toSet,
          left: kept,
        },
        idOf: (element) => this.#idOf(field, element),
        body: (path, text, before) => {
          const trouble = bodyTrouble(path, text);
          if (trouble === undefined) bodies.push({ path, text, before });
          return trouble;
        },
        kept,
      },
    );
    return { ...merged, bodies, toSet, kept };
  }

  /** The id that an element has, or that the server's lists know its name by. */
  #idOf(field: string, element: Value): string | undefined {
    if (isMap(element) && typeof element.id === 'string') return element.id;
    const { references, profile } = this.#options;
    const resolved = this.#kind.resolve?.(
      { [field]: [element] },
      { references, profile, present: this.#live.fields, wished: () => true },
    );
    if (resolved === undefined || resolved.troubles.length > 0) return undefined;
    const list = resolved.fields[field];
    const found = Array.isArray(list) ? list[0] : undefined;
    return isMap(found) && typeof found.id === 'string' ? found.id : undefined;
  }

  /** What a plan would say if the document declared this field alone. */
  #trouble(field: string, value: Value): string | undefined {
    return troubleOf(altered(this.#declared, { fields: { [field]: value } }), this.#live, this.#options);
  }
}
