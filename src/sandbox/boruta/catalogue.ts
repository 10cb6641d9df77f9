import type { SandboxClient, SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import { noRow, notFound, ok } from './answers.js';
import type { Operation, Run } from './operation.js';
import { presentBackend, presentUser } from './users.js';

/** The rows of a resource, and how answers show them. */
interface Resource<Row extends { id: string }> {
  rows(data: SandboxData): readonly Row[];
  show(operation: Operation, row: Row): unknown;
  /** The answer to an unknown id. */
  missing(): Answer;
}

function plain<Row extends { id: string }>(
  rows: (data: SandboxData) => readonly Row[],
  table: string,
  show: (row: Row) => unknown = (row) => row,
): Resource<Row> {
  return { rows, show: (_operation, row) => show(row), missing: () => noRow(table) };
}

/** What the server lists, and shows one by one, with secrets. */
export const catalogue = {
  clients: plain((data) => data.clients, 'Client', presentClient),
  keyPairs: plain((data) => data.keyPairs, 'KeyPair'),
  roles: plain((data) => data.roles, 'Role'),
  scopes: plain((data) => data.scopes, 'Scope'),
  backends: plain((data) => data.backends, 'Backend', presentBackend),
  identityProviders: plain(identityProviders, 'IdentityProvider'),
  organizations: { ...plain((data) => data.organizations, 'Organization'), missing: notFound },
  users: { rows: (data: SandboxData) => data.users, show: presentUser, missing: notFound },
} as const;

/** A client with undocumented members, such as its secret. */
export function presentClient(client: SandboxClient): object {
  return { trusted_authorities: '', trusted_hosts: [], ...client };
}

/** GET of all rows. */
export function listAll<Row extends { id: string }>({ rows, show }: Resource<Row>): Run {
  return async (operation) =>
    ok(await operation.work.read(() => rows(operation.data).map((row) => show(operation, row))));
}

/** GET of one row. */
export function showOne<Row extends { id: string }>({ rows, show, missing }: Resource<Row>): Run {
  return async (operation) => {
    const { data, work, params } = operation;
    return await work.read(() => {
      const row = rows(data).find(({ id }) => id === params[0]);
      return row === undefined ? missing() : ok(show(operation, row));
    });
  };
}

/** GET of the uploaded configuration files, of which there are none. */
export function showConfiguration({ work }: Operation): Promise<Answer> {
  return work.read(() => ok([]));
}

/** The identity providers of the clients, each with the default backend. */
function identityProviders({ backends, clients }: SandboxData): (JsonObject & { id: string })[] {
  const backend = backends.find(({ is_default }) => is_default === true) ?? backends[0];
  const named = clients.map(({ identity_provider }) => identity_provider);
  const unique = new Map(named.flatMap((one) => (one?.id == null ? [] : [[one.id, one.name] as const])));
  return [...unique].map(([id, name]) => ({
    id,
    name,
    backend: backend === undefined ? null : presentBackend(backend),
    backend_id: backend?.id ?? null,
    check_password: true,
    choose_session: true,
    totpable: false,
    enforce_totp: false,
    webauthnable: false,
    enforce_webauthn: false,
    registrable: false,
    user_editable: false,
    consentable: false,
    confirmable: false,
  }));
}
