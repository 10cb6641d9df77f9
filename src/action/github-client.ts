import type { getOctokit } from '@actions/github';
import { escapeText } from '../base/escape.js';
import { unconnected } from '../base/unconnected.js';
import { UnreadableAnswer, wholeFetch } from './github-answers.js';

/** What GitHub refused, in words for a person. */
export class GithubFailure extends Error {
  /** The status of the answer; null where there was none. */
  readonly status: number | null;
  /** Whether GitHub says that it is a permission that the token lacks. */
  readonly lacksPermission: boolean;
  /** Whether GitHub said so itself: asking again changes nothing by itself then. */
  readonly answered: boolean;
  /** Whether something may have been written all the same. */
  readonly mayBeDone: boolean;

  constructor(
    message: string,
    {
      status = null,
      lacksPermission = false,
      answered = false,
      mayBeDone = false,
      cause,
    }: Partial<Pick<GithubFailure, 'status' | 'lacksPermission' | 'answered' | 'mayBeDone' | 'cause'>> = {},
  ) {
    super(message, { cause });
    this.name = 'GithubFailure';
    this.status = status;
    this.lacksPermission = lacksPermission;
    this.answered = answered;
    this.mayBeDone = mayBeDone;
  }
}

/** How GitHub is asked. */
export interface Manner {
  /** Where its API is; as the runner says where it isn't given. */
  readonly baseUrl?: string;
  /** Ends what is under way, and what waits. */
  readonly signal: AbortSignal;
  /** How long one request may take, in seconds; 30 where it isn't given. */
  readonly timeout?: number;
  /** How long a second of waiting takes, in milliseconds; 1,000 where it isn't given. */
  readonly second?: number;
}

type Octokit = ReturnType<typeof getOctokit>;

/** What asks GitHub. */
export interface GithubClient {
  readonly octokit: Octokit;
  /** Does what asks octokit, and throws a GithubFailure where that fails or ends early. */
  ask<T>(work: () => Promise<T>): Promise<T>;
}

/** How often a request is sent again. */
const retries = 3;
/** A job that waits longer than this for limits to pass costs more than a comment is worth, in seconds for one request. */
const longestWait = 180;
/** The wait for a secondary limit where GitHub doesn't say how long it lasts, in seconds: doubled each time. */
const secondaryPause = 60;

/** For requests of which nobody knows, after an answer that is lost, whether they did something: they are sent once. */
export const once = { request: { retries: 0 } } as const;

/**
 * Opens a client that repeats what may be repeated, waits as GitHub's documentation of its limits says, and gives each
 * request a time.
 */
export async function openClient(token: string, manner: Manner): Promise<GithubClient> {
  // The toolkit looks for it once, when it is loaded.
  const { baseUrl = process.env.GITHUB_API_URL || undefined, signal, timeout = 30, second = 1000 } = manner;
  // Validating, and planning without a pull request, need none of it.
  const [{ getOctokit }, { retry }, { throttling }, { default: Bottleneck }] = await Promise.all([
    import('@actions/github'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
    import('bottleneck/light.js'),
  ]).catch((failure: unknown) => {
    // The first one reads the event as it is loaded.
    throw new GithubFailure("GitHub can't be asked: the file with the event can't be read", {
      cause: failure,
    });
  });
  const waited = new WeakMap<object, number>();
  const waits = (pause: number, options: object, _octokit: object, repeated: number): boolean => {
    const whole = (waited.get(options) ?? 0) + pause;
    waited.set(options, whole);
    return whole <= longestWait && repeated < retries;
  };
  // How many requests that write something are under way.
  let writing = 0;
  const octokit = getOctokit(
    token,
    {
      log: silent,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      retry: { retries, retryAfterBaseValue: second, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
      throttle: {
        // A run writes a few times: pauses between them would only make it longer.
        write: new Bottleneck.Group(),
        notifications: new Bottleneck.Group(),
        retryAfterBaseValue: second,
        onRateLimit: waits,
        onSecondaryRateLimit: waits,
      },
    },
    // The first is closest to the request.
    ({ hook }) => {
      const limited = new WeakMap<object, number>();
      hook.wrap('request', async (request, options) => {
        const ending = new AbortController();
        const end = () => ending.abort();
        signal.addEventListener('abort', end);
        const timer = setTimeout(() => ending.abort(late(timeout)), timeout * 1000);
        const given = { ...options.request };
        const written = writes(options) ? 1 : 0;
        writing += written;
        try {
          // What is given on is not what reaches the request.
          options.request = {
            ...given,
            signal: ending.signal,
            fetch: wholeFetch(given.fetch ?? fetch, given.expects),
          };
          return await request(options);
        } catch (failure) {
          const times = limited.get(options) ?? 0;
          if (sayPause(failure as RawFailure, secondaryPause * 2 ** times)) limited.set(options, times + 1);
          throw failure;
        } finally {
          writing -= written;
          options.request = given;
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
        }
      });
      return {};
    },
    retry,
    throttling,
  );
  return {
    octokit,
    ask: async (work) => {
      if (signal.aborted) throw interrupted(false);
      let stop: (() => void) | undefined;
      const stopped = new Promise<never>((_, reject) => {
        stop = () => reject(interrupted(writing > 0));
        signal.addEventListener('abort', stop, { once: true });
      });
      try {
        return await Promise.race([work(), stopped]);
      } catch (failure) {
        throw failure instanceof GithubFailure ? failure : inWords(failure as RawFailure);
      } finally {
        if (stop !== undefined) signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** What octokit would log by itself could hold anything that a server answers. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A failed request, as far as its kind is known. */
interface RawFailure {
  readonly status?: unknown;
  message?: unknown;
  readonly cause?: unknown;
  readonly request?: { readonly method?: string; readonly url?: string };
  /** What GraphQL refuses. */
  readonly errors?: readonly { readonly message: string }[];
  readonly response?: { readonly headers?: { [name: string]: unknown }; readonly data?: unknown };
}

/**
 * Says in the answer of a secondary limit how long it lasts, as the plugin that waits for it reads it: servers of before
 * call it otherwise, and not all of them say it. Whether it is one.
 */
function sayPause(failure: RawFailure, otherwise: number): boolean {
  const { status, response } = failure;
  const headers = response?.headers;
  if ((status !== 403 && status !== 429) || headers === undefined) return false;
  const after = Number(headers['retry-after'] ?? Number.NaN);
  const known = Number.isFinite(after);
  if (!known && String(headers['x-ratelimit-remaining']) === '0') return false;
  if (!known && !/secondary rate|abuse detection/i.test(String(failure.message))) return false;
  headers['retry-after'] = String(known ? Math.max(1, after) : otherwise);
  if (!/\bsecondary rate\b/i.test(String(failure.message)))
    failure.message = `secondary rate: ${failure.message}`;
  return true;
}

function interrupted(mayBeDone: boolean): GithubFailure {
  return new GithubFailure('interrupted', { mayBeDone });
}

function late(timeout: number): Error {
  return new Error(`no answer within ${timeout} seconds`);
}

/** Whether a request changes something. */
function writes({ method = 'GET', url = '' }: NonNullable<RawFailure['request']>): boolean {
  return method !== 'GET' && !url.endsWith('/graphql');
}

function wasSent({ cause }: RawFailure): boolean {
  const code = (cause as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  return typeof code !== 'string' || unconnected(code)?.unsent !== true;
}

function inWords(failure: RawFailure): GithubFailure {
  const { status, message, response, cause, request = {}, errors } = failure;
  const unreadable = [failure, cause].find((one) => one instanceof UnreadableAnswer);
  const data = response?.data as { message?: unknown } | undefined;
  const texts = errors?.map((one) => one.message) ?? [];
  const said =
    texts.length > 0 ? texts.join('; ') : typeof data?.message === 'string' ? data.message : String(message);
  const line = said.replace(/\s+/g, ' ').trim();
  const short = escapeText(line.length > 300 ? `${line.slice(0, 300)}…` : line);
  if (response === undefined) {
    const mayBeDone = writes(request) && wasSent(failure);
    const words = mayBeDone ? `GitHub's answer was lost: ${short}` : `GitHub can't be asked: ${short}`;
    return new GithubFailure(unreadable === undefined ? words : `GitHub's answer ${unreadable.message}`, {
      mayBeDone,
      cause: failure,
    });
  }
  const code = typeof status === 'number' ? status : null;
  return new GithubFailure(`GitHub answers${code === null ? '' : ` ${code}`}: ${short}`, {
    status: code,
    answered: code === null || code < 500,
    lacksPermission:
      (code === 403 || code === null) &&
      [said, ...texts].some((text) => /^Resource not accessible by/i.test(text)),
    mayBeDone: writes(request) && code !== null && code >= 500,
    cause: failure,
  });
}
