import { randomUUID } from 'node:crypto';
import type { SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import { equalByValue, isObject, type JsonObject } from '../json.js';
import { crash, notCastable, nul, ok, refusal, unprocessable } from './answers.js';
import { type Errors, type Fields, readFields } from './fields.js';
import { findById, type Operation, type Run } from './operation.js';
import { readUuid } from './texts.js';

/** The rows of a resource, and how answers show them. */
export interface Shown<Row extends { id: string }> {
  rows(data: SandboxData): Row[];
  show(operation: Operation, row: Row): unknown;
  /** The answer to an unknown id. */
  missing(): Answer;
}

/** Rows that can be deleted. */
export interface Removable<Row extends { id: string }> extends Shown<Row> {
  isProtected?(operation: Operation, row: Row): boolean;
  /** Why a row can't be deleted. */
  keeps?(operation: Operation, row: Row): Answer | undefined;
  /** Called after a row is written or deleted, in the same transaction. */
  written?(data: SandboxData, row: Row | undefined, before: Row | undefined): void;
}

/** A resource that can be created, changed and deleted. Hooks answer if they refuse or fail. */
export interface Resource<Row extends { id: string }> extends Removable<Row> {
  /** The path that a POST answers with, beside 201; without it, 200. */
  path?: string;
  fields: Fields;
  /** Whether a PATCH resets what the body leaves out. */
  resets?: boolean;
  /** What a POST does with an id that isn't a UUID, if it takes ids at all. */
  takesId?: 'refuse' | 'crash';
  /** Whether a PATCH crashes if its wrapper holds no object; it is refused otherwise. */
  needsObject?: boolean;
  /** Whether something refers to an object, so that its id can't change; without it a PATCH ignores `id`. */
  isReferred?(data: SandboxData, row: Row): boolean;
  /** Writes before anything is checked. */
  begin?(operation: Operation, row: Row | undefined, sent: JsonObject): Promise<Answer | undefined>;
  /** Errors of values that depend on each other. */
  check?(draft: Row, sent: JsonObject, row: Row | undefined): Errors;
  /** Completes the row that is about to be written, in the same transaction. */
  complete?(operation: Operation, draft: Row, sent: JsonObject, others: Row[]): Answer | undefined;
  /** Writes after the row. */
  finish?(
    operation: Operation,
    row: Row,
    sent: JsonObject,
    before: Row | undefined,
  ): Promise<Answer | undefined>;
}

/** GET of all rows. */
export function list<Row extends { id: string }>({ rows, show }: Shown<Row>): Run {
  return async (operation) =>
    ok(await operation.work.read(() => rows(operation.data).map((row) => show(operation, row))));
}

/** One page. An invalid number means page 1, and a number beyond the last page means the last page. */
export function paginate<T>(rows: T[], asked: string | null, size: number, present: (row: T) => unknown) {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const number = /^\+?\d+$/.test(asked ?? '') ? Number(asked) : 1;
  const page = Math.min(Math.max(1, number), pages);
  return {
    status: 200,
    body: {
      data: rows.slice((page - 1) * size, page * size).map(present),
      page_number: page,
      page_size: size,
      total_pages: pages,
      total_entries: rows.length,
    },
  };
}

/** GET of one row. */
export function show<Row extends { id: string }>({ rows, show, missing }: Shown<Row>): Run {
  return async (operation) => {
    const { data, work, params } = operation;
    return await work.read(() => {
      const row = findById(rows(data), params[0]);
      return row === undefined ? missing() : ok(show(operation, row));
    });
  };
}

/** An operation on one row. */
export function onRow<Row extends { id: string }>(
  { rows, missing, isProtected }: Removable<Row>,
  act: (operation: Operation, row: Row) => Promise<Answer>,
): Run {
  return async (operation) => {
    const { data, work, params } = operation;
    const row = await work.read(() => findById(rows(data), params[0]));
    if (row === undefined) return missing();
    return isProtected?.(operation, row) === true ? refusal(403, 'is write protected') : act(operation, row);
  };
}

/** POST. */
export function create<Row extends { id: string }>(resource: Resource<Row>): Run {
  return (operation) => save(resource, operation, undefined);
}

/** PATCH. */
export function update<Row extends { id: string }>(resource: Resource<Row>): Run {
  return onRow(resource, (operation, row) => save(resource, operation, row));
}

/** DELETE. */
export function remove<Row extends { id: string }>(resource: Removable<Row>): Run {
  return onRow(resource, async (operation, row) => {
    const { data, work } = operation;
    const refused = resource.keeps?.(operation, row);
    if (refused !== undefined) return refused;
    await work.write(() => {
      take(resource.rows(data), row);
      resource.written?.(data, undefined, row);
    });
    return { status: 204 };
  });
}

async function save<Row extends { id: string }>(resource: Resource<Row>, operation: Operation, row?: Row) {
  const { data, work, resource: given, token } = operation;
  const { resets = false, path } = resource;
  const sent = resets ? (given ?? {}) : given;
  if (!isObject(sent))
    return row !== undefined && resource.needsObject === true
      ? crash('(Ecto.CastError) expected a map', token)
      : notCastable(sent);
  const begun = await resource.begin?.(operation, row, sent);
  if (begun !== undefined) return begun;
  const { values, errors, broken } = readFields(resource.fields, sent, resets || row === undefined);
  const id = chooseId(resource, row, sent.id);
  if (id === 'refuse') errors.id = ['is invalid'];
  const draft = { ...(row ?? {}), ...values, id } as Row;
  const all = { ...resource.check?.(draft, sent, row), ...errors };
  if (Object.keys(all).length > 0) return unprocessable(all);
  if (id === 'crash') return crash(`(Ecto.ChangeError) value ${JSON.stringify(sent.id)} for id`, token);
  if (broken !== undefined) return broken === 'nul' ? nul() : crash(broken.crash, token);

  const before = row === undefined ? undefined : { ...row };
  const stored = row ?? draft;
  const refused = await work.write(() => {
    const rows = resource.rows(data);
    if (id !== row?.id) {
      if (findById(rows, id) !== undefined) return unprocessable({ id: ['has already been taken'] });
      if (row !== undefined && resource.isReferred?.(data, row) === true)
        return crash('(Ecto.ConstraintError) foreign_key_constraint', token);
    }
    const failed = resource.complete?.(
      operation,
      draft,
      sent,
      rows.filter((other) => other !== row),
    );
    if (failed !== undefined) return failed;
    // The database moves a changed row to the end.
    if (!equalByValue(draft, row)) {
      take(rows, stored);
      rows.push(Object.assign(stored, draft));
    }
    resource.written?.(data, stored, before);
    return undefined;
  });
  if (refused !== undefined) return refused;
  const failed = await resource.finish?.(operation, stored, sent, before);
  if (failed !== undefined) return failed;
  const answer = ok(await work.read(() => resource.show(operation, stored)));
  if (row !== undefined || path === undefined) return answer;
  return { ...answer, status: 201, headers: { location: `${path}/${stored.id}` } };
}

function chooseId<Row extends { id: string }>(resource: Resource<Row>, row: Row | undefined, sent: unknown) {
  const { takesId, isReferred } = resource;
  const takes = row === undefined ? takesId !== undefined : isReferred !== undefined;
  if (!takes || sent === undefined || sent === null) return row?.id ?? randomUUID();
  return readUuid(sent) ?? takesId ?? 'crash';
}

function take<Row>(rows: Row[], row: Row): void {
  const at = rows.indexOf(row);
  if (at !== -1) rows.splice(at, 1);
}
