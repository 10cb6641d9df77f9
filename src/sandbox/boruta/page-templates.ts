import { randomUUID } from 'node:crypto';
import type { SandboxData, SandboxErrorTemplate, SandboxPageTemplate } from '../data.js';
import type { Answer } from '../http.js';
import { isObject } from '../json.js';
import { crash, noRow, notCastable, nul, ok, unprocessable } from './answers.js';
import { type Fields, readFields, requiredText } from './fields.js';
import { findById, type Operation, type Run } from './operation.js';
import { errorTypes, pageTypes } from './pages-built-in.js';

/** Pages of an identity provider, or of the whole server. */
interface Shelf<Row extends SandboxErrorTemplate> {
  types: ReadonlyMap<string, string>;
  rows(data: SandboxData): Row[];
  /** The answer if the path names nothing. */
  missing(operation: Operation): Answer;
  /** What a row has beside id, type and content; undefined if the path names nothing. */
  owner(operation: Operation): Omit<Row, keyof SandboxErrorTemplate> | undefined;
}

/** Templates that were read or changed: the server goes on to show them after a PATCH of the provider dropped them. */
const caches = new WeakMap<SandboxData, Map<string, SandboxErrorTemplate>>();

/** Forgets the pages of a provider. */
export function forgetPages(data: SandboxData, provider: string): void {
  for (const type of pageTypes.keys()) caches.get(data)?.delete(`${provider}/${type}`);
}

const pages: Shelf<SandboxPageTemplate> = {
  types: pageTypes,
  rows: (data) => data.pageTemplates,
  owner: ({ data, params: [id = ''] }) =>
    findById(data.identityProviders, id) === undefined ? undefined : { identity_provider_id: id },
  missing: () => noRow('Template'),
};

const errorPages: Shelf<SandboxErrorTemplate> = {
  types: errorTypes,
  rows: (data) => data.errorTemplates,
  owner: () => ({}),
  missing: ({ params: [type = ''], token }) =>
    /^\d+$/.test(type)
      ? noRow('ErrorTemplate')
      : crash('(ArgumentError) not a textual representation of an integer', token),
};

/** GET, PATCH and DELETE of pages, and of error pages. */
export const pageTemplates = runs(pages);
export const errorTemplates = runs(errorPages);

const fields: Fields = {
  content: { ...requiredText, required: false, wide: true },
  type: { ...requiredText, required: false },
};

function runs<Row extends SandboxErrorTemplate>(shelf: Shelf<Row>): { show: Run; update: Run; remove: Run } {
  return {
    show: (operation) =>
      operation.work.read(() => {
        const place = locate(shelf, operation);
        if (place === undefined) return shelf.missing(operation);
        const row = place.cached ?? place.stored;
        if (row !== undefined) place.remember(row);
        return ok(row ?? place.builtIn);
      }),
    update: (operation) => update(shelf, operation),
    remove: async (operation) => {
      const { data, work } = operation;
      const place = await work.read(() => locate(shelf, operation));
      place?.forget();
      const stored = place?.stored;
      if (place === undefined || stored === undefined) return shelf.missing(operation);
      return await work.write(() => {
        shelf.rows(data).splice(shelf.rows(data).indexOf(stored), 1);
        return ok(place.builtIn);
      });
    },
  };
}

/** The template of a path; undefined if there is no such provider or type. */
function locate<Row extends SandboxErrorTemplate>({ types, rows, owner }: Shelf<Row>, operation: Operation) {
  const { data, params } = operation;
  const type = params.at(-1) ?? '';
  const content = types.get(type);
  const owned = owner(operation);
  if (content === undefined || owned === undefined) return undefined;
  const cache = caches.get(data) ?? new Map<string, SandboxErrorTemplate>();
  caches.set(data, cache);
  const key = params.join('/');
  const at = (wanted: string): Row | undefined =>
    rows(data).find(
      (row) =>
        row.type === wanted && Object.entries(owned).every(([name, id]) => Reflect.get(row, name) === id),
    );
  return {
    type,
    owned,
    at,
    stored: at(type),
    builtIn: { id: null, ...owned, type, content },
    cached: cache.get(key),
    forget: () => cache.delete(key),
    remember: (row: SandboxErrorTemplate) => cache.set(key, { ...row }),
  };
}

const stale: Answer = {
  status: 409,
  body: { code: 'CONFLICT', message: '** (Ecto.StaleEntryError) attempted to update a stale entry' },
};

/** PATCH. Unlike mails, the same content again keeps what is stored. */
async function update<Row extends SandboxErrorTemplate>(shelf: Shelf<Row>, operation: Operation) {
  const { data, work, resource, token } = operation;
  const place = await work.read(() => locate(shelf, operation));
  if (place === undefined) return shelf.missing(operation);
  if (!isObject(resource)) return notCastable(resource);
  const { values, errors, broken } = readFields(fields, resource, false);
  const { type = place.type, content = place.stored?.content ?? place.builtIn.content } = values;
  if (!shelf.types.has(String(type))) errors.type ??= ['is invalid'];
  if (Object.keys(errors).length > 0) return unprocessable(errors);
  if (broken === 'nul') return nul();
  const isMoved = Object.entries(place.owned).some(([name, id]) => (resource[name] ?? id) !== id);
  if (isMoved) return crash('(ArgumentError) cannot change belongs_to association', token);
  return await work.write(() => {
    const stored = place.at(place.type);
    const inTheWay = place.at(String(type));
    if (inTheWay !== undefined && inTheWay !== stored)
      return crash('(Ecto.ConstraintError) templates_type_index (unique_constraint)', token);
    if (place.cached !== undefined && place.cached.id !== stored?.id) {
      place.forget();
      const isSame = place.cached.content === (values.content ?? place.cached.content) && type === place.type;
      return isSame ? ok(place.cached) : stale;
    }
    const row = Object.assign(stored ?? { id: randomUUID(), ...place.owned }, { type, content }) as Row;
    if (stored === undefined) shelf.rows(data).push(row);
    if (type === place.type) place.remember(row);
    else place.forget();
    return ok(row);
  });
}
