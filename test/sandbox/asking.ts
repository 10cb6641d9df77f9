import { expect } from 'vitest';
import {
  type Sandbox,
  type SandboxOptions,
  type SandboxUser,
  startSandbox,
} from '../../src/sandbox/index.js';
import { afterwards } from '../cleanups.js';

/** The demo data's ids. */
export const ids = {
  acme: '10000000-0000-4000-8000-000000000001',
  globex: '10000000-0000-4000-8000-000000000002',
  initech: '10000000-0000-4000-8000-000000000003',
  umbrella: '10000000-0000-4000-8000-000000000004',
  backend: '20000000-0000-4000-8000-000000000001',
  resetPassword: '30000000-0000-4000-8000-000000000001',
  txCode: '30000000-0000-4000-8000-000000000002',
  ada: '40000000-0000-4000-8000-000000000001',
  grace: '40000000-0000-4000-8000-000000000002',
  firstKey: '50000000-0000-4000-8000-000000000001',
  secondKey: '50000000-0000-4000-8000-000000000002',
  thirdKey: '50000000-0000-4000-8000-000000000003',
  portal: '60000000-0000-4000-8000-000000000001',
  wallet: '60000000-0000-4000-8000-000000000002',
  billingRead: '70000000-0000-4000-8000-000000000001',
  billingWrite: '70000000-0000-4000-8000-000000000002',
  reportsRead: '70000000-0000-4000-8000-000000000003',
  member: '80000000-0000-4000-8000-000000000001',
  accountant: '80000000-0000-4000-8000-000000000002',
  nobody: 'f0000000-0000-4000-8000-00000000000f',
} as const;

/** An object as tests look into it. */
export interface Loose {
  [member: string]: Loose;
}

/** An answer, its body read. */
export interface Told {
  status: number;
  text: string;
  headers: Headers;
  /** The parsed body, or an empty object if it isn't JSON. */
  body: Loose;
}

/** How a request differs from a well-behaved one. */
export interface Manner {
  token?: string | null;
  headers?: Record<string, string>;
  /** Sent as it is. */
  raw?: string;
}

/** A sandbox and a way to ask it. */
export interface Asking {
  sandbox: Sandbox;
  ask(method: string, path: string, body?: unknown, manner?: Manner): Promise<Told>;
  /** Asks for something that is answered with that status and changes nothing. */
  withoutEffect(status: number, method: string, path: string, body?: unknown, manner?: Manner): Promise<Told>;
  user(id: string): SandboxUser;
}

/** Starts a sandbox that ends with the test. */
export async function start(options: SandboxOptions = {}): Promise<Asking> {
  const sandbox = await startSandbox(options);
  afterwards(() => sandbox.close());
  return {
    sandbox,
    ask: (method, path, body, manner = {}) => ask(sandbox, method, path, body, manner),
    withoutEffect: async (status, method, path, body, manner = {}) => {
      const before = sandbox.snapshot();
      const told = await ask(sandbox, method, path, body, manner);
      expect(told.status).toBe(status);
      expect(sandbox.snapshot()).toEqual(before);
      return told;
    },
    user: (id) => {
      const user = sandbox.data.users.find((candidate) => candidate.id === id);
      if (user === undefined) throw new Error(`no user ${id}`);
      return user;
    },
  };
}

/** Starts a sandbox that behaves like Boruta. */
export async function boruta(options: SandboxOptions = {}): Promise<Asking> {
  return await start({ ...options, profile: 'boruta' });
}

async function ask(
  sandbox: Sandbox,
  method: string,
  path: string,
  body: unknown,
  manner: Manner,
): Promise<Told> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (manner.token !== null) headers.authorization = `Bearer ${manner.token ?? sandbox.token}`;
  const text = manner.raw ?? (body === undefined ? null : JSON.stringify(body));
  if (text !== null) headers['content-type'] = 'application/json';
  const response = await fetch(sandbox.url + path, {
    method,
    headers: { ...headers, ...manner.headers },
    body: text,
  });
  const answer = await response.text();
  return { status: response.status, text: answer, headers: response.headers, body: parse(answer) };
}

function parse(text: string): Loose {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The path of one of the demo backend's templates. */
export function templatePath(type: string, backend: string = ids.backend): string {
  return `/api/backends/${backend}/email-templates/${type}`;
}
