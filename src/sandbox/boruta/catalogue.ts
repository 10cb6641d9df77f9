import type { SandboxClient, SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import { noRow, notFound, ok } from './answers.js';
import { presentBackend } from './backends.js';
import type { Operation } from './operation.js';
import type { Shown } from './resource.js';
import { presentUser } from './users.js';

function plain<Row extends { id: string }>(
  rows: (data: SandboxData) => Row[],
  table: string,
  show: (row: Row, data: SandboxData) => unknown = (row) => row,
): Shown<Row> {
  return { rows, show: ({ data }, row) => show(row, data), missing: () => noRow(table) };
}

/** What the server lists, and shows one by one, with secrets. */
export const catalogue = {
  clients: plain((data) => data.clients, 'Client', presentClient),
  keyPairs: plain((data) => data.keyPairs, 'KeyPair'),
  backends: plain(
    (data) => data.backends,
    'Backend',
    (backend, data) => presentBackend(data, backend),
  ),
  identityProviders: plain(identityProviders, 'IdentityProvider'),
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

/** The identity providers of the clients, each with the default backend. */
function identityProviders(data: SandboxData): (JsonObject & { id: string })[] {
  const { backends, clients } = data;
  const backend = backends.find(({ is_default }) => is_default === true) ?? backends[0];
  const named = clients.map(({ identity_provider }) => identity_provider);
  const unique = new Map(named.flatMap((one) => (one?.id == null ? [] : [[one.id, one.name] as const])));
  return [...unique].map(([id, name]) => ({
    id,
    name,
    backend: backend === undefined ? null : presentBackend(data, backend),
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
