import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import pLimit from 'p-limit';
import type { Result } from '../../src/apply/result.js';
import { failuresIn } from '../../src/base/concurrency.js';
import type { Plan } from '../../src/plan/plan.js';
import { loadProject } from '../../src/project/index.js';
import type { SandboxData } from '../../src/sandbox/data.js';
import { type Intercept, type SandboxSeed, startSandbox } from '../../src/sandbox/index.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { ServerFailure } from '../../src/server/failures.js';
import { type OperationName, operations } from '../../src/server/operations.js';
import { openForWriting } from '../../src/session/open.js';
import type { WritingSession } from '../../src/session/session.js';
import { applyAll, within } from '../approving.js';
import { deadlines } from '../deadlines.js';
import { issue } from '../server/certificates.js';

const problem = (status: number, headers: Record<string, string> = {}): Intercept => ({
  kind: 'answer',
  status,
  headers,
  body: { code: 'FAULT', message: 'this is a drill' },
});

/** The faults, by their names in the table. */
export const faults = {
  'connection reset': { kind: 'reset', when: 'before' },
  'no answer': { kind: 'stall' },
  '408 request timeout': problem(408),
  '425 too early': problem(425),
  '429 too many requests': problem(429),
  '429 with `Retry-After`': problem(429, { 'retry-after': '2' }),
  '500 internal server error': problem(500),
  '502 with HTML': {
    kind: 'answer',
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<h1>Bad Gateway</h1>',
  },
  '503 service unavailable': problem(503),
  '504 gateway timeout': problem(504),
  'truncated answer': { kind: 'truncate' },
  'done, answer lost': { kind: 'reset', when: 'after' },
  'certificate error': 'certificate',
} satisfies { [name: string]: Intercept | 'certificate' };

export type FaultName = keyof typeof faults;
export type Times = 'once' | 'always';

interface Case {
  readonly manifest: string;
  /** A manifest that is applied first, without faults. */
  readonly first?: string;
  /** Whether only Boruta has the operation. */
  readonly boruta?: true;
  /** Whether users are in an internal backend instead of LDAP, and pages are customized. */
  readonly internalUsers?: true;
  /** Whether the server has the declared state. */
  readonly done: (data: SandboxData) => boolean;
}

const id = (kind: number, number: number): string =>
  `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const client = id(6, 1);
const acme = 'kind: Organization\nname: acme\nlabel: New\n';
const keyPair = `kind: KeyPair\nid: ${id(5, 2)}\n`;
const template = `kind: EmailTemplate\nbackend_id: ${id(2, 1)}\ntype: tx_code\n`;
const directory = 'kind: Backend\nname: Company directory\n';
const page = 'kind: PageTemplate\nidentity_provider: Company accounts\ntype: new_session\n';
const notFound = 'kind: ErrorTemplate\ntype: 404\n';
const newUser = `kind: User\nusername: new@example.com\nbackend: ${id(2, 1)}\npassword: twelve letters\n`;

const has = (rows: readonly { name: string | null }[], name: string): boolean =>
  rows.some((row) => row.name === name);
const hasId = (rows: readonly { id: string }[], id: string): boolean => rows.some((row) => row.id === id);
const isNew = ({ content }: { content: string }): boolean => content.startsWith('New');

/** A case of an operation that only Boruta has. */
const onBoruta = (manifest: string, done: Case['done'], more: Partial<Case> = {}): Case => ({
  boruta: true,
  manifest,
  done,
  ...more,
});
const internalUsers = { internalUsers: true } as const;

const cases: { readonly [operation in OperationName]: Case } = {
  listOrganizations: { manifest: acme, done: () => false },
  showTemplate: { manifest: `${template}txt_content: "New {{ code }}"\n`, done: () => false },
  updateOrganization: {
    manifest: acme,
    done: ({ organizations }) => organizations.some(({ label }) => label === 'New'),
  },
  updateUser: {
    manifest: `kind: User\nid: ${id(4, 1)}\ngroup: new\n`,
    done: ({ users }) => users[0]?.group === 'new',
  },
  updateKeyPair: {
    manifest: `${keyPair}is_default: true\n`,
    done: ({ keyPairs }) => keyPairs[1]?.is_default === true,
  },
  updateTemplate: {
    manifest: `${template}txt_content: "New {{ code }}"\nhtml_content: "<p>New {{ code }}"\n`,
    done: ({ templates }) => templates.some(({ txt_content }) => txt_content === 'New {{ code }}'),
  },
  deleteTemplate: {
    manifest: `${template}state: absent\n`,
    done: ({ templates }) => !templates.some(({ type }) => type === 'tx_code'),
  },
  regenerateDid: {
    manifest: '',
    done: ({ clients }) => clients.some(({ id, did }) => id === client && did !== firstDid),
  },
  rotateKeyPair: onBoruta(
    `${keyPair}rotation: 2\n`,
    ({ keyPairs }) => keyPairs.some((one) => one.id === id(5, 2) && one.public_key !== firstKey),
    { first: `${keyPair}rotation: 1\n` },
  ),
  createClient: onBoruta(
    `kind: Client\nid: ${id(6, 9)}\nidentity_provider: Company accounts\ncreate: true\n`,
    ({ clients }) => hasId(clients, id(6, 9)),
  ),
  updateClient: onBoruta(`kind: Client\nid: ${client}\nname: New\nauthorized_scopes: []\n`, ({ clients }) =>
    has(clients, 'New'),
  ),
  deleteClient: onBoruta(
    `kind: Client\nid: ${client}\nstate: absent\n`,
    ({ clients }) => !hasId(clients, client),
  ),
  createScope: onBoruta('kind: Scope\nname: new\ncreate: true\n', ({ scopes }) => has(scopes, 'new')),
  updateScope: onBoruta('kind: Scope\nname: billing:read\nlabel: New\n', ({ scopes }) =>
    scopes.some(({ label }) => label === 'New'),
  ),
  deleteScope: onBoruta(
    'kind: Scope\nname: billing:write\nstate: absent\n',
    ({ scopes }) => !has(scopes, 'billing:write'),
  ),
  createRole: onBoruta('kind: Role\nname: new\nscopes: ["billing:read"]\ncreate: true\n', ({ roles }) =>
    has(roles, 'new'),
  ),
  updateRole: onBoruta('kind: Role\nname: member\nscopes: ["billing:read"]\n', ({ roles }) =>
    roles.some(({ name, scopes }) => name === 'member' && scopes[0]?.name === 'billing:read'),
  ),
  deleteRole: onBoruta(
    'kind: Role\nname: accountant\nstate: absent\n',
    ({ roles }) => !has(roles, 'accountant'),
  ),
  createBackend: onBoruta('kind: Backend\nname: new\nroles: [member]\ncreate: true\n', ({ backends }) =>
    backends.some(({ name, roles }) => name === 'new' && roles.length === 1),
  ),
  updateBackend: onBoruta(`${directory}smtp_relay: new\nroles: [member]\n`, ({ backends }) =>
    backends.some(({ smtp_relay, roles }) => smtp_relay === 'new' && roles.length === 1),
  ),
  deleteBackend: onBoruta(
    'kind: Backend\nname: old\nstate: absent\n',
    ({ backends }) => !has(backends, 'old'),
    { first: 'kind: Backend\nname: old\ncreate: true\n' },
  ),
  createIdentityProvider: onBoruta(
    'kind: IdentityProvider\nname: new\nbackend: Company directory\ncreate: true\n',
    ({ identityProviders }) => has(identityProviders, 'new'),
  ),
  updateIdentityProvider: onBoruta(
    'kind: IdentityProvider\nname: Company accounts\nregistrable: true\n',
    ({ identityProviders }) => identityProviders.some(({ registrable }) => registrable),
  ),
  deleteIdentityProvider: onBoruta(
    'kind: IdentityProvider\nname: old\nstate: absent\n',
    ({ identityProviders }) => !has(identityProviders, 'old'),
    { first: 'kind: IdentityProvider\nname: old\nbackend: Company directory\ncreate: true\n' },
  ),
  createOrganization: onBoruta('kind: Organization\nname: new\ncreate: true\n', ({ organizations }) =>
    has(organizations, 'new'),
  ),
  deleteOrganization: onBoruta(
    'kind: Organization\nname: acme\nstate: absent\n',
    ({ organizations }) => !has(organizations, 'acme'),
  ),
  updatePageTemplate: onBoruta(`${page}content: "New {{ boruta_logo_path }}"\n`, ({ pageTemplates }) =>
    pageTemplates.some(isNew),
  ),
  deletePageTemplate: onBoruta(
    `${page}state: absent\n`,
    ({ pageTemplates }) => pageTemplates.length === 0,
    internalUsers,
  ),
  updateErrorTemplate: onBoruta(`${notFound}content: "New {{ reason.message }}"\n`, ({ errorTemplates }) =>
    errorTemplates.some(isNew),
  ),
  deleteErrorTemplate: onBoruta(
    `${notFound}state: absent\n`,
    ({ errorTemplates }) => errorTemplates.length === 0,
    internalUsers,
  ),
  createUser: onBoruta(
    `${newUser}create: true\n`,
    ({ users }) => users.some(({ username }) => username === 'new@example.com'),
    internalUsers,
  ),
  deleteUser: onBoruta(
    `kind: User\nid: ${id(4, 2)}\nstate: absent\n`,
    ({ users }) => !hasId(users, id(4, 2)),
    internalUsers,
  ),
};

let firstDid: string | null | undefined;
let firstKey: string | null | undefined;

/** Whether only Boruta has the operation. */
export const isBoruta = (operation: OperationName): boolean => cases[operation].boruta === true;

/** The operations in the order of the table. */
export const operationNames = Object.keys(cases) as readonly OperationName[];

/** The outcome of one operation under one fault. */
export interface Cell {
  readonly operation: OperationName;
  readonly fault: FaultName;
  readonly times: Times;
  /** `planned` or `refused` for a read, otherwise the status of the result. */
  readonly outcome: string;
  readonly attempts: number;
  /** How many requests of the operation reached the server. */
  readonly arrived: number;
  /** Whether the server has the declared state after the run. */
  readonly done: boolean;
  readonly message: string;
  /** How many writes reached the server in total. */
  readonly writes: number;
  /** Whether the next run, without faults, converges. Always true for operations that must not be repeated. */
  readonly recovered: boolean;
}

/** Runs every operation under every fault, both once and always. */
export async function measure(): Promise<Cell[]> {
  const probe = await startSandbox();
  firstKey = probe.data.keyPairs.find((one) => one.id === id(5, 2))?.public_key;
  firstDid = probe.data.clients.find(({ id }) => id === client)?.did;
  await probe.close();
  const limit = pLimit(16);
  return await Promise.all(
    operationNames.flatMap((operation) =>
      (Object.keys(faults) as FaultName[]).flatMap((fault) =>
        (['once', 'always'] as const).map((times) => limit(() => run(operation, fault, times))),
      ),
    ),
  );
}

function withInternalUsers(): SandboxSeed {
  const demo = loadSeed('demo');
  const type = 'Elixir.BorutaIdentity.Accounts.Internal';
  return {
    ...demo,
    backends: demo.backends.map((backend) => ({ ...backend, type })),
    pageTemplates: [{ id: id(3, 8), identity_provider_id: id(9, 1), type: 'new_session', content: 'Custom' }],
    errorTemplates: [{ id: id(3, 9), type: '404', content: 'Custom' }],
  };
}

async function run(operation: OperationName, fault: FaultName, times: Times): Promise<Cell> {
  const { manifest, first, done, boruta = false, internalUsers } = cases[operation];
  const { method, path } = operations[operation];
  const asked = new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}($|\\?)`);
  const folder = await mkdtemp(join(tmpdir(), 'idops-faults-'));
  const time = deadlines();
  let armed = false;
  let arrived = 0;
  const faulty = faults[fault];
  const sandbox = await startSandbox({
    ...(boruta ? { profile: 'boruta' } : {}),
    ...(internalUsers ? { seed: withInternalUsers() } : {}),
    intercept: (request) => {
      if (request.method !== method || !asked.test(request.path) || !armed) return undefined;
      arrived += 1;
      if (fault === 'no answer' && (times === 'always' || arrived === 1)) setImmediate(time.pass);
      return faulty === 'certificate' || (times === 'once' && arrived > 1) ? undefined : faulty;
    },
  });
  const front = faulty === 'certificate' ? await certificateFront(sandbox.url, times) : undefined;
  try {
    await mkdir(join(folder, 'manifests'));
    await writeFile(join(folder, 'manifests/all.yaml'), first ?? manifest);
    await writeFile(join(folder, 'ca.pem'), front?.ca ?? '');
    const tls = front === undefined ? '' : '  tls: {ca_file: ca.pem}\n';
    const config = `version: 1\nserver:\n  base_url: ${front?.url ?? sandbox.url}\n  auth: {token: ${sandbox.token}}\n${boruta ? '  profile: boruta\n' : ''}${tls}`;
    await writeFile(join(folder, 'idops.yaml'), config);
    const options = { timeout: time.seconds, network: { delay: async () => {}, random: () => 0.5 } };
    const session = async <T>(work: (session: WritingSession) => Promise<T>): Promise<T> =>
      await within(
        await openForWriting(await loadProject({ cwd: folder, variables: {} }), 'apply', options),
        work,
      );
    const plan = async (opened: WritingSession): Promise<Plan> =>
      operation === 'regenerateDid' ? opened.planRegeneration(client) : await opened.plan();
    if (first !== undefined) {
      await session(async (opened) => await applyAll(opened, await opened.plan()));
      await writeFile(join(folder, 'manifests/all.yaml'), manifest);
    }
    const arm = async (): Promise<void> => {
      armed = true;
      await front?.arm();
    };
    const measured = await (method === 'GET'
      ? observing(async () => {
          await arm();
          await session(plan);
        })
      : applying(async () => {
          const { result } = await session(async (opened) => {
            const made = await plan(opened);
            await arm();
            return await applyAll(opened, made);
          });
          return result;
        }));
    armed = false;
    front?.disarm();
    const held = done(sandbox.data);
    const reached = arrived;
    const writes = sandbox.requests.filter((request) => request.method !== 'GET').length;
    const onlyOnce = operation === 'regenerateDid' || operation === 'rotateKeyPair';
    const recovered = onlyOnce ? true : await recovers(session, method, () => done(sandbox.data));
    return { operation, fault, times, ...measured, arrived: reached, done: held, writes, recovered };
  } finally {
    await front?.close();
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}

type Measured = Pick<Cell, 'outcome' | 'attempts' | 'message'>;

async function observing(plan: () => Promise<void>): Promise<Measured> {
  try {
    await plan();
    return { outcome: 'planned', attempts: 0, message: '' };
  } catch (failure) {
    const [first] = failuresIn(failure);
    if (!(first instanceof ServerFailure)) throw failure;
    return { outcome: 'refused', attempts: first.attempts, message: first.message };
  }
}

async function applying(apply: () => Promise<Result>): Promise<Measured> {
  const { results } = await apply();
  const [result] = results;
  if (result === undefined || results.length !== 1) throw new Error('expected one result');
  return { outcome: result.status, attempts: result.attempts, message: result.error ?? '' };
}

/** Whether a run without faults applies everything, and the next plan is empty. */
async function recovers(
  session: <T>(work: (session: WritingSession) => Promise<T>) => Promise<T>,
  method: string,
  done: () => boolean,
): Promise<boolean> {
  await session(async (opened) => await applyAll(opened, await opened.plan()));
  const left = await session(async (opened) => await opened.plan());
  const settled = left.changes.every(({ action }) => action === 'unchanged');
  return settled && (method === 'GET' || done());
}

/** A TLS proxy of the sandbox. Once armed, it presents a wrong certificate on the next connection, or on all. */
async function certificateFront(target: string, times: Times) {
  const good = issue('good');
  const bad = issue('bad');
  const open = new Set<TLSSocket>();
  const server = createTlsServer({ cert: good.cert, key: good.key }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    const there = connect(Number(new URL(target).port), '127.0.0.1');
    for (const end of [there, socket]) end.on('error', () => {});
    there.pipe(socket).pipe(there);
    socket.on('close', () => there.destroy());
  });
  server.on('tlsClientError', () => {});
  // The connection already has its certificate, so this affects only later ones.
  server.on('connection', () => {
    if (times === 'once') server.setSecureContext({ cert: good.cert, key: good.key });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `https://127.0.0.1:${port}`,
    ca: good.cert,
    async arm() {
      server.setSecureContext({ cert: bad.cert, key: bad.key });
      // Open connections already accepted the good certificate, so they are closed.
      for (const socket of open) socket.end();
      while (open.size > 0) await turn();
    },
    disarm: () => server.setSecureContext({ cert: good.cert, key: good.key }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The text of a cell in the table. */
export function cellText({ operation, outcome, attempts, arrived }: Cell): string {
  const tries = operations[operation].method === 'GET' && outcome === 'planned' ? arrived : attempts;
  return `${outcome.replace('_', ' ')}, ${tries} ${tries === 1 ? 'try' : 'tries'}`;
}

/** Groups names whose texts are equal. */
function grouped<Name extends string>(names: readonly Name[], text: (name: Name) => string): Name[][] {
  const groups = new Map<string, Name[]>();
  for (const name of names) groups.set(text(name), [...(groups.get(text(name)) ?? []), name]);
  return [...groups.values()];
}

/** The heading of a column: its operations, in which four or more with the same verb are abbreviated. */
function heading(names: readonly OperationName[]): string {
  const parts = names.map((name) => {
    const [verb = ''] = /^[a-z]+/.exec(name) ?? [];
    const inColumn = names.filter((other) => other.startsWith(verb)).length;
    const inAll = operationNames.filter((other) => other.startsWith(verb)).length;
    if (inColumn <= 3) return `\`${name}\``;
    return inColumn === inAll ? `each \`${verb}…\`` : `other \`${verb}…\``;
  });
  return [...new Set(parts)].join(', ');
}

/** The two tables: outcomes if a fault happens once, and if it continues. Equal rows and equal columns are merged. */
export function tables(cells: readonly Cell[]): string {
  const titles = { once: 'If it happens once', always: 'If it continues' };
  return (['once', 'always'] as const)
    .map((times) => {
      const texts = new Map(
        cells
          .filter((cell) => cell.times === times)
          .map((cell) => [`${cell.operation} ${cell.fault}`, cellText(cell)] as const),
      );
      const text = (operation: OperationName, fault: FaultName): string =>
        texts.get(`${operation} ${fault}`) ?? '';
      const faultNames = Object.keys(faults) as FaultName[];
      const columns = grouped(operationNames, (operation) =>
        faultNames.map((fault) => text(operation, fault)).join(),
      );
      const rows = grouped(faultNames, (fault) =>
        operationNames.map((operation) => text(operation, fault)).join(),
      );
      const line = (row: readonly string[]): string => `|${row.join('|')}|`;
      return [
        `### ${titles[times]}`,
        '',
        line(['', ...columns.map(heading)]),
        `|${'---|'.repeat(columns.length + 1)}`,
        ...rows.map((names) => {
          const [fault] = names as [FaultName];
          return line([
            names.join('; '),
            ...columns.map(([operation]) => text(operation as OperationName, fault)),
          ]);
        }),
      ].join('\n');
    })
    .join('\n\n');
}

const begin = '<!-- generated by npm run reliability -->';
const end = '<!-- end of generated -->';

/** The page with its tables replaced. */
export function withTables(page: string, generated: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error('docs/explanation/reliability.md has lost its markers');
  return `${page.slice(0, from + begin.length)}\n\n${generated}\n\n${page.slice(to)}`;
}
