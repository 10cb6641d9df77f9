import { expect } from 'vitest';
import {
  type Sandbox,
  type SandboxOptions,
  type SandboxUser,
  startSandbox,
} from '../../src/sandbox/index.js';
import { afterwards } from '../cleanups.js';
import { ids } from '../demo-ids.js';

/** Parsed JSON, in which tests may access any member. */
export interface AnyJson {
  [member: string]: AnyJson;
}

/** A response with its body. */
export interface Answer {
  status: number;
  text: string;
  headers: Headers;
  /** The parsed body, or an empty object if it isn't JSON. */
  body: AnyJson;
}

/** What differs from a correct request. */
export interface RequestOptions {
  token?: string | null;
  headers?: Record<string, string>;
  /** The body, sent unchanged. */
  raw?: string;
}

/** A sandbox, and functions that send requests to it. */
export interface SandboxApi {
  sandbox: Sandbox;
  ask(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  /** Sends a request, and expects the status and that it changes nothing. */
  withoutEffect(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<Answer>;
  user(id: string): SandboxUser;
}

/** Starts a sandbox that stops after the test. */
export async function start(sandboxOptions: SandboxOptions = {}): Promise<SandboxApi> {
  const sandbox = await startSandbox(sandboxOptions);
  afterwards(() => sandbox.close());
  return {
    sandbox,
    ask: (method, path, body, options = {}) => ask(sandbox, method, path, body, options),
    withoutEffect: async (status, method, path, body, options = {}) => {
      const before = sandbox.snapshot();
      const answer = await ask(sandbox, method, path, body, options);
      expect(answer.status).toBe(status);
      expect(sandbox.snapshot()).toEqual(before);
      return answer;
    },
    user: (id) => {
      const user = sandbox.data.users.find((candidate) => candidate.id === id);
      if (user === undefined) throw new Error(`no user ${id}`);
      return user;
    },
  };
}

/** Starts a sandbox that behaves like Boruta. */
export async function boruta(options: SandboxOptions = {}): Promise<SandboxApi> {
  return await start({ ...options, profile: 'boruta' });
}

async function ask(
  sandbox: Sandbox,
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions,
): Promise<Answer> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (options.token !== null) headers.authorization = `Bearer ${options.token ?? sandbox.token}`;
  const text = options.raw ?? (body === undefined ? null : JSON.stringify(body));
  if (text !== null) headers['content-type'] = 'application/json';
  const response = await fetch(sandbox.url + path, {
    method,
    headers: { ...headers, ...options.headers },
    body: text,
  });
  const responseText = await response.text();
  return {
    status: response.status,
    text: responseText,
    headers: response.headers,
    body: parse(responseText),
  };
}

function parse(text: string): AnyJson {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The path of a template, by default of the demo backend. */
export function templatePath(type: string, backend: string = ids.backend): string {
  return `/api/backends/${backend}/email-templates/${type}`;
}
