import { randomUUID } from 'node:crypto';
import { findById, type SandboxData } from '../data.js';
import type { Refused } from '../http.js';
import { equalByValue, isObject, type JsonObject } from '../json.js';
import { Crash, notCastable, ok, refusal, unprocessable } from './answers.js';
import { type Errors, type Fields, readFields, readUuid } from './fields.js';
import type { Operation, RunOperation } from './operation.js';

/** A resource that can be read. */
export interface Readable<Row extends { id: string }> {
  rows(data: SandboxData): Row[];
  show(operation: Operation, row: Row): unknown;
  /** The refusal of an unknown id. */
  onMissing(): Refused;
}

/** A resource that can be deleted. */
export interface Deletable<Row extends { id: string }> extends Readable<Row> {
  isProtected?(operation: Operation, row: Row): boolean;
  /** Throws if a row can't be deleted. */
  checkDeletion?(operation: Operation, row: Row): void;
  /** Called after a row is written or deleted, in the same transaction. */
  afterWrite?(data: SandboxData, row: Row | undefined, before: Row | undefined): void;
}

/** A resource that can be created, changed and deleted. Hooks throw `Refused` or `Crash`. */
export interface Resource<Row extends { id: string }> extends Deletable<Row> {
  /** The path in the `location` of a POST, which then answers 201; without a path it answers 200. */
  path?: string;
  fields: Fields;
  /** Whether a PATCH resets fields that the body omits. */
  patchResets?: boolean;
  /** What a POST does with an id that isn't a UUID; undefined if it ignores ids. */
  onInvalidId?: 'refuse' | 'crash';
  /** Whether a PATCH crashes if its wrapper contains no object; otherwise it is refused. */
  crashesWithoutObject?: boolean;
  /** Whether something refers to a row, so that its id can't change. Without this hook, a PATCH ignores `id`. */
  isReferenced?(data: SandboxData, row: Row): boolean;
  /** Writes before validation. */
  beforeValidation?(operation: Operation, row: Row | undefined, sent: JsonObject): Promise<void>;
  /** Errors of fields that depend on each other. */
  validate?(draft: Row, sent: JsonObject, row: Row | undefined): Errors;
  /** Completes the draft of a row, in the transaction that writes it. */
  beforeWrite?(operation: Operation, draft: Row, sent: JsonObject, others: Row[]): void;
  /** Writes after the row, in a transaction of its own. */
  afterRow?(operation: Operation, row: Row, sent: JsonObject, before: Row | undefined): Promise<void>;
}

/** GET of all rows. */
export function list<Row extends { id: string }>({ rows, show }: Readable<Row>): RunOperation {
  return async (operation) =>
    ok(await operation.work.read(() => rows(operation.data).map((row) => show(operation, row))));
}

/** One page of rows. An invalid number means page 1, a number beyond the last page means the last page. */
export function paginate<T>(rows: T[], requested: string | null, size: number, present: (row: T) => unknown) {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const number = /^\+?\d+$/.test(requested ?? '') ? Number(requested) : 1;
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
export function show<Row extends { id: string }>({ rows, show, onMissing }: Readable<Row>): RunOperation {
  return async (operation) => {
    const { data, work, params } = operation;
    return await work.read(() => {
      const row = findById(rows(data), params[0]);
      if (row === undefined) throw onMissing();
      return ok(show(operation, row));
    });
  };
}

/** An operation on one row, which is refused if there is no such row or if it is protected. */
export function onRow<Row extends { id: string }>(
  { rows, onMissing, isProtected }: Deletable<Row>,
  act: (operation: Operation, row: Row) => ReturnType<RunOperation>,
): RunOperation {
  return async (operation) => {
    const { data, work, params } = operation;
    const row = await work.read(() => findById(rows(data), params[0]));
    if (row === undefined) throw onMissing();
    if (isProtected?.(operation, row) === true) throw refusal(403, 'is write protected');
    return await act(operation, row);
  };
}

/** POST. */
export function create<Row extends { id: string }>(resource: Resource<Row>): RunOperation {
  return (operation) => save(resource, operation, undefined);
}

/** PATCH. */
export function update<Row extends { id: string }>(resource: Resource<Row>): RunOperation {
  return onRow(resource, (operation, row) => save(resource, operation, row));
}

/** DELETE. */
export function remove<Row extends { id: string }>(resource: Deletable<Row>): RunOperation {
  return onRow(resource, async (operation, row) => {
    const { data, work } = operation;
    resource.checkDeletion?.(operation, row);
    await work.write(() => {
      removeRow(resource.rows(data), row);
      resource.afterWrite?.(data, undefined, row);
    });
    return { status: 204 };
  });
}

async function save<Row extends { id: string }>(resource: Resource<Row>, operation: Operation, row?: Row) {
  const { data, work, resource: body } = operation;
  const { patchResets = false, path } = resource;
  const sent = patchResets ? (body ?? {}) : body;
  if (!isObject(sent))
    throw row !== undefined && resource.crashesWithoutObject === true
      ? new Crash('(Ecto.CastError) expected a map')
      : notCastable(sent);
  await resource.beforeValidation?.(operation, row, sent);
  const { values, errors, databaseFailure } = readFields(
    resource.fields,
    sent,
    patchResets || row === undefined,
  );
  const id = chooseId(resource, row, sent.id);
  if (id === 'refuse') errors.id = ['is invalid'];
  const draft = { ...(row ?? {}), ...values, id } as Row;
  const allErrors = { ...resource.validate?.(draft, sent, row), ...errors };
  if (Object.keys(allErrors).length > 0) throw unprocessable(allErrors);
  if (id === 'crash') throw new Crash(`(Ecto.ChangeError) value ${JSON.stringify(sent.id)} for id`);
  if (databaseFailure !== undefined) throw databaseFailure;

  const before = row === undefined ? undefined : { ...row };
  const stored = row ?? draft;
  await work.write(() => {
    const rows = resource.rows(data);
    if (id !== row?.id) {
      if (findById(rows, id) !== undefined) throw unprocessable({ id: ['has already been taken'] });
      if (row !== undefined && resource.isReferenced?.(data, row) === true)
        throw new Crash('(Ecto.ConstraintError) foreign_key_constraint');
    }
    const others = rows.filter((other) => other !== row);
    resource.beforeWrite?.(operation, draft, sent, others);
    // The database moves a changed row to the end.
    if (!equalByValue(draft, row)) {
      removeRow(rows, stored);
      rows.push(Object.assign(stored, draft));
    }
    resource.afterWrite?.(data, stored, before);
  });
  await resource.afterRow?.(operation, stored, sent, before);
  const answer = ok(await work.read(() => resource.show(operation, stored)));
  if (row !== undefined || path === undefined) return answer;
  return { ...answer, status: 201, headers: { location: `${path}/${stored.id}` } };
}

function chooseId<Row extends { id: string }>(resource: Resource<Row>, row: Row | undefined, sent: unknown) {
  const { onInvalidId, isReferenced } = resource;
  const acceptsId = row === undefined ? onInvalidId !== undefined : isReferenced !== undefined;
  if (!acceptsId || sent === undefined || sent === null) return row?.id ?? randomUUID();
  return readUuid(sent) ?? onInvalidId ?? 'crash';
}

function removeRow<Row>(rows: Row[], row: Row): void {
  const index = rows.indexOf(row);
  if (index !== -1) rows.splice(index, 1);
}
