import type { SandboxClient, SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import { noRow, notFound, ok } from './answers.js';
import type { Operation } from './operation.js';
import type { Shown } from './resource.js';
import { presentUser } from './users.js';

function plain<Row extends { id: string }>(
  rows: (data: SandboxData) => Row[],
  table: string,
  show: (row: Row) => unknown = (row) => row,
): Shown<Row> {
  return { rows, show: (_operation, row) => show(row), missing: () => noRow(table) };
}

/** What the server lists, and shows one by one, with secrets. */
export const catalogue = {
  clients: plain((data) => data.clients, 'Client', presentClient),
  keyPairs: plain((data) => data.keyPairs, 'KeyPair'),
  users: { rows: (data: SandboxData) => data.users, show: presentUser, missing: notFound },
} as const;

/** A client with undocumented members, such as its secret. */
export function presentClient(client: SandboxClient): object {
  return { trusted_authorities: '', trusted_hosts: [], ...client };
}

/** GET of the uploaded configuration files, of which there are none. */
export function showConfiguration({ work }: Operation): Promise<Answer> {
  return work.read(() => ok([]));
}
