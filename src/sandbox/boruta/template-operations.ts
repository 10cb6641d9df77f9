import type { SandboxData } from '../data.js';
import type { Answer, Refused } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { type Crash, notCastable, ok } from './answers.js';
import type { Operation, RunOperation } from './operation.js';

interface StoredTemplate {
  id: string;
  type: string;
}

/** The templates of one kind of parent: a backend, an identity provider, or the whole server. */
export interface TemplateSet<Row extends StoredTemplate> {
  /** The types, with their built-in content. */
  types: ReadonlyMap<string, Partial<Row>>;
  /** The customised templates. */
  rows(data: SandboxData): Row[];
  /** The members that identify the parent that the path names; undefined if there is no such parent. */
  parentIds(operation: Operation): object | undefined;
  /** The failure if there is no such parent or type. */
  onMissing(operation: Operation): Crash | Refused;
  /** The templates as they were last read or changed, by path: GET shows them even if a PATCH of the parent deleted them. */
  cache?: WeakMap<SandboxData, Map<string, Row>>;
}

type Place<Row extends StoredTemplate> = NonNullable<ReturnType<typeof locate<Row>>>;

/** GET, PATCH and DELETE of templates. `update` gets the body of a PATCH, and where its template is stored. */
export function templateOperations<Row extends StoredTemplate>(
  set: TemplateSet<Row>,
  update: (operation: Operation, place: Place<Row>, sent: JsonObject) => Promise<Answer>,
): Readonly<Record<'show' | 'update' | 'remove', RunOperation>> {
  return {
    show: (operation) =>
      operation.work.read(() => {
        const place = locate(set, operation);
        if (place === undefined) throw set.onMissing(operation);
        const row = place.cached ?? place.stored;
        if (row !== undefined) place.remember(row);
        return ok(row ?? place.builtIn);
      }),
    async update(operation) {
      const place = await operation.work.read(() => locate(set, operation));
      if (place === undefined) throw set.onMissing(operation);
      const { resource } = operation;
      if (!isObject(resource)) throw notCastable(resource);
      return await update(operation, place, resource);
    },
    async remove(operation) {
      const { data, work } = operation;
      const place = await work.read(() => locate(set, operation));
      place?.forget();
      const stored = place?.stored;
      if (place === undefined || stored === undefined) throw set.onMissing(operation);
      return await work.write(() => {
        set.rows(data).splice(set.rows(data).indexOf(stored), 1);
        return ok(place.builtIn);
      });
    },
  };
}

/** The template that a path names; undefined if there is no such parent or type. */
function locate<Row extends StoredTemplate>(set: TemplateSet<Row>, operation: Operation) {
  const { data, params } = operation;
  const type = params.at(-1) ?? '';
  const content = set.types.get(type);
  const parentIds = set.parentIds(operation);
  if (content === undefined || parentIds === undefined) return undefined;
  const cache = set.cache?.get(data) ?? new Map<string, Row>();
  set.cache?.set(data, cache);
  const key = params.join('/');
  const findStored = (wanted: string, ids: object = parentIds): Row | undefined =>
    set
      .rows(data)
      .find(
        (row) =>
          row.type === wanted && Object.entries(ids).every(([name, id]) => Reflect.get(row, name) === id),
      );
  return {
    type,
    parentIds,
    findStored,
    stored: findStored(type),
    builtIn: { id: null, ...parentIds, type, ...content },
    cached: cache.get(key),
    forget: () => cache.delete(key),
    remember: (row: Row) => cache.set(key, { ...row }),
  };
}
