import type { getOctokit } from '@actions/github';
import * as z from 'zod';

type Octokit = ReturnType<typeof getOctokit>;

/** An answer that tells nothing; the message says why, as what follows "GitHub's answer". */
export class UnreadableAnswer extends Error {}

/** Whether an answer has the shape that was asked for. */
type Expects = (data: unknown) => boolean;

/** Says of a request what its answer has to be, for the fetch that reads it whole. */
export function expecting(schema: z.ZodType): { readonly request: { readonly expects: Expects } } {
  return { request: { expects: (data) => schema.safeParse(data).success } };
}

/**
 * A fetch that fails where an answer breaks off, isn't JSON or isn't what was asked for: octokit takes each of them for an empty
 * answer, or for a text. What fails here is repeated as a lost connection is.
 */
export function wholeFetch(fetching: typeof fetch, expects: Expects | undefined): typeof fetch {
  return async (address, init) => {
    const response = await fetching(address, init);
    const headers = new Headers([...response.headers]);
    const { ok, status, statusText } = response;
    const text = await response.text().catch((failure: unknown) => {
      if (init?.signal?.aborted === true) throw failure;
      // It was done, whatever the answer would tell of it.
      if (ok && expects === undefined) return '';
      throw new UnreadableAnswer('broke off');
    });
    if (ok && expects !== undefined) {
      if (!expects(parsed(text))) throw new UnreadableAnswer("isn't what was asked for");
      headers.set('content-type', 'application/json');
    }
    return new Response(text === '' ? null : text, { status, statusText, headers });
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableAnswer("isn't JSON");
  }
}

/** Asks for one thing. */
export async function read<T>(
  octokit: Octokit,
  path: string,
  parameters: { readonly [name: string]: string | number },
  schema: z.ZodType<T>,
): Promise<T> {
  const { data } = await octokit.request(`GET ${path}`, { ...parameters, ...expecting(schema) });
  return schema.parse(data);
}

/** Asks for a list, page by page. */
export async function readAll<T>(
  octokit: Octokit,
  path: string,
  parameters: { readonly [name: string]: string | number },
  item: z.ZodType<T>,
): Promise<T[]> {
  const schema = z.array(item);
  const all: T[] = [];
  let { url } = octokit.request.endpoint(`GET ${path}`, { ...parameters, per_page: 100 });
  const { origin } = new URL(url);
  for (;;) {
    const { data, headers } = await octokit.request({ method: 'GET', url, ...expecting(schema) });
    all.push(...schema.parse(data));
    const [, next] = /<([^<>]+)>;\s*rel="next"/.exec(headers.link ?? '') ?? [];
    if (next === undefined) return all;
    url = new URL(next, url).href;
    // Every request has the token.
    if (new URL(url).origin !== origin) {
      throw new UnreadableAnswer('leads to another server for the rest of a list, and that is not asked');
    }
  }
}

const refused = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

/** Asks by GraphQL. */
export async function query<T>(
  octokit: Octokit,
  text: string,
  variables: { readonly [name: string]: unknown },
  schema: z.ZodType<T>,
): Promise<T> {
  // What has errors is octokit's to tell.
  const either = z.union([refused, z.object({ data: schema })]);
  return schema.parse(await octokit.graphql(text, { ...variables, ...expecting(either) }));
}
