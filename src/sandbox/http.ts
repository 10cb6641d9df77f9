import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson, writeJson } from './json.js';
import type { Work } from './work.js';

/** The body of a request. */
export type Body =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'malformed'; text: string }
  | { kind: 'not json'; text: string }
  | { kind: 'too large' };

/** A request with its body. */
export interface ReceivedRequest {
  method: string;
  /** The raw request target, query included. */
  target: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Body;
}

/** An answer. A string body is sent as it is, undefined as an empty one, anything else as JSON. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Thrown to end a request with an answer. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`);
    this.answer = answer;
  }
}

/** A server without sockets. */
export interface Service {
  /** Bytes. */
  bodyLimit: number;
  /** Answers a request; throws `Refused` if it refuses it. */
  handle(call: ReceivedRequest, work: Work): Promise<Answer>;
}

/** Reads a whole request; discards a body over the limit. */
export async function readRequest(request: IncomingMessage, bodyLimit: number): Promise<ReceivedRequest> {
  const headers = headersOf(request);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > bodyLimit) chunks.length = 0;
    else chunks.push(bytes);
  }
  const body =
    size > bodyLimit ? ({ kind: 'too large' } as const) : parseBody(chunks, headers['content-type']);
  return { method: request.method ?? '', target: request.url ?? '/', headers, body };
}

/** The headers of a request, by lower-case names. */
export function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, String(value)]));
}

function parseBody(chunks: Buffer[], contentType: string | undefined): Body {
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return { kind: 'none' };
  if (!/^application\/([^;]+\+)?json\s*(;|$)/i.test(contentType ?? ''))
    return { kind: 'not json', text: bytes.toString('utf8') };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'json', value: parseJson(text) };
  } catch {
    return { kind: 'malformed', text: bytes.toString('utf8') };
  }
}

/** The body for the request log: parsed if possible, otherwise its text. */
export function bodyValue(body: Body): unknown {
  if (body.kind === 'json') return body.value;
  return body.kind === 'malformed' || body.kind === 'not json' ? body.text : undefined;
}

/** Sends an answer, and returns its status; with `half`, closes the connection after half of the body. */
export function send(response: ServerResponse, answer: Answer, part: 'whole' | 'half' = 'whole'): number {
  const { body = '' } = answer;
  const bytes = Buffer.from(typeof body === 'string' ? body : writeJson(body), 'utf8');
  if (answer.body !== undefined) response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  // Set one by one, so that a header in another letter case replaces these.
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  response.writeHead(answer.status);
  const { socket } = response;
  if (part === 'whole') response.end(bytes);
  else response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => socket?.destroy());
  return answer.status;
}

/** The decoded path segments and the query of a request target; null if its percent-encoding is invalid. */
export function parseTarget(target: string): { segments: string[]; query: URLSearchParams } | null {
  const [path = '', query] = target.split(/\?(.*)/s);
  try {
    return {
      segments: path.split('/').slice(1).map(decodeURIComponent),
      query: new URLSearchParams(query ?? ''),
    };
  } catch {
    return null;
  }
}
