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

/** Statuses that mean that nothing was done. */
const notDone: readonly string[] = [
  '408 request timeout',
  '425 too early',
  '429 too many requests',
  '429 with `Retry-After`',
];
/** Faults in which the server executes the request. */
const doneAnyway: readonly string[] = ['truncated answer', 'done, answer lost'];
/** Writes whose result the eight operations of the API document can read. */
const readableEverywhere: readonly string[] = ['updateOrganization', 'updateTemplate', 'deleteTemplate'];
/** Updates that idops reads back before it sends them again. */
const readBack: readonly string[] = ['updatePageTemplate', 'updateErrorTemplate'];

/** The expected text of a cell, independent of the measured outcome. */
function expected({ operation, fault, times }: Cell): string {
  const { method } = operations[operation];
  const read = method === 'GET';
  // Nothing is sent, and a retry can't help until a person changes something.
  if (fault === 'certificate error') return read ? 'refused, 1 try' : 'failed, 1 try';
  // A POST is never sent twice. A 408 may come from a gateway that timed out on a server that did the work.
  const refused = notDone.includes(fault) && fault !== '408 request timeout';
  // idops reads back what the server did, if it can.
  const isReadable = readableEverywhere.includes(operation) || isBoruta(operation);
  // An unchanged key may still change a moment later.
  const isOpen = operation === 'rotateKeyPair' && !doneAnyway.includes(fault);
  if (method === 'POST' && isReadable && !isOpen)
    return doneAnyway.includes(fault) ? 'applied, 1 try' : 'failed, 1 try';
  if (method === 'POST') return refused ? 'failed, 1 try' : 'unknown, 1 try';
  if (readBack.includes(operation) && doneAnyway.includes(fault)) return 'applied, 1 try';
  const repeated = fault !== '500 internal server error';
  if (repeated && times === 'once') return read ? 'planned, 2 tries' : 'applied, 2 tries';
  const tries = repeated ? '4 tries' : '1 try';
  if (read) return `refused, ${tries}`;
  if (notDone.includes(fault)) return `failed, ${tries}`;
  if (!isReadable) return `unknown, ${tries}`;
  // The second DELETE returns 404, which is the desired state; its body doesn't matter.
  if (method === 'DELETE' && fault === 'truncated answer') return 'applied, 2 tries';
  return `${doneAnyway.includes(fault) ? 'applied' : 'failed'}, ${tries}`;
}

function cellName({ operation, fault, times }: Cell): string {
  return `${operation}, ${fault}, ${times}`;
}

describe('the fault matrix', () => {
  test('has a cell for each operation, fault and number of times', () => {
    const names = new Set(cells.map(cellName));
    expect(names.size).toBe(operationNames.length * Object.keys(faults).length * 2);
    expect([...operationNames].sort()).toEqual(Object.keys(operations).sort());
  });

  test('has the expected outcome in each cell', () => {
    const found = cells.map((cell) => `${cellName(cell)}: ${cellText(cell)}`);
    expect(found).toEqual(cells.map((cell) => `${cellName(cell)}: ${expected(cell)}`));
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
      expect(cell.message, cellName(cell)).toMatch(new RegExp(`^${title}: ${method} /api/`));
      if (cell.outcome === 'unknown') expect(cell.message, cellName(cell)).toContain('not known');
    }
  });

  test('is repaired by the next run without faults, or left to a person', () => {
    expect(cells.filter(({ recovered }) => !recovered).map(cellName)).toEqual([]);
  });

  test('is what the documentation shows (npm run reliability writes it)', async () => {
    const page = await readFile('docs/explanation/reliability.md', 'utf8');
    expect(withTables(page, tables(cells))).toBe(page);
  });
});
