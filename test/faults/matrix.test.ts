import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/server/operations.js';
import {
  type Cell,
  cellText,
  faults,
  isBoruta,
  measure,
  operationNames,
  tables,
  withTables,
} from './matrix.js';

let cells: readonly Cell[];

beforeAll(async () => {
  cells = await measure();
});

/** Statuses that say that nothing was done. */
const refusals: readonly string[] = [
  '408 request timeout',
  '425 too early',
  '429 too many requests',
  '429 with `Retry-After`',
];
/** Faults under which the server does the work all the same. */
const worked: readonly string[] = ['truncated answer', 'done, answer lost'];
/** What can be read with the eight operations alone. */
const readable: readonly string[] = ['updateOrganization', 'updateTemplate', 'deleteTemplate'];
/** Updates that are read back before they are sent again. */
const confirmed: readonly string[] = ['updatePageTemplate', 'updateErrorTemplate'];

/** What is to come of a cell, said without looking at what did. */
function expected({ operation, fault, times }: Cell): string {
  const { method } = operations[operation];
  const read = method === 'GET';
  // A person has to change something before another try helps, and nothing was sent.
  if (fault === 'certificate error') return read ? 'refused, 1 try' : 'failed, 1 try';
  // Never sent twice, whatever the answer; a 408 may come from a gateway that the server behind was too slow for.
  const refused = refusals.includes(fault) && fault !== '408 request timeout';
  // What the server did is read back, where it can be.
  const isReadable = readable.includes(operation) || isBoruta(operation);
  // A key that is the same as before may change a moment later.
  const isOpen = operation === 'rotateKeyPair' && !worked.includes(fault);
  if (method === 'POST' && isReadable && !isOpen)
    return worked.includes(fault) ? 'applied, 1 try' : 'failed, 1 try';
  if (method === 'POST') return refused ? 'failed, 1 try' : 'unknown, 1 try';
  if (confirmed.includes(operation) && worked.includes(fault)) return 'applied, 1 try';
  const repeated = fault !== '500 internal server error';
  if (repeated && times === 'once') return read ? 'planned, 2 tries' : 'applied, 2 tries';
  const tries = repeated ? '4 tries' : '1 try';
  if (read) return `refused, ${tries}`;
  if (refusals.includes(fault)) return `failed, ${tries}`;
  if (!isReadable) return `unknown, ${tries}`;
  // The second DELETE finds nothing, which is what was asked for; a 404 needs no body.
  if (method === 'DELETE' && fault === 'truncated answer') return 'applied, 2 tries';
  return `${worked.includes(fault) ? 'applied' : 'failed'}, ${tries}`;
}

function named({ operation, fault, times }: Cell): string {
  return `${operation}, ${fault}, ${times}`;
}

describe('the fault matrix', () => {
  test('has a cell for each operation, fault and number of times', () => {
    const names = new Set(cells.map(named));
    expect(names.size).toBe(operationNames.length * Object.keys(faults).length * 2);
    expect([...operationNames].sort()).toEqual(Object.keys(operations).sort());
  });

  test('has the expected outcome in each cell', () => {
    const found = cells.map((cell) => `${named(cell)}: ${cellText(cell)}`);
    expect(found).toEqual(cells.map((cell) => `${named(cell)}: ${expected(cell)}`));
  });

  test('reports nothing as applied that was not done, and nothing as failed that was', () => {
    const untrue = cells.filter(
      ({ outcome, done }) => (outcome === 'applied' && !done) || (outcome === 'failed' && done),
    );
    expect(untrue).toEqual([]);
  });

  test('counts the tries that the server saw', () => {
    const miscounted = cells.filter(
      (cell) => cell.fault !== 'certificate error' && !cellText(cell).includes(`, ${cell.arrived} tr`),
    );
    expect(miscounted).toEqual([]);
    expect(cells.filter(({ fault, arrived }) => fault === 'certificate error' && arrived > 0)).toEqual([]);
  });

  test('sends no POST twice', () => {
    const posts = cells.filter(({ operation }) => operations[operation].method === 'POST');
    expect(Math.max(...posts.map(({ writes }) => writes))).toBe(1);
  });

  test('writes nothing if observing failed', () => {
    const reads = cells.filter(({ operation }) => operations[operation].method === 'GET');
    expect(reads.filter(({ outcome, writes }) => outcome === 'refused' && writes > 0)).toEqual([]);
  });

  test('names the request and the response of each failure', () => {
    const failures = cells.filter(({ outcome }) => !['applied', 'planned'].includes(outcome));
    for (const cell of failures) {
      const { title, method } = operations[cell.operation];
      expect(cell.message, named(cell)).toMatch(new RegExp(`^${title}: ${method} /api/`));
      if (cell.outcome === 'unknown') expect(cell.message, named(cell)).toContain('not known');
    }
  });

  test('is repaired by the next run without faults, or left to a person', () => {
    expect(cells.filter(({ recovered }) => !recovered).map(named)).toEqual([]);
  });

  test('is what the documentation shows (npm run reliability writes it)', async () => {
    const page = await readFile('docs/explanation/reliability.md', 'utf8');
    expect(withTables(page, tables(cells))).toBe(page);
  });
});
